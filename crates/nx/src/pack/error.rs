//! The error of packing.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use linerate_core::{Error, Kind};

/// A result whose error is [`PackError`].
pub type PackResult<T> = std::result::Result<T, PackError>;

/// An error of packing. It names the file that it concerns, if any.
///
/// The message is the file's name, then the problem. Control characters of names are escaped, so it
/// is one line without terminal escapes.
#[derive(Debug)]
pub struct PackError {
    file: Option<PathBuf>,
    source: Source,
}

#[derive(Debug)]
enum Source {
    /// A problem with a fixed message, such as a broken rule, a changed file or lack of memory.
    Rule(Kind, &'static str),
    /// The file clashes with the one whose name is in the second field. The first field is the
    /// message.
    Clash(&'static str, PathBuf),
    /// An error of an engine, such as of reading an existing archive or of encoding a header.
    Engine(Error),
    /// A system error, of kind `Read` or `Write`.
    Io(Kind, io::Error),
    /// The token cancelled the work.
    Cancelled,
}

impl PackError {
    pub(crate) fn rule(kind: Kind, what: &'static str) -> PackError {
        PackError { file: None, source: Source::Rule(kind, what) }
    }

    /// Creates the error of a file that clashes with `other`.
    pub(super) fn clash(what: &'static str, other: impl Into<PathBuf>) -> PackError {
        PackError { file: None, source: Source::Clash(what, other.into()) }
    }

    /// Wraps a system error of reading.
    pub(crate) fn reading(error: io::Error) -> PackError {
        PackError { file: None, source: Source::Io(Kind::Read, error) }
    }

    /// Wraps a system error of writing.
    pub(crate) fn writing(error: io::Error) -> PackError {
        PackError { file: None, source: Source::Io(Kind::Write, error) }
    }

    pub(super) fn cancelled() -> PackError {
        PackError { file: None, source: Source::Cancelled }
    }

    /// Adds the file, unless the error names one.
    #[must_use]
    pub(crate) fn at(mut self, file: impl Into<PathBuf>) -> PackError {
        self.file.get_or_insert_with(|| file.into());
        self
    }

    /// The kind of error.
    pub fn kind(&self) -> Kind {
        match &self.source {
            Source::Rule(kind, _) => *kind,
            Source::Clash(..) => Kind::BadArgument,
            Source::Engine(error) => error.kind,
            Source::Io(kind, _) => *kind,
            Source::Cancelled => Kind::Write,
        }
    }

    /// Whether packing was cancelled by its [`CancelToken`](super::CancelToken).
    pub fn is_cancelled(&self) -> bool {
        matches!(self.source, Source::Cancelled)
    }

    /// The file that the error concerns. While files are added, this is its path on the disk, if it
    /// has one. While the archive is written, it is its path in the archive, or the target.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// The other file of a clash: an archive cannot hold both it and [`file`](Self::file).
    pub fn other_file(&self) -> Option<&Path> {
        match &self.source {
            Source::Clash(_, other) => Some(other),
            _ => None,
        }
    }

    /// The error without its file.
    pub fn reason(&self) -> Error {
        match &self.source {
            Source::Rule(kind, what) => Error::new(*kind, 0, what),
            Source::Clash(what, _) => Error::new(Kind::BadArgument, 0, what),
            Source::Engine(error) => *error,
            Source::Io(Kind::Read, error) => Error::from_io(Kind::Read, 0, "cannot read the file", error),
            Source::Io(_, error) => Error::from_io(Kind::Write, 0, cannot_write(error.kind()), error),
            Source::Cancelled => Error::new(Kind::Write, 0, "cancelled before the archive was complete"),
        }
    }

    /// The system error, if the cause was one. A full disk has the kind `StorageFull`.
    pub fn io(&self) -> Option<&io::Error> {
        match &self.source {
            Source::Io(_, error) => Some(error),
            _ => None,
        }
    }
}

/// Returns the message for a write error. The kinds named here come mostly from this project's own
/// checks and then have no system error number.
fn cannot_write(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::AlreadyExists => "the target exists already",
        io::ErrorKind::IsADirectory => "the target is a folder",
        io::ErrorKind::InvalidFilename => "the target has no name",
        _ => "cannot write the archive",
    }
}

impl From<Error> for PackError {
    fn from(error: Error) -> PackError {
        PackError { file: None, source: Source::Engine(error) }
    }
}

/// A name with its control characters escaped, and with replacement characters for what is not
/// UTF-8. Quotes and the backslashes of Windows are not escaped, since most names are paths on disk.
struct Printable<'a>(&'a Path);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.to_string_lossy().chars() {
            match c.is_control() {
                true => c.escape_debug().fmt(f)?,
                false => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for PackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}: ", Printable(file))?;
        }
        match &self.source {
            Source::Rule(_, what) => f.write_str(what),
            Source::Clash(what, other) => write!(f, "{what}: {}", Printable(other)),
            Source::Engine(error) => error.fmt(f),
            Source::Io(_, error) if error.kind() == io::ErrorKind::StorageFull => {
                f.write_str("the disk is full")
            }
            Source::Io(_, error) => error.fmt(f),
            Source::Cancelled => f.write_str(self.reason().message),
        }
    }
}

impl std::error::Error for PackError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.source {
            Source::Rule(..) | Source::Clash(..) | Source::Cancelled => None,
            Source::Engine(error) => Some(error),
            Source::Io(_, error) => Some(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_begins_with_the_innermost_file() {
        let error = PackError::rule(Kind::BadArgument, "the path is empty").at("inner").at("outer");
        assert_eq!(error.to_string(), "inner: the path is empty");
        assert_eq!((error.kind(), error.file()), (Kind::BadArgument, Some(Path::new("inner"))));
    }

    #[test]
    fn control_characters_of_names_are_escaped() {
        let error = PackError::clash("these clash", "\u{9b}d\n").at("it's\\a\u{1b}[2Jb");
        assert_eq!(error.to_string(), r"it's\a\u{1b}[2Jb: these clash: \u{9b}d\n");
        let names = ["it's\\a\u{1b}[2Jb", "\u{9b}d\n"].map(|name| Some(Path::new(name)));
        assert_eq!([error.file(), error.other_file()], names);
    }

    #[test]
    fn full_disk_has_its_own_message() {
        let error = PackError::writing(io::ErrorKind::StorageFull.into()).at("a.nx");
        assert_eq!(error.to_string(), "a.nx: the disk is full");
        assert_eq!(error.kind(), Kind::Write);
        assert_eq!(error.reason().message, "cannot write the archive");
    }

    #[test]
    fn a_target_that_exists_has_its_own_reason() {
        let reason = |kind: io::ErrorKind| PackError::writing(kind.into()).reason().message;
        assert_eq!(reason(io::ErrorKind::AlreadyExists), "the target exists already");
        assert_eq!(reason(io::ErrorKind::IsADirectory), "the target is a folder");
    }
}
