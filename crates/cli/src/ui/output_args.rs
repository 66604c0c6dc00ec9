//! Files that are written: complete, under their name, or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ValueHint;

use crate::ui::error::CliError;
use crate::ui::output::Output;

/// Where a file goes.
#[derive(clap::Args, Debug)]
pub(crate) struct OutputArgs {
    /// The file to write; it appears under its name when it is complete
    #[arg(
        short = 'o',
        long,
        visible_alias = "output",
        value_name = "FILE",
        required_unless_present = "dry_run",
        value_hint = ValueHint::FilePath
    )]
    pub(crate) target: Option<PathBuf>,

    /// Replace what exists
    #[arg(short = 'f', long)]
    pub(crate) force: bool,

    /// Write nothing: print what would come of it
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
}

impl OutputArgs {
    /// The name, unless nothing is to be written.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.target.as_deref().filter(|_| !self.dry_run)
    }

    /// Fails early where writing could not end well.
    pub(crate) fn check(&self) -> Result<(), CliError> {
        let Some(path) = self.path() else { return Ok(()) };
        if path.is_dir() {
            return Err(CliError::Refused(format!("the output {} is a directory", path.display())));
        }
        if !self.force && path.is_file() {
            return Err(CliError::Refused(format!("{} exists already; -f overwrites it", path.display())));
        }
        Ok(())
    }
}

/// Writes a whole file.
pub(crate) fn write(path: &Path, force: bool, bytes: &[u8]) -> Result<(), CliError> {
    let mut output = Output::at(path, force)?;
    output.write_all(bytes).map_err(|error| output.error(error))?;
    output.commit().map(drop)
}
