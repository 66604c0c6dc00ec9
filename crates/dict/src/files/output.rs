//! Output files, which get their name when they are complete.

use std::io::{self, BufWriter, ErrorKind, IntoInnerError};
use std::path::Path;

use linerate_core::{Error, Kind, Result};
use linerate_io::{AtomicFile, Existing};

/// Number of bytes that are buffered before a write.
pub(crate) const BUFFER: usize = 256 << 10;

/// Converts a system error into an error of writing.
pub(crate) fn write_error(error: &io::Error) -> Error {
    let what = match error.kind() {
        ErrorKind::AlreadyExists => "the file exists already",
        ErrorKind::WouldBlock => "another process is writing the file",
        _ => "cannot write",
    };
    Error::from_io(Kind::Write, 0, what, error)
}

/// Creates a buffered file.
pub(crate) fn create(path: &Path, existing: Existing) -> Result<BufWriter<AtomicFile>> {
    let file = AtomicFile::create(path, existing).map_err(|e| write_error(&e))?;
    Ok(BufWriter::with_capacity(BUFFER, file))
}

/// Flushes a file and gives it its name, by [`AtomicFile::commit`].
pub(crate) fn commit(file: BufWriter<AtomicFile>) -> Result<()> {
    let file = file.into_inner().map_err(IntoInnerError::into_error);
    file.and_then(AtomicFile::commit).map_err(|e| write_error(&e))
}
