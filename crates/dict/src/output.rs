//! Files that take their name when they are whole.

use std::io::{self, BufWriter, ErrorKind, IntoInnerError};
use std::path::Path;

use linerate_core::{Error, Kind, Result};
use linerate_io::{AtomicFile, Existing};

/// Bytes gathered before they are written.
pub(crate) const BUFFER: usize = 256 << 10;

/// The system's error of writing a file.
pub(crate) fn write_error(error: &io::Error) -> Error {
    let what = match error.kind() {
        ErrorKind::AlreadyExists => "the file is there already",
        ErrorKind::WouldBlock => "somebody else writes the file",
        _ => "cannot write",
    };
    Error::from_io(Kind::Write, 0, what, error)
}

/// A file whose bytes are gathered.
pub(crate) fn create(path: &Path, existing: Existing) -> Result<BufWriter<AtomicFile>> {
    let file = AtomicFile::create(path, existing).map_err(|e| write_error(&e))?;
    Ok(BufWriter::with_capacity(BUFFER, file))
}

/// Gives a file its name, with all bytes that were gathered for it.
pub(crate) fn commit(file: BufWriter<AtomicFile>) -> Result<()> {
    let file = file.into_inner().map_err(IntoInnerError::into_error);
    file.and_then(AtomicFile::commit).map_err(|e| write_error(&e))
}
