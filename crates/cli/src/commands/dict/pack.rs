//! The command line of `linerate dict pack`: files of dictionaries.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Subcommand, ValueHint};

use super::pack_files::{self, AppendArgs, CompactArgs, ExtractArgs, ListArgs, MakeArgs, UseArgs};
use super::verify;
use crate::ui::exit_code;
use crate::ui::reporter::Reporter;
use crate::ui::verbosity::VerbosityArgs;

const NOTES: &str = "\
Examples:
  linerate dict pack make -o all.pack dictionaries
  linerate dict pack list all.pack

Packs:
  Each dictionary has a number, which is never reused, and is stored in the smallest form:
  compressed with the first dictionary of its cluster, compressed alone, or uncompressed. Users of
  a dictionary are recorded as hashes of names, such as file names; a dictionary with users is
  never dropped. Adding appends to the file, so that concurrent readers see it as it was.
  Compacting replaces the file atomically.";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{NOTES}\n\n{}", exit_code::HELP))]
pub(crate) struct PackArgs {
    #[command(subcommand)]
    command: PackCommand,
}

#[derive(Subcommand, Debug)]
enum PackCommand {
    /// Make a pack of dictionaries
    Make(Box<MakeArgs>),
    /// Add dictionaries to a pack
    Append(Box<AppendArgs>),
    /// List the dictionaries of a pack
    List(Box<ListArgs>),
    /// Check every dictionary of packs
    Verify(Box<VerifyArgs>),
    /// Rewrite a pack without removed dictionaries and, on request, without unused ones
    Compact(Box<CompactArgs>),
    /// Write dictionaries of a pack to files
    Extract(Box<ExtractArgs>),
    /// Record users of a dictionary, which keep it from being dropped
    Retain(Box<UseArgs>),
    /// Remove users of a dictionary
    Release(Box<UseArgs>),
}

const VERIFY_EXAMPLES: &str = "\
Examples:
  linerate dict pack verify -v *.pack";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{VERIFY_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    verbosity: VerbosityArgs,

    /// Packs to check
    #[arg(value_name = "PACK", required = true, value_hint = ValueHint::FilePath)]
    packs: Vec<PathBuf>,
}

pub(crate) fn run(args: &PackArgs) -> Result<ExitCode, String> {
    Ok(match &args.command {
        PackCommand::Make(args) => Reporter::new(&args.add.verbosity, false)
            .one(&args.output, |reporter| pack_files::make(args, reporter)),
        PackCommand::Append(args) => Reporter::new(&args.add.verbosity, false)
            .one(&args.pack, |reporter| pack_files::append(args, reporter)),
        PackCommand::List(args) => {
            Reporter::new(&args.verbosity, false).one(&args.pack, |_| pack_files::list(args))
        }
        PackCommand::Verify(args) => Reporter::new(&args.verbosity, false)
            .each(&args.packs, |path, reporter| verify::pack(path, reporter)),
        PackCommand::Compact(args) => {
            Reporter::new(&args.verbosity, false).one(&args.pack, |_| pack_files::compact(args))
        }
        PackCommand::Extract(args) => {
            Reporter::new(&args.verbosity, false).one(&args.pack, |_| pack_files::extract(args))
        }
        PackCommand::Retain(args) => {
            Reporter::new(&args.verbosity, false).one(&args.pack, |_| pack_files::change_users(args, true))
        }
        PackCommand::Release(args) => {
            Reporter::new(&args.verbosity, false).one(&args.pack, |_| pack_files::change_users(args, false))
        }
    })
}
