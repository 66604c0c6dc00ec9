//! `linerate dict info`: what is in files, without reading all of them.

use std::path::Path;
use std::process::ExitCode;

use linerate_dict::Pack;
use linerate_dict::blocks::DictionaryPlace;
use serde_json::json;

use super::blockfile::{input, open_blocks};
use super::kinds::{FileKind, FilesArgs, kind_of};
use super::sst_report;
use crate::account::Account;
use crate::done::Done;
use crate::exit;
use crate::failure::Failure;
use crate::figures::{failure, ratio, rounded};

const EXAMPLES: &str = "\
Examples:
  linerate dict info rows.blocks dictionaries.pack 000012.sst
  linerate dict info --json *.blocks";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit::HELP))]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    given: FilesArgs,
}

pub(crate) fn run(args: &InfoArgs) -> Result<ExitCode, String> {
    let account = Account::new(&args.given.say, false);
    Ok(account.each(&args.given.files, |path, _| match kind_of(path)? {
        FileKind::Blocks => blocks(args, path),
        FileKind::Pack => pack(path),
        FileKind::Sst => sst_report::stats(&args.given.limits, false, path),
    }))
}

fn blocks(args: &InfoArgs, path: &Path) -> Result<Done, Failure> {
    let mut done = Done::new(path, "info");
    let stats = open_blocks(path, &args.given.pack)?.stats();
    let counts = stats.counts;
    let content = counts.key_bytes + counts.value_bytes;
    let (len, number) = (stats.dictionary.len, stats.dictionary.number);
    let dictionary = match stats.dictionary.place {
        DictionaryPlace::None => "none".into(),
        DictionaryPlace::Embedded => format!("{len} bytes, number {number}, in the file"),
        DictionaryPlace::Named(id) => format!("{len} bytes, number {number}, in a pack under {id}"),
    };
    done.lines = vec![
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
    done.set("kind", "blocks");
    done.set("bytes", stats.len);
    done.set("block_size", stats.block_size);
    done.set("level", stats.level);
    done.set("checksums", stats.checksums);
    done.set("records", counts.records);
    done.set("key_bytes", counts.key_bytes);
    done.set("value_bytes", counts.value_bytes);
    done.set("blocks", counts.blocks);
    done.set("content_bytes", counts.content_bytes);
    done.set("stored_bytes", counts.stored_bytes);
    done.set("index_bytes", counts.index_bytes);
    done.set("ratio", rounded(content, stats.len));
    done.set(
        "dictionary",
        match stats.dictionary.place {
            DictionaryPlace::None => json!(null),
            DictionaryPlace::Embedded => json!({ "bytes": len, "id": number }),
            DictionaryPlace::Named(pack) => json!({ "bytes": len, "id": number, "number": pack }),
        },
    );
    Ok(done)
}

/// What is in a pack.
pub(super) fn pack(path: &Path) -> Result<Done, Failure> {
    let mut done = Done::new(path, "info");
    let stats = Pack::open_input(input(path)?).map_err(failure)?.stats();
    let form = if stats.uncompressed { "as they are" } else { "compressed" };
    done.lines = vec![
        format!("file          {}", path.display()),
        format!("format        pack, dictionaries {form}, changed {} times", stats.generation),
        format!("dictionaries  {}, {} of them unused", stats.dictionaries, stats.unused),
        format!("their bytes   {} -> {}", stats.bytes, stats.stored_bytes),
        format!("removed       {} bytes that others need, {} left over", stats.hidden_bytes, stats.ignored),
        format!("bytes         {}", stats.len),
    ];
    done.set("kind", "pack");
    done.set("bytes", stats.len);
    done.set("dictionaries", stats.dictionaries);
    done.set("unused", stats.unused);
    done.set("dictionary_bytes", stats.bytes);
    done.set("stored_bytes", stats.stored_bytes);
    done.set("hidden_bytes", stats.hidden_bytes);
    done.set("ignored", stats.ignored);
    done.set("generation", stats.generation);
    done.set("uncompressed", stats.uncompressed);
    Ok(done)
}
