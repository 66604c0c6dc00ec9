//! `linerate nx`: lists, verifies, extracts, packs and changes Nx archives.

mod args;
mod bench;
mod coding;
mod diff;
mod edit;
mod extract;
mod info;
mod list;
mod metadata;
mod mount;
mod names;
mod open;
mod pack;
mod pipe;
mod select;
mod tree;
mod verify;
mod write;
mod write_args;

use std::process::ExitCode;

use clap::Subcommand;

use crate::ui::exit_code;
use crate::ui::printer::to_stderr;

const NOTES: &str = "\
Examples:
  linerate nx pack mods -o mods.nx           an archive of a folder
  linerate nx list --long mods.nx            the files of the archive
  linerate nx extract mods.nx -o mods        all files

Format:
  An Nx 1.x archive is a header with the tables of files and blocks, then the blocks, which can be decoded
  alone and in parallel. Small files share solid blocks; large files are cut into chunks. The hash of a
  file is checked whenever its content is read, unless --no-verify is given.

  R3A 2.0, a draft format, is also read, and written with --format r3a, by the profile r3a-2.0-doc. No
  other program is known to read such archives.

Archives on web servers:
  An archive that is read may be an http or https URL, or an s3 URL if the program was built with the
  feature `s3`. Listing fetches only the header, and extracting a file only the header and its blocks.";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{NOTES}\n\n{}", exit_code::HELP))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: NxCommand,
}

#[derive(Subcommand, Debug)]
enum NxCommand {
    /// List the files of an archive, from its header alone
    List(Box<list::ListArgs>),
    /// Print summaries of archives, without decoding their files
    Info(Box<info::InfoArgs>),
    /// Check every file of archives against its hash, or a folder against an archive
    Verify(Box<verify::VerifyArgs>),
    /// Extract files to a folder, or to standard output
    ///
    /// Files get their names when they are complete and, unless --no-verify is given, verified.
    /// Damaged files are reported by name, and the others are extracted. Nothing is written outside
    /// of the folder, through links, or under names that Windows reserves.
    Extract(Box<extract::ExtractArgs>),
    /// Pack folders and files into an archive
    ///
    /// The same files and options make the same archive, with any number of threads. Links in
    /// folders are not followed, and are packed only with --metadata.
    Pack(Box<pack::PackArgs>),
    /// Mount an archive as a read-only folder, on Linux
    Mount(Box<mount::MountArgs>),
    /// Print which files of one archive differ from those of another
    Diff(Box<diff::DiffArgs>),
    /// Merge archives into one, copying blocks without recompression where possible
    Merge(Box<edit::MergeArgs>),
    /// Bring an archive up to date with a folder
    Update(Box<edit::UpdateArgs>),
    /// Delete files from an archive
    Delete(Box<edit::DeleteArgs>),
    /// Compress the contents of an archive again
    Repack(Box<edit::RepackArgs>),
    /// Measure how fast an archive decodes in memory
    #[command(visible_alias = "benchmark")]
    Bench(Box<bench::BenchArgs>),
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let result = match &args.command {
        NxCommand::List(args) => list::run(args),
        NxCommand::Info(args) => Ok(info::run(args)),
        NxCommand::Verify(args) => verify::run(args),
        NxCommand::Extract(args) => extract::run(args),
        NxCommand::Pack(args) => pack::run(args),
        NxCommand::Mount(args) => Ok(mount::run(args)),
        NxCommand::Diff(args) => Ok(diff::run(args)),
        NxCommand::Merge(args) => edit::run_merge(args),
        NxCommand::Update(args) => edit::run_update(args),
        NxCommand::Delete(args) => edit::run_delete(args),
        NxCommand::Repack(args) => edit::run_repack(args),
        NxCommand::Bench(args) => Ok(bench::run(args)),
    };
    result.unwrap_or_else(|message| {
        to_stderr(format_args!("linerate: {message}"));
        ExitCode::from(exit_code::USAGE)
    })
}
