//! Errors of single files of an archive.

use std::fmt;
use std::io;

use linerate_core::{Error, Kind};

/// A file that could not be read, verified or written.
#[derive(Debug)]
pub struct PathError {
    /// The path in the archive; the path of the folder if an error concerns the whole extraction.
    pub path: String,
    /// The reason.
    pub source: FileError,
}

/// The reason why a file could not be read, verified or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileError {
    /// Reading, decoding or verifying failed; [`Error::offset`] is an offset in the archive.
    Archive(Error),
    /// Creating, writing or renaming the output failed.
    Output(io::Error),
    /// The path leads out of the folder, or has a name that not every system accepts. Names with a
    /// character that only Windows rejects are errors on Windows alone.
    Path(&'static str),
    /// Another file of the archive has this path, or one that differs only in case or in Unicode
    /// normalization.
    Collision,
    /// The path is that of a folder which contains other files of the archive.
    Folder,
    /// A file exists at the path, and may not be replaced.
    Exists,
    /// The target of a symbolic link is empty, leads out of the folder, or has a name that not
    /// every system accepts.
    Link(&'static str),
}

impl PathError {
    /// Creates the error of the file at `path`.
    pub(crate) fn new(path: &str, source: impl Into<FileError>) -> PathError {
        PathError { path: path.to_owned(), source: source.into() }
    }

    /// The kind of error.
    pub fn kind(&self) -> Kind {
        match &self.source {
            FileError::Archive(error) => error.kind,
            FileError::Output(_) | FileError::Exists => Kind::Write,
            FileError::Path(_) | FileError::Collision | FileError::Folder | FileError::Link(_) => {
                Kind::Corrupt
            }
        }
    }
}

/// Whether the device or the user's quota is full.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

impl From<Error> for FileError {
    fn from(error: Error) -> FileError {
        FileError::Archive(error)
    }
}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> FileError {
        FileError::Output(error)
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Archive(error) => error.fmt(f),
            FileError::Output(error) if is_full(error) => write!(f, "the disk is full ({error})"),
            FileError::Output(error) => error.fmt(f),
            FileError::Path(message) | FileError::Link(message) => f.write_str(message),
            FileError::Collision => f.write_str("another file of the archive has the same name here"),
            FileError::Folder => {
                f.write_str("other files of the archive are in a folder of the same name here")
            }
            FileError::Exists => f.write_str("it exists already"),
        }
    }
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The path is untrusted: it may hold terminal escapes.
        write!(f, "{}: {}", self.path.escape_debug(), self.source)
    }
}

impl std::error::Error for FileError {}

impl std::error::Error for PathError {}
