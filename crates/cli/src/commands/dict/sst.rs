//! `linerate dict sst`: RocksDB's SST files.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Subcommand, ValueHint};
use linerate_dict::Store;
use linerate_dict::sst::{Options, Reader, Sst};

use super::blockfile::input;
use super::keys::KeyArgs;
use super::scan::RangeArgs;
use super::{sst_entries, sst_report};
use crate::ui::error::CliError;
use crate::ui::error::engine_error;
use crate::ui::reporter::Reporter;
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::{exit_code, size};

const NOTES: &str = "\
Examples:
  linerate dict sst ls 000012.sst            keys
  linerate dict sst verify *.sst

Files:
  Block-based tables of format versions 2 to 7, with any of the checksums, blocks of zstd,
  LZ4, Snappy or zlib, and with dictionaries. They are read alone, without the database that
  they belong to: what other files say of a key is not known here. A file may be one on a
  server: https://... or s3://BUCKET/KEY.";

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
    /// Print what is in files, in numbers
    Stats(Box<StatsArgs>),
    /// Read every block of files, and compare checksums, order and numbers
    Verify(Box<VerifyArgs>),
}

const LS_EXAMPLES: &str = "\
Examples:
  linerate dict sst ls 000012.sst                            keys
  linerate dict sst ls --long --prefix user 000012.sst       with sequence number, kind and size
  linerate dict sst ls --values --json --limit 10 000012.sst";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{LS_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct LsArgs {
    /// Print sequence numbers, kinds and sizes
    #[arg(short = 'l', long, conflicts_with = "json")]
    pub(super) long: bool,

    /// Print values, too
    #[arg(long)]
    pub(super) values: bool,

    #[command(flatten)]
    pub(super) range: RangeArgs,

    #[command(flatten)]
    pub(super) keys: KeyArgs,

    #[command(flatten)]
    pub(super) limits: LimitArgs,

    #[command(flatten)]
    pub(super) verbosity: VerbosityArgs,

    /// The file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) file: PathBuf,
}

const GET_EXAMPLES: &str = "\
Examples:
  linerate dict sst get 000012.sst user-17           the value, and a line end
  linerate dict sst get --json 000012.sst user-17 user-4
  linerate dict sst get --sequence 1000 --hex 000012.sst 0007ff";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{GET_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct GetArgs {
    /// As if nothing had been written after this sequence number
    #[arg(long, value_name = "N", default_value_t = u64::MAX, hide_default_value = true)]
    pub(super) sequence: u64,

    #[command(flatten)]
    pub(super) keys: KeyArgs,

    #[command(flatten)]
    pub(super) limits: LimitArgs,

    #[command(flatten)]
    pub(super) verbosity: VerbosityArgs,

    /// The file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) file: PathBuf,

    /// Keys; one that is not there, or was deleted, is an error, and the others are printed all the same
    #[arg(value_name = "KEY", required = true)]
    pub(super) wanted: Vec<String>,
}

const STATS_EXAMPLES: &str = "\
Examples:
  linerate dict sst stats *.sst
  linerate dict sst stats --properties 000012.sst
  linerate dict sst stats --json *.sst";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{STATS_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct StatsArgs {
    /// Print all properties of the files, too
    #[arg(long)]
    pub(super) properties: bool,

    #[command(flatten)]
    pub(super) limits: LimitArgs,

    #[command(flatten)]
    pub(super) verbosity: VerbosityArgs,

    /// Files to look at
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub(super) files: Vec<PathBuf>,
}

const VERIFY_EXAMPLES: &str = "\
Examples:
  linerate dict sst verify *.sst
  linerate dict sst verify -v --json 000012.sst";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{VERIFY_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(super) limits: LimitArgs,

    #[command(flatten)]
    pub(super) verbosity: VerbosityArgs,

    /// Files to check
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub(super) files: Vec<PathBuf>,
}

/// What a file may cost.
#[derive(clap::Args, Debug)]
pub(crate) struct LimitArgs {
    /// Fail when a block decodes to more than this
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = size::parse)]
    max_block: u64,
}

impl LimitArgs {
    fn options(&self) -> Options {
        Options::new().block_limit(usize::try_from(self.max_block).unwrap_or(usize::MAX))
    }
}

/// A file that is open, and its reader.
pub(super) fn open(path: &Path, limits: &LimitArgs) -> Result<(Sst, Reader), CliError> {
    let mut reader = Reader::new(&Store::new());
    let sst = reader.open_input(input(path)?, limits.options()).map_err(engine_error)?;
    Ok((sst, reader))
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
