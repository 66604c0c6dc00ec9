//! What went wrong with one file, by its name.

use std::fmt;
use std::io;

use linerate_core::{Error, Kind};

/// One file that could not be read, verified or written.
#[derive(Debug)]
pub struct Failure {
    /// The path in the archive.
    pub path: String,
    /// What went wrong.
    pub cause: Cause,
}

/// Why a file failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Cause {
    /// The archive: `at` is an offset in it.
    Archive(Error),
    /// The output: writing, creating, renaming.
    Output(io::Error),
    /// The path would be written where the caller did not ask, or cannot be a file's name everywhere.
    Path(&'static str),
    /// Another file of the archive has this path, or one that differs only in case or in Unicode
    /// form.
    Collision,
    /// A file is there already, and may not be replaced.
    Exists,
    /// A link that would lead where the caller did not ask.
    Link(&'static str),
}

impl Failure {
    /// A failure of the file of that path.
    pub fn new(path: &str, cause: impl Into<Cause>) -> Failure {
        Failure { path: path.to_owned(), cause: cause.into() }
    }

    /// Whether there was no room left on the device.
    pub fn is_disk_full(&self) -> bool {
        matches!(&self.cause, Cause::Output(e) if is_full(e))
    }

    /// The kind of error this is.
    pub fn kind(&self) -> Kind {
        match &self.cause {
            Cause::Archive(error) => error.kind,
            Cause::Output(_) | Cause::Exists => Kind::Write,
            Cause::Path(_) | Cause::Collision | Cause::Link(_) => Kind::Corrupt,
        }
    }
}

/// Whether there is no room on the device, or none left to its user.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

impl From<Error> for Cause {
    fn from(error: Error) -> Cause {
        Cause::Archive(error)
    }
}

impl From<io::Error> for Cause {
    fn from(error: io::Error) -> Cause {
        Cause::Output(error)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Archive(error) => error.fmt(f),
            Cause::Output(error) if is_full(error) => write!(f, "the disk is full ({error})"),
            Cause::Output(error) => error.fmt(f),
            Cause::Path(what) | Cause::Link(what) => f.write_str(what),
            Cause::Collision => f.write_str("another file of the archive has the same name here"),
            Cause::Exists => f.write_str("it is there already"),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A path from an archive may hold anything, such as the escapes of a terminal.
        write!(f, "{}: {}", self.path.escape_debug(), self.cause)
    }
}

impl std::error::Error for Failure {}
