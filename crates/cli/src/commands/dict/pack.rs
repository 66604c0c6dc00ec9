//! The command line of `linerate dict pack`: files of dictionaries.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Subcommand, ValueHint};

use super::{pack_files, verify};
use crate::ui::reporter::Reporter;
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::wait::WaitArgs;
use crate::ui::{exit_code, output_args};

const NOTES: &str = "\
Examples:
  linerate dict pack make -o all.pack dictionaries
  linerate dict pack list all.pack

Packs:
  Dictionaries under numbers that are never given twice, compressed with the first one of
  their cluster. Who uses a dictionary is kept as the hash of a name, such as that of a file.
  A dictionary that is used is never dropped. Adding appends to the file: whoever reads it
  meanwhile sees it as it was. Compacting writes it anew, in one step.";

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
    /// Write a pack anew without what was removed, and without what nobody uses, if that is wanted
    Compact(Box<CompactArgs>),
    /// Write dictionaries of a pack to files
    Extract(Box<ExtractArgs>),
    /// Note that somebody uses a dictionary, so that it is not dropped
    Retain(Box<UseArgs>),
    /// Note that somebody uses a dictionary no more
    Release(Box<UseArgs>),
}

const MAKE_EXAMPLES: &str = "\
Examples:
  linerate dict pack make -o all.pack *.dict
  linerate dict pack make --uncompressed -o all.pack dictionaries    used where they are mapped";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{MAKE_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct MakeArgs {
    #[arg(short = 'o', long, value_name = "FILE", help = output_args::FILE, value_parser = output_args::path(), value_hint = ValueHint::FilePath)]
    pub(super) output: PathBuf,

    /// Store dictionaries as they are: larger, and faster to open
    #[arg(long)]
    pub(super) uncompressed: bool,

    /// The level of zstd that dictionaries are compressed at, -7 to 22
    #[arg(long, value_name = "LEVEL", default_value_t = 19, allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-7..=22))]
    pub(super) level: i32,

    #[command(flatten)]
    pub(super) add: AddArgs,
}

const APPEND_EXAMPLES: &str = "\
Examples:
  linerate dict pack append all.pack new.dict
  linerate dict pack append --cluster 3 --used-by 000012.sst all.pack t.dict";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{APPEND_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct AppendArgs {
    #[command(flatten)]
    pub(super) wait: WaitArgs,

    /// The pack
    #[arg(value_name = "PACK", value_hint = ValueHint::FilePath)]
    pub(super) pack: PathBuf,

    #[command(flatten)]
    pub(super) add: AddArgs,
}

/// What is added.
#[derive(clap::Args, Debug)]
pub(crate) struct AddArgs {
    /// The cluster: dictionaries of one are alike, and compressed with its first
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) cluster: u32,

    /// Who uses these dictionaries, by a name, such as that of a file
    #[arg(long, value_name = "NAME")]
    pub(super) used_by: Vec<String>,

    #[command(flatten)]
    pub(super) verbosity: VerbosityArgs,

    /// Dictionaries, and folders, whose files *.dict are taken; what is in the pack already is not added
    /// again
    #[arg(value_name = "DICT", required = true, value_hint = ValueHint::AnyPath)]
    pub(super) files: Vec<PathBuf>,
}

const LIST_EXAMPLES: &str = "\
Examples:
  linerate dict pack list all.pack
  linerate dict pack list --json all.pack";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{LIST_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(super) verbosity: VerbosityArgs,

    /// The pack
    #[arg(value_name = "PACK", value_hint = ValueHint::FilePath)]
    pub(super) pack: PathBuf,
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

const COMPACT_EXAMPLES: &str = "\
Examples:
  linerate dict pack compact all.pack                  without what was removed, all else stays
  linerate dict pack compact --drop-unused all.pack
  linerate dict pack compact --drop 7 --drop 9 all.pack";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{COMPACT_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct CompactArgs {
    #[command(flatten)]
    pub(super) wait: WaitArgs,

    /// Drop dictionaries that nobody uses
    #[arg(long)]
    pub(super) drop_unused: bool,

    /// Drop the dictionary of this number, which nobody may use
    #[arg(long, value_name = "N")]
    pub(super) drop: Vec<u64>,

    /// Store dictionaries as they are from now on
    #[arg(long)]
    pub(super) uncompressed: bool,

    /// The level of zstd that dictionaries are compressed at, -7 to 22
    #[arg(long, value_name = "LEVEL", default_value_t = 19, allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-7..=22))]
    pub(super) level: i32,

    #[command(flatten)]
    pub(super) verbosity: VerbosityArgs,

    /// The pack
    #[arg(value_name = "PACK", value_hint = ValueHint::FilePath)]
    pub(super) pack: PathBuf,
}

const EXTRACT_EXAMPLES: &str = "\
Examples:
  linerate dict pack extract all.pack -o dictionaries    1.dict, 2.dict and so on
  linerate dict pack extract all.pack 7 9 -o .";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXTRACT_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct ExtractArgs {
    #[arg(short = 'o', long, value_name = "FOLDER", help = output_args::FOLDER, value_parser = output_args::path(), value_hint = ValueHint::DirPath)]
    pub(super) output: PathBuf,

    #[arg(short = 'f', long, help = output_args::FORCE)]
    pub(super) force: bool,

    #[command(flatten)]
    pub(super) verbosity: VerbosityArgs,

    /// The pack
    #[arg(value_name = "PACK", value_hint = ValueHint::FilePath)]
    pub(super) pack: PathBuf,

    /// Numbers of dictionaries; all if there is none
    #[arg(value_name = "N")]
    pub(super) numbers: Vec<u64>,
}

const USE_EXAMPLES: &str = "\
Examples:
  linerate dict pack retain all.pack 7 000012.sst
  linerate dict pack release all.pack 7 000012.sst";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{USE_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct UseArgs {
    #[command(flatten)]
    pub(super) wait: WaitArgs,

    #[command(flatten)]
    pub(super) verbosity: VerbosityArgs,

    /// The pack
    #[arg(value_name = "PACK", value_hint = ValueHint::FilePath)]
    pub(super) pack: PathBuf,

    /// The number of the dictionary
    #[arg(value_name = "N")]
    pub(super) number: u64,

    /// Who uses it, by a name, such as that of a file
    #[arg(value_name = "NAME", required = true)]
    pub(super) names: Vec<String>,
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
        PackCommand::Verify(args) => {
            Reporter::new(&args.verbosity, false).each(&args.packs, |path, _| verify::pack(path))
        }
        PackCommand::Compact(args) => {
            Reporter::new(&args.verbosity, false).one(&args.pack, |_| pack_files::compact(args))
        }
        PackCommand::Extract(args) => {
            Reporter::new(&args.verbosity, false).one(&args.pack, |_| pack_files::extract(args))
        }
        PackCommand::Retain(args) => {
            Reporter::new(&args.verbosity, false).one(&args.pack, |_| pack_files::note(args, true))
        }
        PackCommand::Release(args) => {
            Reporter::new(&args.verbosity, false).one(&args.pack, |_| pack_files::note(args, false))
        }
    })
}
