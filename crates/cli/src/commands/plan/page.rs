//! Writes a plan, or another report, as an HTML page into a file.

use std::io::Write;
use std::path::{Path, PathBuf};

use linerate_candidates::{Measured, environment};
use linerate_io::{AtomicFile, Existing};
use linerate_plan::Plan;
use linerate_plan::report::{self, Context};

use crate::ui::error::CliError;
use crate::ui::inputs;

/// The file that an HTML page is written to. It is opened before anything is measured, so that a
/// path that cannot be written is an error at once.
pub(crate) struct Page {
    path: PathBuf,
    file: AtomicFile,
}

impl Page {
    /// Opens the file. An existing regular file is replaced when the page is complete.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be written, or if it is an input.
    pub(crate) fn create(path: &Path) -> Result<Page, CliError> {
        inputs::refuse(path)?;
        let file =
            AtomicFile::create(path, Existing::Replace).map_err(CliError::io_at("cannot write", path))?;
        Ok(Page { path: path.to_owned(), file })
    }

    /// Writes the page of a plan, and returns the path of the file.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be written.
    pub(super) fn write(self, plan: &Plan, data: &Path, measured: &Measured) -> Result<PathBuf, CliError> {
        self.write_text(&report::html(plan, &context(data.display().to_string(), measured.bytes)))
    }

    /// Writes this HTML as the page, and returns the path of the file.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be written.
    pub(crate) fn write_text(mut self, page: &str) -> Result<PathBuf, CliError> {
        let written = self.file.write_all(page.as_bytes()).and_then(|()| self.file.commit());
        written.map_err(CliError::io_at("cannot write", &self.path))?;
        Ok(self.path)
    }
}

/// Returns what a page says about the machine and the program, and about the data: its name and its
/// size in bytes, 0 if unknown.
pub(crate) fn context(data: String, bytes: u64) -> Context {
    Context {
        data,
        data_bytes: bytes,
        cpu: environment::cpu(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        os: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        versions: vec![("linerate".into(), env!("CARGO_PKG_VERSION").into())],
        date: environment::date(),
        command: environment::command(),
    }
}
