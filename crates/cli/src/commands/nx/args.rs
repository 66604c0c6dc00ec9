//! Arguments that several subcommands of `linerate nx` share.

use std::path::PathBuf;

use clap::ValueHint;
use linerate_nx::Limits;

use super::select::Select;
use crate::ui::size;

/// The archive, by position or by `--source` as in the original program for Nx archives.
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
    /// The path or URL of the archive.
    pub(crate) fn path(&self) -> PathBuf {
        self.source.clone().or_else(|| self.archive.clone()).unwrap_or_default()
    }
}

/// The archive, and globs that choose among its files.
#[derive(clap::Args, Debug)]
pub(crate) struct ChoiceArgs {
    /// The archive, as an option; all other arguments are then globs
    #[arg(long, value_name = "ARCHIVE", value_hint = ValueHint::FilePath)]
    pub(crate) source: Option<PathBuf>,

    /// Exclude files that match GLOB
    #[arg(short = 'x', long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,

    /// Match globs case-insensitively
    #[arg(short = 'i', long)]
    pub(crate) ignore_case: bool,

    /// The archive
    #[arg(value_name = "ARCHIVE", required_unless_present = "source", value_hint = ValueHint::FilePath)]
    pub(crate) archive: Option<String>,

    /// Globs that choose the files to process. Default: all files
    #[arg(value_name = "GLOB")]
    pub(crate) globs: Vec<String>,
}

impl ChoiceArgs {
    /// Returns the choice of files by the globs.
    ///
    /// # Errors
    /// A sentence about the first argument that is not a glob.
    pub(crate) fn select(&self) -> Result<Select, String> {
        Select::new(&self.globs(), &self.exclude, self.ignore_case)
    }

    /// The path or URL of the archive.
    pub(crate) fn path(&self) -> PathBuf {
        let by_position = || self.archive.as_ref().map(PathBuf::from);
        self.source.clone().or_else(by_position).unwrap_or_default()
    }

    /// The arguments by position that are globs: all of them with `--source`, else all but the
    /// first, which is the archive.
    pub(crate) fn globs(&self) -> Vec<String> {
        let first = self.archive.iter().filter(|_| self.source.is_some());
        first.chain(&self.globs).cloned().collect()
    }
}

/// Limits on the memory and output that reading an archive may cost.
#[derive(clap::Args, Debug)]
pub(crate) struct LimitArgs {
    /// Fail when the files take more bytes than this; K, M and G are multiples of 1024
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) max_output: Option<u64>,

    /// Fail when a file is larger than this
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) max_file: Option<u64>,

    /// Limit the buffers of all threads together to this many bytes
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) max_memory: Option<u64>,

    /// Apply no limits except those of the format, for trusted archives
    #[arg(long, conflicts_with_all = ["max_output", "max_file", "max_memory"])]
    pub(crate) no_limits: bool,
}

impl LimitArgs {
    /// The limits of the command line. Those that it does not give are the engine's defaults.
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
