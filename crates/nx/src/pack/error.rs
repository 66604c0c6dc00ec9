//! Why packing failed, and at which file.

use std::{fmt, io};

use linerate_core::{Error, Kind};

/// A result whose error is [`PackError`].
pub type PackResult<T> = std::result::Result<T, PackError>;

/// Why an archive could not be written, with the file it failed at where there is one.
///
/// The message is one line: the file's name first, then what is wrong.
#[derive(Debug)]
pub struct PackError {
    file: Option<String>,
    source: Source,
}

#[derive(Debug)]
enum Source {
    /// A rule of the format or of the packer.
    Rule(Kind, &'static str),
    /// What the engine said about an existing archive.
    Engine(Error),
    /// A call of the system: of kind `Read` or `Write`.
    Io(Kind, io::Error),
    /// Somebody asked to end.
    Cancelled,
}

impl PackError {
    pub(crate) fn rule(kind: Kind, what: &'static str) -> PackError {
        PackError { file: None, source: Source::Rule(kind, what) }
    }

    /// The system's error of reading.
    pub(crate) fn reading(error: io::Error) -> PackError {
        PackError { file: None, source: Source::Io(Kind::Read, error) }
    }

    /// The system's error of writing.
    pub(crate) fn writing(error: io::Error) -> PackError {
        PackError { file: None, source: Source::Io(Kind::Write, error) }
    }

    pub(super) fn cancelled() -> PackError {
        PackError { file: None, source: Source::Cancelled }
    }

    /// The same error, at that file unless it names one already.
    #[must_use]
    pub(crate) fn at(mut self, file: impl Into<String>) -> PackError {
        self.file.get_or_insert_with(|| file.into());
        self
    }

    /// What kind of thing went wrong.
    pub fn kind(&self) -> Kind {
        match &self.source {
            Source::Rule(kind, _) => *kind,
            Source::Engine(error) => error.kind,
            Source::Io(kind, _) => *kind,
            Source::Cancelled => Kind::Write,
        }
    }

    /// Whether nothing went wrong but [`CancelToken`](super::CancelToken) was asked.
    pub fn is_cancelled(&self) -> bool {
        matches!(self.source, Source::Cancelled)
    }

    /// The file that the error is about: a path inside the archive, or that of the archive.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// The error of the operating system, if it was one, with its number where there is one. A full
    /// disk is `StorageFull`.
    pub fn io(&self) -> Option<&io::Error> {
        match &self.source {
            Source::Io(_, error) => Some(error),
            _ => None,
        }
    }
}

impl From<Error> for PackError {
    fn from(error: Error) -> PackError {
        PackError { file: None, source: Source::Engine(error) }
    }
}

impl fmt::Display for PackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}: ")?;
        }
        match &self.source {
            Source::Rule(_, what) => f.write_str(what),
            Source::Engine(error) => error.fmt(f),
            Source::Io(_, error) if error.kind() == io::ErrorKind::StorageFull => {
                f.write_str("the disk is full")
            }
            Source::Io(_, error) => error.fmt(f),
            Source::Cancelled => f.write_str("cancelled before the archive was complete"),
        }
    }
}

impl std::error::Error for PackError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.source {
            Source::Rule(..) | Source::Cancelled => None,
            Source::Engine(error) => Some(error),
            Source::Io(_, error) => Some(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_begins_with_the_innermost_file() {
        let error = PackError::rule(Kind::BadArgument, "the path is empty").at("inner").at("outer");
        assert_eq!(error.to_string(), "inner: the path is empty");
        assert_eq!((error.kind(), error.file()), (Kind::BadArgument, Some("inner")));
    }

    #[test]
    fn a_full_disk_says_so() {
        let error = PackError::writing(io::ErrorKind::StorageFull.into()).at("a.nx");
        assert_eq!(error.to_string(), "a.nx: the disk is full");
        assert_eq!(error.kind(), Kind::Write);
    }
}
