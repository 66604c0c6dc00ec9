//! Tracks the files that are being read, so that none of them is opened as an output, which would
//! overwrite what is read.

use std::fs::{self, File, FileType};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use linerate_core::lock;
use linerate_io::FileId;

use crate::ui::error::CliError;
use crate::ui::input;
use crate::ui::operands::is_stdin;

/// The files that are being read. A file that is read twice at the same time is listed twice.
static READ: Mutex<Vec<FileId>> = Mutex::new(Vec::new());

fn files() -> MutexGuard<'static, Vec<FileId>> {
    lock(&READ)
}

/// A file that counts as being read until this value is dropped. `None` is no file, or one such as
/// a pipe that cannot be overwritten.
#[must_use]
pub(crate) struct Reading(Option<FileId>);

impl Drop for Reading {
    fn drop(&mut self) {
        let Some(id) = self.0 else { return };
        let mut files = files();
        if let Some(i) = files.iter().position(|file| *file == id) {
            files.swap_remove(i);
        }
    }
}

/// Counts an open file as being read until the returned value is dropped.
pub(crate) fn reading(file: &File) -> Reading {
    Reading::new(id_of(file))
}

/// Counts the file at `path`, if there is one, as being read until the returned value is dropped.
pub(crate) fn reading_at(path: &Path) -> Reading {
    Reading::new(id_at(path))
}

/// Counts the file at `path`, if there is one, as being read until the program ends.
pub(crate) fn keep(path: &Path) {
    std::mem::forget(reading_at(path));
}

/// As [`keep`], for an operand, where `-` stands for standard input.
pub(crate) fn keep_operand(path: &Path) {
    match is_stdin(path) {
        true => input::stdin().iter().for_each(keep_open),
        false => keep(path),
    }
}

/// Counts an open file as being read until the program ends.
pub(crate) fn keep_open(file: &File) {
    std::mem::forget(reading(file));
}

impl Reading {
    fn new(id: Option<FileId>) -> Reading {
        files().extend(id);
        Reading(id)
    }
}

/// Refuses an output at `path` that would replace a file that is being read.
pub(crate) fn refuse(path: &Path) -> Result<(), CliError> {
    refuse_id(id_at(path), || format!("the output {}", path.display()))
}

/// Refuses standard output that leads to a file that is being read.
pub(crate) fn refuse_stdout(stdout: &File) -> Result<(), CliError> {
    refuse_id(id_of(stdout), || "standard output".into())
}

fn refuse_id(id: Option<FileId>, name: impl FnOnce() -> String) -> Result<(), CliError> {
    match id.is_some_and(|id| files().contains(&id)) {
        true => Err(CliError::Refused(format!("{} is an input, which it would overwrite", name()))),
        false => Ok(()),
    }
}

fn id_of(file: &File) -> Option<FileId> {
    let found = file.metadata().ok()?;
    has_content(found.file_type()).then(|| FileId::of(file).ok())?
}

fn id_at(path: &Path) -> Option<FileId> {
    let found = fs::metadata(path).ok()?;
    has_content(found.file_type()).then(|| FileId::at(path).ok())?
}

/// Whether writing to a file of this type overwrites what can be read from it, as for regular files
/// and block devices. A terminal, a pipe and `/dev/null` keep nothing.
fn has_content(kind: FileType) -> bool {
    #[cfg(unix)]
    if std::os::unix::fs::FileTypeExt::is_block_device(&kind) {
        return true;
    }
    kind.is_file()
}
