//! `CliError`: why a file was not processed, and the message about it.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::Path;

use linerate_core::{Error, Kind};

/// Why a file was not processed. This is displayed as one line without the file's name, which the
/// caller prints before it.
#[derive(Debug)]
pub(crate) enum CliError {
    /// The file was passed over (a directory, for example). Reported as a warning.
    Skipped(String),
    /// The request is impossible as given, or would have destroyed something.
    Refused(String),
    /// Reading the input failed at this offset in bytes.
    Read { error: io::Error, offset: u64 },
    /// Opening or writing a file failed, or another operation that `context` names.
    Io { context: String, error: io::Error },
    /// The input violates its format or a limit at this offset in bytes. Offset 0 also stands for
    /// the whole input.
    Data { kind: Kind, offset: u64, message: Cow<'static, str> },
    /// Standard output is a pipe whose reader has exited. Ends the program without a message.
    ClosedPipe,
}

impl CliError {
    /// Makes the error of an input that violates its format or a limit. What follows a semicolon in
    /// `message` is the remedy, which is displayed after the offset.
    pub(crate) fn data(kind: Kind, offset: u64, message: impl Into<Cow<'static, str>>) -> Self {
        CliError::Data { kind, offset, message: message.into() }
    }

    /// Makes a function for `map_err` that converts an I/O error. `context` says what failed, as in
    /// "cannot open".
    pub(crate) fn io(context: impl Into<String>) -> impl FnOnce(io::Error) -> CliError {
        move |error| CliError::Io { context: context.into(), error }
    }

    /// As [`io`](Self::io), with a path appended to the context.
    pub(crate) fn io_at(context: &str, path: &Path) -> impl FnOnce(io::Error) -> CliError {
        CliError::io(format!("{context} {}", path.display()))
    }

    /// Converts an engine's read or write error, with the operating system's reason if there is
    /// one.
    pub(crate) fn system(error: Error) -> Self {
        let reason = match error.os {
            Some(number) => io::Error::from_raw_os_error(number.get()),
            None => io::Error::other(error.message),
        };
        match error.kind {
            Kind::Write => CliError::io("cannot write")(reason),
            _ => CliError::Read { error: reason, offset: error.offset },
        }
    }

    /// Puts `file` before the message, for an error that is reported for another file. The offset
    /// of an error of reading is lost, and a skipped file becomes a refused one.
    pub(crate) fn in_file(self, file: &str) -> CliError {
        match self {
            CliError::Data { kind, offset, message } => {
                CliError::data(kind, offset, format!("{file}: {message}"))
            }
            CliError::Read { error, .. } => CliError::Io { context: format!("{file}: cannot read"), error },
            CliError::Io { context, error } => CliError::Io { context: format!("{file}: {context}"), error },
            CliError::Skipped(message) | CliError::Refused(message) => {
                CliError::Refused(format!("{file}: {message}"))
            }
            CliError::ClosedPipe => CliError::ClosedPipe,
        }
    }

    /// Converts an error of writing to standard output. That of a pipe without a reader becomes
    /// [`CliError::ClosedPipe`].
    pub(crate) fn stdout_write(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe => CliError::ClosedPipe,
            _ => CliError::Io { context: "cannot write standard output".into(), error },
        }
    }

    /// The value of the key "kind" in the object of `--json`.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            CliError::Skipped(_) => "skipped",
            CliError::Refused(_) => "refused",
            CliError::Read { .. } | CliError::Io { .. } | CliError::ClosedPipe => "input/output error",
            CliError::Data { kind, .. } => kind.name(),
        }
    }

    /// The offset of the error in the input, in bytes. Only errors of reading and of the data have
    /// one.
    pub(crate) fn offset(&self) -> Option<u64> {
        match self {
            CliError::Read { offset, .. } | CliError::Data { offset, .. } => Some(*offset),
            _ => None,
        }
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CliError::Skipped(message) | CliError::Refused(message) => f.write_str(message),
            CliError::Read { error, offset } => {
                write!(f, "cannot read: {}{}", reason(error), AtByte(*offset))
            }
            CliError::Io { context, error } => write!(f, "{context}: {}", reason(error)),
            CliError::Data { offset, message, .. } => match message.split_once("; ") {
                Some((problem, remedy)) => write!(f, "{problem}{}; {remedy}", AtByte(*offset)),
                None => write!(f, "{message}{}", AtByte(*offset)),
            },
            CliError::ClosedPipe => f.write_str("the reader of standard output has exited"),
        }
    }
}

/// An offset in bytes, as it is printed after the problem in a message. Offset 0 is not printed,
/// since such a message is about the whole input.
struct AtByte(u64);

impl fmt::Display for AtByte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 { Ok(()) } else { write!(f, " (at byte {})", self.0) }
    }
}

/// Converts an engine's error. A bad argument becomes a refusal, an error of reading or writing
/// becomes the system's error, and any other an error of the data.
pub(crate) fn engine_error(error: Error) -> CliError {
    match error.kind {
        Kind::BadArgument => CliError::Refused(error.message.into()),
        Kind::Read | Kind::Write => CliError::system(error),
        kind => CliError::data(kind, error.offset, error.message),
    }
}

/// Makes a function that converts an engine's error as [`engine_error`] does, and adds the path
/// `output` to an error of writing. It is for errors that are reported for another file than the
/// one being written.
pub(crate) fn write_error(output: &Path) -> impl Fn(Error) -> CliError {
    move |error| match engine_error(error) {
        CliError::Io { context, error } => {
            CliError::Io { context: format!("{context} {}", output.display()), error }
        }
        other => other,
    }
}

/// The reason of an I/O error, in the operating system's words, or in the words of the engine's
/// error that it wraps. If the disk is full, they follow words that are the same on every system.
fn reason(error: &io::Error) -> String {
    let engine = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    let text = match engine {
        Some(Error { offset: 0, os: None, message, .. }) => (*message).to_owned(),
        _ => linerate_core::system_reason(error),
    };
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => format!("the disk is full ({text})"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_has_the_context_the_reason_and_the_offset() {
        #[cfg(unix)]
        {
            let missing = CliError::io("cannot open")(io::Error::from_raw_os_error(2));
            assert_eq!(missing.to_string(), "cannot open: No such file or directory");
            let full = CliError::io("cannot write")(io::Error::from_raw_os_error(28));
            assert_eq!(full.to_string(), "cannot write: the disk is full (No space left on device)");
        }
        #[cfg(windows)]
        {
            let held = CliError::io("cannot open")(io::Error::from_raw_os_error(32)).to_string();
            assert!(
                held.starts_with("cannot open: ") && !held.contains("os error") && !held.contains(".;"),
                "{held}"
            );
            assert!(held.ends_with("; close the program that has it open, and try again"), "{held}");
            let full = CliError::io("cannot write")(io::Error::from_raw_os_error(112)).to_string();
            assert!(full.starts_with("cannot write: the disk is full (") && full.ends_with(')'), "{full}");
        }
        let cut = CliError::data(Kind::Truncated, 7, "the input ends early");
        assert_eq!(cut.to_string(), "the input ends early (at byte 7)");
        assert_eq!((cut.kind(), cut.offset()), ("truncated", Some(7)));
        let remedy = CliError::data(Kind::Limit, 7, "too much; --max-output raises it");
        assert_eq!(remedy.to_string(), "too much (at byte 7); --max-output raises it");
        let url = Error::new(Kind::BadArgument, 0, "an S3 URL without a key");
        let url = CliError::io("cannot open")(io::Error::other(url));
        assert_eq!(url.to_string(), "cannot open: an S3 URL without a key");
        let whole = CliError::data(Kind::Limit, 0, "the samples take more bytes than the limit");
        assert_eq!(whole.to_string(), "the samples take more bytes than the limit");
    }
}
