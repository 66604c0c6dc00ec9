//! The command line of `linerate nx`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum, ValueHint};
use linerate_nx::Limits;
use linerate_nx::metadata::Links;

use super::select::GLOBS;
use super::write_args::{DeleteArgs, MergeArgs, PackArgs, RepackArgs, UpdateArgs};
use crate::ui::threads::ThreadArgs;
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::{exit_code, output_args, size};

const NOTES: &str = "\
Examples:
  linerate nx pack mods -o mods.nx           an archive of a folder
  linerate nx list --long mods.nx            its files
  linerate nx extract mods.nx -o mods        all files

Format:
  Nx 1.x archives: a header that says where everything is, then blocks that can be decoded alone and
  in parallel. Small files share solid blocks; large files are cut into chunks. Hashes of contents
  are checked whenever contents are read.

  R3A 2.0, a draft, is read too, and written on demand (--format r3a), both by the profile r3a-2.0-doc.
  Other programs are not known to read such archives.

Archives on web servers:
  Wherever an archive is read, it may be a URL of http or https. A listing fetches the header, a file
  its blocks.";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{NOTES}\n\n{}", exit_code::HELP))]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: NxCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum NxCommand {
    /// List the files of an archive, from its header alone
    List(Box<ListArgs>),
    /// Print what the header of archives says
    Info(Box<InfoArgs>),
    /// Check every file of archives against its hash, or a folder against an archive
    Verify(Box<VerifyArgs>),
    /// Extract files to a folder, or to standard output
    ///
    /// Files appear under their names when they are complete and right. What is damaged fails by
    /// name, and the rest is extracted. Nothing is written outside of the folder, through links, or
    /// under names that a system reserves.
    Extract(Box<ExtractArgs>),
    /// Pack folders and files into an archive
    ///
    /// The same files and options make the same bytes, for any number of threads. Links are not
    /// followed, and not packed without --metadata.
    Pack(Box<PackArgs>),
    /// Print which files of one archive differ from those of another
    Diff(Box<DiffArgs>),
    /// Make one archive of several, without coding anew what can be carried over
    Merge(Box<MergeArgs>),
    /// Bring an archive up to date with a folder
    Update(Box<UpdateArgs>),
    /// Delete files from an archive
    Delete(Box<DeleteArgs>),
    /// Code the contents of an archive anew
    Repack(Box<RepackArgs>),
    /// Measure how fast an archive decodes in memory
    #[command(visible_alias = "benchmark")]
    Bench(Box<BenchArgs>),
}

const LIST_EXAMPLES: &str = "\
Examples:
  linerate nx list mods.nx                    paths
  linerate nx list --long mods.nx '*.dds'     sizes, blocks, codecs and hashes of textures
  linerate nx list --tree mods.nx textures    a folder with the bytes below each of its folders
  linerate nx list --metadata mods.nx         with modes, times, folders and links, as `ls -l`
  linerate nx list --json mods.nx             a JSON object for each file, folder and link";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{LIST_EXAMPLES}\n\n{GLOBS}\n\n{}", exit_code::HELP))]
pub(crate) struct ListArgs {
    /// Print sizes, blocks, codecs and hashes
    #[arg(short = 'l', long, conflicts_with = "tree")]
    pub(crate) long: bool,

    /// Print folders with the bytes below them
    #[arg(short = 't', long)]
    pub(crate) tree: bool,

    /// Print modes, times, folders and links, where the archive has kept them
    #[arg(short = 'm', long, conflicts_with_all = ["long", "tree"])]
    pub(crate) metadata: bool,

    #[command(flatten)]
    pub(crate) choice: ChoiceArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,
}

const INFO_EXAMPLES: &str = "\
Examples:
  linerate nx info mods.nx
  linerate nx info --json *.nx";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{INFO_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,

    /// Archives to look at
    #[arg(value_name = "ARCHIVE", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) archives: Vec<PathBuf>,
}

const VERIFY_EXAMPLES: &str = "\
Examples:
  linerate nx verify *.nx                    all files of all archives
  linerate nx verify -v --json mods.nx       what is wrong as objects, and what was checked
  linerate nx verify --against mods mods.nx  whether the folder has the files of the archive, no more";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{VERIFY_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct VerifyArgs {
    /// Compare this folder with the archive, of which only the header is read
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) against: Option<PathBuf>,

    /// Compare contents alone, not the times, modes, links and empty folders that an archive may keep
    #[arg(long, requires = "against")]
    pub(crate) no_metadata: bool,

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,

    /// Archives to check
    #[arg(value_name = "ARCHIVE", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) archives: Vec<PathBuf>,
}

/// Help of `-o` of `extract`.
const FOLDER_OR_STDOUT: &str =
    "Write to FOLDER, which is created if it does not exist; `-` is standard output";

const EXTRACT_EXAMPLES: &str = "\
Examples:
  linerate nx extract mods.nx -o mods                all files
  linerate nx extract mods.nx '*.dds' -o textures    files of a name
  linerate nx extract --stdout mods.nx readme.txt
  linerate nx extract --metadata mods.nx -o mods     with times, modes, links and empty folders
  linerate nx extract --strip-components 1 --overwrite replace mods.nx";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXTRACT_EXAMPLES}\n\n{GLOBS}\n\n{}", exit_code::HELP))]
pub(crate) struct ExtractArgs {
    #[arg(
        short = 'o',
        long,
        alias = "target",
        help = FOLDER_OR_STDOUT,
        value_name = "FOLDER",
        default_value = ".",
        value_hint = ValueHint::DirPath
    )]
    pub(crate) output: PathBuf,

    /// Write the contents to standard output, one after another, as -o - does
    #[arg(short = 'c', long, conflicts_with_all = ["output", "strip_components", "overwrite", "force", "sync", "metadata"])]
    pub(crate) stdout: bool,

    /// Leave out that many folders from the front of paths, and files that are in fewer
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) strip_components: usize,

    /// What to do where a file exists; -f is the same as `replace`
    #[arg(long, value_enum, value_name = "POLICY", default_value = "fail")]
    pub(crate) overwrite: Overwrite,

    #[arg(short = 'f', long, help = output_args::FORCE, conflicts_with = "overwrite")]
    pub(crate) force: bool,

    /// Do not check the hashes of contents
    #[arg(long)]
    pub(crate) no_verify: bool,

    /// Restore times, modes, links and empty folders, where the archive has kept them
    #[arg(long)]
    pub(crate) metadata: bool,

    /// Which links --metadata makes
    #[arg(long, value_enum, value_name = "WHICH", default_value = "inside", requires = "metadata")]
    pub(crate) links: LinkChoice,

    /// Let each file reach the disk before it gets its name: slow for small files
    #[arg(long)]
    pub(crate) sync: bool,

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,

    #[command(flatten)]
    pub(crate) choice: ChoiceArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,
}

/// What becomes of a file that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Overwrite {
    /// It stays, and the file of the archive fails
    Fail,
    /// It stays, and the file of the archive is passed over
    Skip,
    /// It is replaced in one step, once the new one is complete and right
    Replace,
}

/// Which links are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LinkChoice {
    /// Those that stay in the folder; the others fail by name
    Inside,
    /// All, wherever they lead: for archives from a trusted hand
    Any,
    /// None
    None,
}

impl LinkChoice {
    pub(crate) fn links(self) -> Links {
        match self {
            LinkChoice::Inside => Links::Inside,
            LinkChoice::Any => Links::Any,
            LinkChoice::None => Links::None,
        }
    }
}

impl ExtractArgs {
    /// Whether the contents go to standard output.
    pub(crate) fn is_stdout(&self) -> bool {
        self.stdout || output_args::is_stdout(&self.output)
    }

    pub(crate) fn policy(&self) -> Overwrite {
        if self.force { Overwrite::Replace } else { self.overwrite }
    }
}

const DIFF_EXAMPLES: &str = "\
Examples:
  linerate nx diff old.nx new.nx                  lines of -, + or M and a path; m for metadata
  linerate nx diff -v old.nx new.nx               also how many bytes of blocks are new
  linerate nx diff --exit-code old.nx new.nx && echo the same files";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{DIFF_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct DiffArgs {
    /// End with status 1 if there is a difference
    #[arg(long)]
    pub(crate) exit_code: bool,

    /// Compare contents alone, not the times, modes, links and empty folders that archives may keep
    #[arg(long)]
    pub(crate) no_metadata: bool,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,

    /// The archive that is compared with
    #[arg(value_name = "OLD", value_hint = ValueHint::FilePath)]
    pub(crate) old: PathBuf,

    /// The archive that differs
    #[arg(value_name = "NEW", value_hint = ValueHint::FilePath)]
    pub(crate) new: PathBuf,
}

const BENCH_EXAMPLES: &str = "\
Examples:
  linerate nx bench mods.nx                    1, 2, 4 .. threads up to the processors
  linerate nx bench -p 12 --attempts 50 mods.nx
  linerate nx bench --no-verify mods.nx        without the hashes of contents
  linerate nx bench --to-files /dev/shm mods.nx";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{BENCH_EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct BenchArgs {
    /// How often each number of threads decodes everything; the best and the median are printed
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) attempts: u32,

    /// Seconds after which no further attempt begins for a number of threads
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(crate) seconds: u64,

    /// Do not check the hashes of contents
    #[arg(long)]
    pub(crate) no_verify: bool,

    /// Also extract to files in FOLDER, which are removed again
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) to_files: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,

    #[command(flatten)]
    pub(crate) archive: ArchiveArg,
}

/// Which archive, by position or by the option of the original program.
#[derive(clap::Args, Debug)]
pub(crate) struct ArchiveArg {
    /// The archive, as an option
    #[arg(long, value_name = "ARCHIVE", value_hint = ValueHint::FilePath)]
    pub(crate) source: Option<PathBuf>,

    /// The archive
    #[arg(
        value_name = "ARCHIVE",
        required_unless_present = "source",
        conflicts_with = "source",
        value_hint = ValueHint::FilePath
    )]
    pub(crate) archive: Option<PathBuf>,
}

impl ArchiveArg {
    pub(crate) fn path(&self) -> PathBuf {
        self.source.clone().or_else(|| self.archive.clone()).unwrap_or_default()
    }
}

/// Which archive, and which of its files.
#[derive(clap::Args, Debug)]
pub(crate) struct ChoiceArgs {
    /// The archive, as an option; every other argument is a glob then
    #[arg(long, value_name = "ARCHIVE", value_hint = ValueHint::FilePath)]
    pub(crate) source: Option<PathBuf>,

    /// Leave out files that the glob matches
    #[arg(short = 'x', long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,

    /// Globs match without regard to case
    #[arg(short = 'i', long)]
    pub(crate) ignore_case: bool,

    /// The archive
    #[arg(value_name = "ARCHIVE", required_unless_present = "source", value_hint = ValueHint::FilePath)]
    pub(crate) archive: Option<String>,

    /// Globs for the files that are meant; all if there is none
    #[arg(value_name = "GLOB")]
    pub(crate) globs: Vec<String>,
}

impl ChoiceArgs {
    pub(crate) fn path(&self) -> PathBuf {
        let by_position = || self.archive.as_ref().map(PathBuf::from);
        self.source.clone().or_else(by_position).unwrap_or_default()
    }

    /// All arguments but the archive.
    pub(crate) fn globs(&self) -> Vec<String> {
        let first = self.archive.iter().filter(|_| self.source.is_some());
        first.chain(&self.globs).cloned().collect()
    }
}

/// What an archive may cost.
#[derive(clap::Args, Debug)]
pub(crate) struct LimitArgs {
    /// Fail when the files take more bytes than this: a number, or one with K, M or G
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) max_output: Option<u64>,

    /// Fail when a file is larger than this
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) max_file: Option<u64>,

    /// Bytes that all threads together may keep in buffers
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) max_memory: Option<u64>,

    /// Set no limit but those of the format: for archives from a trusted hand
    #[arg(long, conflicts_with_all = ["max_output", "max_file", "max_memory"])]
    pub(crate) no_limits: bool,
}

impl LimitArgs {
    pub(crate) fn limits(&self) -> Limits {
        if self.no_limits {
            return Limits::none();
        }
        let mut limits = Limits::default();
        limits.total = self.max_output.unwrap_or(limits.total);
        limits.file = self.max_file.unwrap_or(limits.file);
        limits.memory = self.max_memory.unwrap_or(limits.memory);
        limits.block = limits.block.min(limits.memory);
        limits
    }
}
