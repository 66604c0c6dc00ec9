//! `linerate dict verify`: checks every block, dictionary and count of block files, packs and SST
//! files.

use std::path::Path;
use std::process::ExitCode;

use super::blockfile::{open_blocks, open_pack};
use super::kinds::{FileKind, FilesArgs, kind_of};
use super::sst_report;
use crate::ui::error::{CliError, engine_error};
use crate::ui::exit_code;
use crate::ui::reporter::Reporter;
use crate::ui::summary::RunSummary;

const EXAMPLES: &str = "\
Examples:
  linerate dict verify rows.blocks dictionaries.pack 000012.sst
  linerate dict verify --pack dictionaries.pack *.blocks     with dictionaries in a pack
  linerate dict verify -v --json rows.blocks";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    given: FilesArgs,
}

pub(crate) fn run(args: &VerifyArgs) -> Result<ExitCode, String> {
    let reporter = Reporter::new(&args.given.verbosity, false);
    Ok(reporter.each(&args.given.files, |path, reporter| match kind_of(path)? {
        FileKind::Blocks => blocks(args, path, reporter),
        FileKind::Pack => pack(path, reporter),
        FileKind::Sst => sst_report::verify(&args.given.limits, path, reporter),
    }))
}

fn blocks(args: &VerifyArgs, path: &Path, reporter: &Reporter) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(path, "verify");
    let file = open_blocks(path, &args.given.pack)?;
    let progress = reporter.shared_progress(path, Some(file.stats().counts.content_bytes));
    let verified =
        file.verify_with_progress(&mut file.reader(), &|bytes| progress.add(bytes)).map_err(engine_error)?;
    let counts = verified.counts;
    summary.bytes = counts.content_bytes;
    let hashes = if verified.checksums { "" } else { ", without hashes of contents" };
    summary.text = Some(format!("OK, {} records in {} blocks{hashes}", counts.records, counts.blocks));
    summary.set("kind", "blocks");
    summary.set("records", counts.records);
    summary.set("blocks", counts.blocks);
    summary.set("checksums", verified.checksums);
    Ok(summary)
}

/// Checks a pack with all its dictionaries.
pub(super) fn pack(path: &Path, reporter: &Reporter) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(path, "verify");
    let pack = open_pack(path)?;
    let stats = pack.stats();
    let progress = reporter.shared_progress(path, Some(stats.stored_bytes + stats.removed_bytes));
    let stats = pack.verify_with_progress(&|bytes| progress.add(bytes)).map_err(engine_error)?;
    summary.bytes = stats.bytes;
    summary.text = Some(format!("OK, {} dictionaries", stats.dictionaries));
    summary.set("kind", "pack");
    summary.set("dictionaries", stats.dictionaries);
    summary.set("bytes", stats.bytes);
    summary.set("ignored", stats.ignored);
    Ok(summary)
}
