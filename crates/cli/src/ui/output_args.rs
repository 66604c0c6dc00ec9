//! The options `-o`, `-f` and `-n`, and the outputs that they name.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ValueHint;
use clap::builder::{PathBufValueParser, TypedValueParser};

use crate::ui::error::CliError;
use crate::ui::inputs;
use crate::ui::output::{self, Output};

/// Help of `-o` of subcommands that can write to standard output.
pub(crate) const STREAM: &str = "Write to FILE, which appears when it is complete; `-` is standard output";
/// Help of `-o` of `gateway record`, which keeps messages that were recorded before an error.
pub(crate) const RECORDING: &str = "Write to FILE, which grows while a gateway or standard input is recorded, \
                                    and otherwise appears when it is complete; `-` is standard output";
/// Help of `-o` of subcommands that cannot write to standard output, because they write the output
/// out of order.
pub(crate) const FILE: &str = "Write to FILE, which appears when it is complete";
/// Help of `-o` of subcommands that write several files.
pub(crate) const FOLDER: &str = "Write to FOLDER, which is created if it does not exist";
/// Help of `-f`.
pub(crate) const FORCE: &str = "Replace existing files";
/// Help of `-n`.
pub(crate) const DRY_RUN: &str = "Write nothing: print what would be done";

/// Makes the parser of the path of an output that cannot be standard output. It refuses `-` and the
/// empty path.
pub(crate) fn path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match is_stdout(&path) {
        true => Err("this output cannot go to standard output; give a name (`./-` for a file named `-`)"),
        false => Ok(path),
    })
}

/// Whether the path of an output stands for standard output, as `-` does.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// The options for an output that is written from beginning to end.
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
    /// The path of the output; `None` with `--dry-run`.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.output.as_deref().filter(|_| !self.dry_run)
    }

    /// Whether the output goes to standard output.
    pub(crate) fn is_stdout(&self) -> bool {
        self.path().is_some_and(is_stdout)
    }

    /// Fails, before any work, if the output is a directory, is an input, or exists already and may
    /// not be replaced. Whether it can be written at all is not tried.
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

/// The options for a folder that files are written to.
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
    /// The path of the folder; `None` with `--dry-run`.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.output.as_deref().filter(|_| !self.dry_run)
    }
}

/// Opens the output at `path`, or standard output for `-`. An existing file is replaced with
/// `force` only.
pub(crate) fn open(path: &Path, force: bool) -> Result<Output, CliError> {
    match is_stdout(path) {
        true => output::stdout().map(Output::Stdout),
        false => Output::at(path, force),
    }
}

/// Writes `bytes` as the whole output at `path`, or to standard output for `-`. An existing file is
/// replaced with `force` only, and a file appears under its name when it is complete.
pub(crate) fn write(path: &Path, force: bool, bytes: &[u8]) -> Result<(), CliError> {
    let mut output = open(path, force)?;
    output.write_all(bytes).map_err(|error| output.error(error))?;
    output.commit().map(drop)
}
