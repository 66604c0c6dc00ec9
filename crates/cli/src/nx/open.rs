//! Opening archives, and the engine's errors as failures of the command line.

use std::io;
use std::path::Path;

use linerate_nx::{Archive, Error, FileSource, HEADER, Kind};

use super::args::LimitArgs;
use crate::failure::Failure;

/// An archive on disk.
pub(crate) type Opened = Archive<FileSource>;

/// Reads the header of the archive at `path`. What has no end, such as a pipe, is none.
pub(crate) fn open(path: &Path, limits: &LimitArgs) -> Result<Opened, Failure> {
    let source = FileSource::open(path).map_err(Failure::doing("cannot open"))?;
    Archive::open_with(source, limits.limits()).map_err(damage)
}

/// An error of the engine. One of reading is of the system, and no damage.
pub(crate) fn damage(error: Error) -> Failure {
    match error.kind {
        Kind::Io => Failure::Read { error: io::Error::other(error.what), at: error.at },
        kind => Failure::data(kind, error.at, error.what),
    }
}

/// An error that may wrap one of the engine; if not, it is of writing.
pub(crate) fn damage_or_output(error: io::Error, writing: impl FnOnce(io::Error) -> Failure) -> Failure {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(engine) => damage(*engine),
        None => writing(error),
    }
}

/// Where the entry of a path stands in the archive, or where it would follow the last.
pub(crate) fn entry_at(archive: &Opened, path: &str) -> u64 {
    let header = archive.header();
    match archive.find(path) {
        Some(file) => (HEADER + file.index() * header.form.entry_bytes()) as u64,
        None => header.blocks_at(),
    }
}
