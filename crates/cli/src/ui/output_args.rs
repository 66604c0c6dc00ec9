//! `-o`, `-f` and `-n`, and writing an output as a whole file.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ValueHint;
use clap::builder::{PathBufValueParser, TypedValueParser};

use crate::ui::error::CliError;
use crate::ui::inputs;
use crate::ui::output::{self, Output};

/// Help of `-o` where the output may go to standard output.
pub(crate) const STREAM: &str = "Write to FILE, which appears when it is complete; `-` is standard output";
/// Help of `-o` where the output may not go to standard output, because it is written out of order.
pub(crate) const FILE: &str = "Write to FILE, which appears when it is complete";
/// Help of `-o` where several files are written.
pub(crate) const FOLDER: &str = "Write to FOLDER, which is created if it does not exist";
/// Help of `-f`.
pub(crate) const FORCE: &str = "Replace existing files";
/// Help of `-n`.
pub(crate) const DRY_RUN: &str = "Write nothing: print what would be done";

/// Parses the path of an output that cannot be standard output: anything but `-`.
pub(crate) fn path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match is_stdout(&path) {
        true => Err("this output cannot go to standard output; give a name (`./-` for a file named `-`)"),
        false => Ok(path),
    })
}

pub(crate) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// A file that is written as a stream.
#[derive(clap::Args, Debug)]
pub(crate) struct OutputArgs {
    #[arg(short = 'o', long, value_name = "FILE", help = STREAM, required_unless_present = "dry_run", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    #[arg(short = 'f', long, help = FORCE)]
    pub(crate) force: bool,

    #[arg(short = 'n', long, help = DRY_RUN)]
    dry_run: bool,
}

impl OutputArgs {
    /// The path; `None` with `--dry-run`.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.output.as_deref().filter(|_| !self.dry_run)
    }

    pub(crate) fn is_stdout(&self) -> bool {
        self.path().is_some_and(is_stdout)
    }

    /// Fails, before any work, if the output cannot be written.
    pub(crate) fn check(&self) -> Result<(), CliError> {
        let Some(path) = self.path().filter(|_| !self.is_stdout()) else { return Ok(()) };
        if path.is_dir() {
            return Err(CliError::Refused(format!("the output {} is a directory", path.display())));
        }
        inputs::refuse(path)?;
        if !self.force && path.is_file() {
            return Err(CliError::Refused(format!("{} exists already; -f overwrites it", path.display())));
        }
        Ok(())
    }
}

/// A folder that files are written to.
#[derive(clap::Args, Debug)]
pub(crate) struct FolderArgs {
    #[arg(short = 'o', long, value_name = "FOLDER", help = FOLDER, required_unless_present = "dry_run", value_parser = path(), value_hint = ValueHint::DirPath)]
    output: Option<PathBuf>,

    #[arg(short = 'f', long, help = FORCE)]
    pub(crate) force: bool,

    #[arg(short = 'n', long, help = DRY_RUN)]
    dry_run: bool,
}

impl FolderArgs {
    /// The path; `None` with `--dry-run`.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.output.as_deref().filter(|_| !self.dry_run)
    }
}

/// Opens the output at `path`: standard output for `-`.
pub(crate) fn open(path: &Path, force: bool) -> Result<Output, CliError> {
    match is_stdout(path) {
        true => output::stdout().map(Output::Stdout),
        false => Output::at(path, force),
    }
}

/// Writes all of `bytes` to the output at `path`: standard output for `-`.
pub(crate) fn write(path: &Path, force: bool, bytes: &[u8]) -> Result<(), CliError> {
    let mut output = open(path, force)?;
    output.write_all(bytes).map_err(|error| output.error(error))?;
    output.commit().map(drop)
}
