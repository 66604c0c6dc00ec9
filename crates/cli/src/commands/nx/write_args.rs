//! The command line of what writes archives: `pack`, `merge`, `update`, `delete`, `repack`.

use std::path::{Path, PathBuf};

use clap::{ValueEnum, ValueHint};
use linerate_nx::pack::{Clash, FileOptions, Format, Walk};

use super::args::LimitArgs;
use super::coding::{CodingArgs, presets};
use super::select::{GLOBS, Glob, Select};
use crate::ui::threads::ThreadArgs;
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::wait::WaitArgs;
use crate::ui::{exit_code, output_args};

const PACK_EXAMPLES: &str = "\
Examples:
  linerate nx pack mods -o mods.nx                       what is in the folder, zstd 16 and 9
  linerate nx pack --preset fast-load mods -o mods.nx
  linerate nx pack -x .git -x '*.bak' . -o ../mods.nx
  linerate nx pack --store '*.ogg' --alone '*.json' mods -o mods.nx
  linerate nx pack --metadata home -o home.nx            with times, modes, links and empty folders
  linerate nx pack --format r3a mods -o mods.r3a         in the draft format R3A 2.0
  linerate nx pack --skip-bad-names ~ -o home.nx         without what no archive can hold, listed
  linerate nx pack --dry-run mods                        the paths, and what they add up to";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{PACK_EXAMPLES}\n\n{}\n\n{GLOBS}\n\n{}", presets(), exit_code::HELP))]
pub(crate) struct PackArgs {
    /// Keep times, modes, links and empty folders too, in an extension that other programs pass over;
    /// the bytes of the archive then depend on them
    #[arg(long)]
    pub(crate) metadata: bool,

    #[command(flatten)]
    pub(crate) rules: RuleArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,

    /// A folder or file, as an option
    #[arg(long, value_name = "SOURCE", value_hint = ValueHint::AnyPath)]
    pub(crate) source: Vec<PathBuf>,

    /// Folders, whose contents are packed under their paths in them, and files
    #[arg(value_name = "SOURCE", required_unless_present = "source", value_hint = ValueHint::AnyPath)]
    pub(crate) sources: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) coding: CodingArgs,
}

impl PackArgs {
    pub(crate) fn all_sources(&self) -> impl Iterator<Item = &Path> {
        self.source.iter().chain(&self.sources).map(PathBuf::as_path)
    }
}

const MERGE_EXAMPLES: &str = "\
Examples:
  linerate nx merge base.nx patch.nx -o all.nx
  linerate nx merge --on-clash last base.nx patch.nx -o all.nx     the patch wins";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{MERGE_EXAMPLES}\n\n{}\n\n{}", presets(), exit_code::HELP))]
pub(crate) struct MergeArgs {
    /// Which file is taken where several archives have one of the same path but other content
    #[arg(long, value_enum, value_name = "RULE", default_value = "refuse")]
    pub(crate) on_clash: OnClash,

    #[command(flatten)]
    pub(crate) edit: EditArgs,

    /// Archives, as an option
    #[arg(long, value_name = "ARCHIVE", num_args = 1.., value_hint = ValueHint::FilePath)]
    pub(crate) sources: Vec<PathBuf>,

    /// Archives to merge; blocks are copied as they are from those with the chunk size of the first
    #[arg(value_name = "ARCHIVE", required_unless_present = "sources", value_hint = ValueHint::FilePath)]
    pub(crate) archives: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) coding: CodingArgs,
}

impl MergeArgs {
    pub(crate) fn all_archives(&self) -> Vec<&Path> {
        self.sources.iter().chain(&self.archives).map(PathBuf::as_path).collect()
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum OnClash {
    Refuse,
    First,
    Last,
}

impl OnClash {
    pub(crate) fn clash(self) -> Clash {
        match self {
            OnClash::Refuse => Clash::Refuse,
            OnClash::First => Clash::First,
            OnClash::Last => Clash::Last,
        }
    }
}

const UPDATE_EXAMPLES: &str = "\
Examples:
  linerate nx update mods.nx mods                what is new or different in the folder
  linerate nx update --mirror mods.nx mods       also without what the folder does not have
  linerate nx update mods.nx mods -o new.nx      mods.nx stays as it is";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{UPDATE_EXAMPLES}\n\n{}\n\n{GLOBS}\n\n{}", presets(), exit_code::HELP))]
pub(crate) struct UpdateArgs {
    /// Leave out files that the folder does not have
    #[arg(long)]
    pub(crate) mirror: bool,

    /// Keep times, modes, links and empty folders too, as `pack --metadata`; an archive that has
    /// them is brought up to date with those of the folder without being asked
    #[arg(long)]
    pub(crate) metadata: bool,

    #[command(flatten)]
    pub(crate) rules: RuleArgs,

    #[command(flatten)]
    pub(crate) edit: EditArgs,

    /// The archive; what did not change keeps its blocks
    #[arg(value_name = "ARCHIVE", value_hint = ValueHint::FilePath)]
    pub(crate) archive: PathBuf,

    /// The folder that it is brought up to date with
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,

    #[command(flatten)]
    pub(crate) coding: CodingArgs,
}

const DELETE_EXAMPLES: &str = "\
Examples:
  linerate nx delete mods.nx '*.bak' old
  linerate nx delete --dry-run mods.nx '*.bak'           the paths that would go
  linerate nx delete --keep-hashes wanted.txt store.nx   all whose hash is not in the list";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{DELETE_EXAMPLES}\n\n{GLOBS}\n\n{}", exit_code::HELP))]
pub(crate) struct DeleteArgs {
    /// Delete files whose hash is not in FILE, which has a hash of 16 hexadecimal digits per line,
    /// as `list --long` prints them; with globs, of the files that they match
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) keep_hashes: Option<PathBuf>,

    /// Globs match without regard to case
    #[arg(short = 'i', long)]
    pub(crate) ignore_case: bool,

    #[command(flatten)]
    pub(crate) edit: EditArgs,

    /// The archive; blocks of which nothing goes are copied as they are
    #[arg(value_name = "ARCHIVE", value_hint = ValueHint::FilePath)]
    pub(crate) archive: PathBuf,

    /// Globs for the files to delete
    #[arg(value_name = "GLOB", required_unless_present = "keep_hashes")]
    pub(crate) globs: Vec<String>,
}

const REPACK_EXAMPLES: &str = "\
Examples:
  linerate nx repack --preset archive mods.nx                in place
  linerate nx repack --chunkedlevel 19 mods.nx -o small.nx
  linerate nx repack --format r3a mods.nx -o mods.r3a        only converted: blocks stay as they are";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{REPACK_EXAMPLES}\n\n{}\n\n{}", presets(), exit_code::HELP))]
pub(crate) struct RepackArgs {
    #[command(flatten)]
    pub(crate) edit: EditArgs,

    /// The archive, whose contents are coded anew; its chunk size stays unless another is given. With
    /// --format and nothing that says how to code, blocks are copied as they are
    #[arg(value_name = "ARCHIVE", value_hint = ValueHint::FilePath)]
    pub(crate) archive: PathBuf,

    #[command(flatten)]
    pub(crate) coding: CodingArgs,
}

/// Which files of a folder are packed, and which of them in another way.
#[derive(clap::Args, Debug)]
pub(crate) struct RuleArgs {
    /// Pack only files that the glob matches
    #[arg(short = 'g', long, value_name = "GLOB")]
    pub(crate) include: Vec<String>,

    /// Leave out files that the glob matches; folders that it matches are not even entered
    #[arg(short = 'x', long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,

    /// Leave out files and folders whose names no archive can hold (such as CON, x:y, a trailing dot, not
    /// UTF-8), list them, and end with status 5
    #[arg(long)]
    pub(crate) skip_bad_names: bool,

    /// Store files that the glob matches as they are
    #[arg(long, value_name = "GLOB")]
    pub(crate) store: Vec<String>,

    /// Give files that the glob matches blocks of their own, so that reading one decodes no other
    #[arg(long, value_name = "GLOB")]
    pub(crate) alone: Vec<String>,

    /// Globs match without regard to case
    #[arg(short = 'i', long)]
    pub(crate) ignore_case: bool,
}

impl RuleArgs {
    pub(crate) fn rules(&self) -> Result<Rules, String> {
        let globs = |texts: &[String]| -> Result<Vec<Glob>, String> {
            texts.iter().map(|text| Glob::new(text, self.ignore_case)).collect()
        };
        Ok(Rules {
            select: Select::new(&self.include, &self.exclude, self.ignore_case)?,
            store: globs(&self.store)?,
            alone: globs(&self.alone)?,
            skip_bad_names: self.skip_bad_names,
        })
    }
}

/// What becomes of each file of a folder.
#[derive(Debug)]
pub(crate) struct Rules {
    select: Select,
    store: Vec<Glob>,
    alone: Vec<Glob>,
    pub(crate) skip_bad_names: bool,
}

impl Rules {
    /// Whether a folder is left out with all that is below it.
    pub(crate) fn prunes(&self, folder: &str) -> bool {
        self.select.excludes(folder)
    }

    /// The walk through a folder that they mean; `prune` is [`prunes`](Self::prunes).
    pub(crate) fn walk<'w>(&self, folder: &'w Path, prune: &'w dyn Fn(&str) -> bool) -> Walk<'w> {
        Walk::new(folder).prune(prune).skip_bad_names(self.skip_bad_names)
    }

    /// How a file is packed, or `None` if it is not.
    pub(crate) fn prefer(&self, path: &str) -> Option<FileOptions> {
        if !self.select.takes(path) {
            return None;
        }
        let is_in = |globs: &[Glob]| globs.iter().any(|glob| glob.matches(path));
        let prefer = match is_in(&self.store) {
            true => FileOptions::new().coding(linerate_nx::pack::Coding::Copy),
            false => FileOptions::default(),
        };
        Some(if is_in(&self.alone) { prefer.alone(true) } else { prefer })
    }
}

/// The formats that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// Nx 1.x, which other programs read
    Nx,
    /// R3A 2.0, a draft: for readers of the profile r3a-2.0-doc only
    R3a,
}

impl FormatName {
    pub(crate) fn format(self) -> Format {
        match self {
            FormatName::Nx => Format::Nx,
            FormatName::R3a => Format::R3a,
        }
    }
}

/// Where the archive goes.
#[derive(clap::Args, Debug)]
pub(crate) struct OutputArgs {
    #[arg(
        short = 'o',
        long,
        alias = "target",
        value_name = "FILE",
        help = output_args::FILE,
        value_parser = output_args::path(),
        required_unless_present = "dry_run",
        value_hint = ValueHint::FilePath
    )]
    pub(crate) output: Option<PathBuf>,

    #[arg(short = 'f', long, help = output_args::FORCE)]
    pub(crate) force: bool,

    /// The format of the archive
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "nx")]
    pub(crate) format: FormatName,

    #[arg(short = 'n', long, help = output_args::DRY_RUN)]
    pub(crate) dry_run: bool,
}

/// What every change of an archive takes.
#[derive(clap::Args, Debug)]
pub(crate) struct EditArgs {
    #[arg(short = 'o', long, alias = "target", value_name = "FILE", help = output_args::FILE, value_parser = output_args::path(), value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    #[arg(short = 'f', long, help = output_args::FORCE)]
    pub(crate) force: bool,

    /// The format of the archive that is written [default: that of the first archive]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<FormatName>,

    #[arg(short = 'n', long, help = output_args::DRY_RUN)]
    pub(crate) dry_run: bool,

    /// Copy blocks without checking the hashes of what is in them
    #[arg(long)]
    pub(crate) no_verify: bool,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,
}
