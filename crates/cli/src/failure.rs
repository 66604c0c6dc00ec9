//! What can go wrong with one file, and the sentence that says so.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::Path;

use linerate_core::{Error, Kind};

/// Why a file was not done. Its text is one line without the file's name.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The file is not one to work on (a directory, say). A warning.
    Skipped(String),
    /// Doing it would have destroyed something.
    Refused(String),
    /// Reading the input failed at this offset.
    Read { error: io::Error, at: u64 },
    /// Another call of the operating system failed.
    Other { doing: String, error: io::Error },
    /// The input contradicts its format, or a limit.
    Data { kind: Kind, at: u64, what: Cow<'static, str> },
    /// Whoever read our standard output has gone. Not worth a word.
    ClosedPipe,
}

impl Failure {
    pub(crate) fn data(kind: Kind, at: u64, what: impl Into<Cow<'static, str>>) -> Self {
        Failure::Data { kind, at, what: what.into() }
    }

    /// For `map_err`: what was being done, as in "cannot open".
    pub(crate) fn doing(what: impl Into<String>) -> impl FnOnce(io::Error) -> Failure {
        move |error| Failure::Other { doing: what.into(), error }
    }

    /// As [`doing`](Self::doing), with a path after the words.
    pub(crate) fn doing_to(what: &str, path: &Path) -> impl FnOnce(io::Error) -> Failure {
        Failure::doing(format!("{what} {}", path.display()))
    }

    /// An engine's error of reading or writing, with the system's reason where it has one.
    pub(crate) fn system(error: Error) -> Self {
        let reason = match error.os {
            Some(number) => io::Error::from_raw_os_error(number.get()),
            None => io::Error::other(error.message),
        };
        match error.kind {
            Kind::Write => Failure::doing("cannot write")(reason),
            _ => Failure::Read { error: reason, at: error.offset },
        }
    }

    /// The same failure of a second file, beside the one it is reported for.
    pub(crate) fn within(self, file: &str) -> Failure {
        match self {
            Failure::Data { kind, at, what } => Failure::data(kind, at, format!("{file}: {what}")),
            Failure::Read { error, .. } => Failure::Other { doing: format!("{file}: cannot read"), error },
            Failure::Other { doing, error } => Failure::Other { doing: format!("{file}: {doing}"), error },
            Failure::Skipped(what) | Failure::Refused(what) => Failure::Refused(format!("{file}: {what}")),
            Failure::ClosedPipe => Failure::ClosedPipe,
        }
    }

    /// A failure to write standard output.
    pub(crate) fn writing_stdout(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Other { doing: "cannot write standard output".into(), error },
        }
    }

    /// A word for programs: what `--json` gives as "kind".
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Failure::Skipped(_) => "skipped",
            Failure::Refused(_) => "refused",
            Failure::Read { .. } | Failure::Other { .. } | Failure::ClosedPipe => "input/output error",
            Failure::Data { kind, .. } => kind.name(),
        }
    }

    /// The offset in the input, in bytes, if there is one to speak of.
    pub(crate) fn at(&self) -> Option<u64> {
        match self {
            Failure::Read { at, .. } | Failure::Data { at, .. } => Some(*at),
            _ => None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Skipped(what) | Failure::Refused(what) => f.write_str(what),
            Failure::Read { error, at } => write!(f, "cannot read: {} (at byte {at})", plain(error)),
            Failure::Other { doing, error } => write!(f, "{doing}: {}", plain(error)),
            Failure::Data { at, what, .. } => write!(f, "{what} (at byte {at})"),
            Failure::ClosedPipe => f.write_str("the reader of standard output has gone"),
        }
    }
}

/// The error in words, without the number that the standard library appends. That a disk is full is
/// said as such, whatever the system calls it.
fn plain(error: &io::Error) -> String {
    let mut text = error.to_string();
    if let Some(end) = text.rfind(" (os error ")
        && error.raw_os_error().is_some()
    {
        text.truncate(end);
    }
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => format!("the disk is full ({text})"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_say_what_and_where() {
        let missing = Failure::doing("cannot open")(io::Error::from_raw_os_error(2));
        assert_eq!(missing.to_string(), "cannot open: No such file or directory");
        let full = Failure::doing("cannot write")(io::Error::from_raw_os_error(28));
        assert_eq!(full.to_string(), "cannot write: the disk is full (No space left on device)");
        let cut = Failure::data(Kind::Truncated, 7, "the input ends early");
        assert_eq!(cut.to_string(), "the input ends early (at byte 7)");
        assert_eq!((cut.kind(), cut.at()), ("truncated", Some(7)));
    }
}
