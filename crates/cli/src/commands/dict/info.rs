//! `linerate dict info`: summarizes block files and packs from their headers and indexes, and SST
//! files as `linerate dict sst stats` does, which reads all their blocks.

use std::path::Path;
use std::process::ExitCode;

use linerate_dict::blocks::DictionaryPlace;

use super::blockfile::{dictionary_object, open_blocks, open_pack};
use super::kinds::{FileKind, FilesArgs, kind_of};
use super::sst_report;
use crate::ui::error::CliError;
use crate::ui::exit_code;
use crate::ui::format::{ratio, rounded};
use crate::ui::reporter::Reporter;
use crate::ui::summary::RunSummary;

const EXAMPLES: &str = "\
Examples:
  linerate dict info rows.blocks dictionaries.pack 000012.sst
  linerate dict info --json *.blocks";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    given: FilesArgs,
}

pub(crate) fn run(args: &InfoArgs) -> Result<ExitCode, String> {
    let reporter = Reporter::new(&args.given.verbosity, false);
    Ok(reporter.each(&args.given.files, |path, _| match kind_of(path)? {
        FileKind::Blocks => blocks(args, path),
        FileKind::Pack => pack(path),
        FileKind::Sst => sst_report::stats(&args.given.limits, false, path),
    }))
}

fn blocks(args: &InfoArgs, path: &Path) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(path, "info");
    let stats = open_blocks(path, &args.given.pack)?.stats();
    let counts = stats.counts;
    let content = counts.key_bytes + counts.value_bytes;
    let (len, number) = (stats.dictionary.len, stats.dictionary.zstd_id);
    let dictionary = match stats.dictionary.place {
        DictionaryPlace::None => "none".into(),
        DictionaryPlace::Embedded => format!("{len} bytes, number {number}, in the file"),
        DictionaryPlace::External(id) => format!("{len} bytes, number {number}, in a pack under {id}"),
    };
    summary.lines = vec![
        format!("file        {}", path.display()),
        format!("format      block file, blocks of {} bytes, level {}", stats.block_size, stats.level),
        format!("hashes      {}", if stats.checksums { "of contents" } else { "none" }),
        format!("dictionary  {dictionary}"),
        format!(
            "records     {}: keys {}, values {} bytes",
            counts.records, counts.key_bytes, counts.value_bytes
        ),
        format!("blocks      {}, {} -> {} bytes", counts.blocks, counts.content_bytes, counts.stored_bytes),
        format!("index       {} blocks, {} bytes", counts.index_blocks, counts.index_bytes),
        format!("bytes       {}, ratio {:.3}", stats.len, ratio(content, stats.len)),
    ];
    summary.set("kind", "blocks");
    summary.set("bytes", stats.len);
    summary.set("block_size", stats.block_size);
    summary.set("level", stats.level);
    summary.set("checksums", stats.checksums);
    summary.set("records", counts.records);
    summary.set("key_bytes", counts.key_bytes);
    summary.set("value_bytes", counts.value_bytes);
    summary.set("blocks", counts.blocks);
    summary.set("content_bytes", counts.content_bytes);
    summary.set("stored_bytes", counts.stored_bytes);
    summary.set("index_bytes", counts.index_bytes);
    summary.set("ratio", rounded(content, stats.len));
    summary.set("dictionary", dictionary_object(stats.dictionary));
    Ok(summary)
}

/// Summarizes a pack.
pub(super) fn pack(path: &Path) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(path, "info");
    let stats = open_pack(path)?.stats();
    let form = if stats.uncompressed { "as they are" } else { "compressed" };
    summary.lines = vec![
        format!("file          {}", path.display()),
        format!("format        pack, dictionaries {form}, changed {} times", stats.generation),
        format!("dictionaries  {}, {} of them unused", stats.dictionaries, stats.unused),
        format!("their bytes   {} -> {}", stats.bytes, stats.stored_bytes),
        format!("removed       {} bytes that others need, {} left over", stats.removed_bytes, stats.ignored),
        format!("bytes         {}", stats.len),
    ];
    summary.set("kind", "pack");
    summary.set("bytes", stats.len);
    summary.set("dictionaries", stats.dictionaries);
    summary.set("unused", stats.unused);
    summary.set("dictionary_bytes", stats.bytes);
    summary.set("stored_bytes", stats.stored_bytes);
    summary.set("removed_bytes", stats.removed_bytes);
    summary.set("ignored", stats.ignored);
    summary.set("generation", stats.generation);
    summary.set("uncompressed", stats.uncompressed);
    Ok(summary)
}
