//! `linerate dict sst`: lists, reads and checks RocksDB's SST files.

use std::process::ExitCode;

use clap::Subcommand;

use super::sst_entries::{self, GetArgs, LsArgs};
use super::sst_report::{self, StatsArgs, VerifyArgs};
use crate::ui::exit_code;
use crate::ui::reporter::Reporter;

const NOTES: &str = "\
Examples:
  linerate dict sst ls 000012.sst            keys
  linerate dict sst verify *.sst

Files:
  Files are block-based tables of format versions 2 to 7, with any checksum and blocks of zstd,
  LZ4, Snappy or zlib, with or without dictionaries. Each file is read alone, without its
  database, so other files may have newer entries of a key. A file may be on a server:
  https://... or s3://BUCKET/KEY.";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{NOTES}\n\n{}", exit_code::HELP))]
pub(crate) struct SstArgs {
    #[command(subcommand)]
    command: SstCommand,
}

#[derive(Subcommand, Debug)]
enum SstCommand {
    /// List the entries of a file in their order
    Ls(Box<LsArgs>),
    /// Print values by their keys
    Get(Box<GetArgs>),
    /// Print statistics of files
    Stats(Box<StatsArgs>),
    /// Check all blocks, checksums, the order of keys and the counts of files
    Verify(Box<VerifyArgs>),
}

pub(crate) fn run(args: &SstArgs) -> Result<ExitCode, String> {
    match &args.command {
        SstCommand::Ls(args) => sst_entries::ls(args),
        SstCommand::Get(args) => sst_entries::get(args),
        SstCommand::Stats(args) => Ok(Reporter::new(&args.verbosity, false)
            .each(&args.files, |path, _| sst_report::stats(&args.limits, args.properties, path))),
        SstCommand::Verify(args) => Ok(Reporter::new(&args.verbosity, false)
            .each(&args.files, |path, reporter| sst_report::verify(&args.limits, path, reporter))),
    }
}
