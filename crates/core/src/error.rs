//! The error type of all engines: small, `Copy`, no allocation.

use core::fmt;
use core::num::NonZeroI32;

/// A result whose error is [`Error`].
pub type Result<T> = core::result::Result<T, Error>;

/// Category of an error, for callers to branch on. [`Error::message`] is for users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The input ends early.
    Truncated,
    /// The input violates its format or its checksum.
    Corrupt,
    /// The input is valid but uses an unsupported feature.
    Unsupported,
    /// The output buffer is too small. The call changed nothing, except that the contents of the
    /// output buffer are unspecified.
    OutputTooSmall,
    /// The caller made an invalid request, such as passing data after the end of a stream.
    BadArgument,
    /// The operation would exceed a limit that the caller or the library sets, such as one of
    /// memory or output size, or an allocation has failed.
    Limit,
    /// Reading from a file, a device or a server failed. [`Error::os`] may say why.
    Read,
    /// Writing failed, or an output could not be created. [`Error::os`] may say why.
    Write,
}

impl Kind {
    /// Returns a short name for messages and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Truncated => "truncated",
            Kind::Corrupt => "corrupt",
            Kind::Unsupported => "unsupported",
            Kind::OutputTooSmall => "output too small",
            Kind::BadArgument => "bad argument",
            Kind::Limit => "limit exceeded",
            Kind::Read => "cannot read",
            Kind::Write => "cannot write",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An error of an engine: its [`Kind`], the byte offset where it was found, a message, and the
/// operating system's error number, if there is one.
///
/// ```
/// use linerate_core::{Error, Kind};
/// let e = Error::new(Kind::Truncated, 17, "the stream ends inside its header");
/// assert_eq!(e.to_string(), "the stream ends inside its header (at byte 17)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    /// The category.
    pub kind: Kind,
    /// Offset in bytes. Most operations document which buffer or stream it counts from.
    pub offset: u64,
    /// The message, without a full stop.
    pub message: &'static str,
    /// The operating system's error number (`errno`, `GetLastError`), for [`Kind::Read`] and
    /// [`Kind::Write`].
    pub os: Option<NonZeroI32>,
}

impl Error {
    /// Creates an error without an operating system error number.
    pub const fn new(kind: Kind, offset: u64, message: &'static str) -> Self {
        Error { kind, offset, message, os: None }
    }

    /// Creates an error of [`Kind::Corrupt`] at offset 0. The caller [shifts](Error::shifted) it to
    /// its place.
    pub const fn corrupt(message: &'static str) -> Self {
        Error::new(Kind::Corrupt, 0, message)
    }

    /// Converts an I/O error and keeps the system's error number. `kind` is [`Kind::Read`] or
    /// [`Kind::Write`]. If `error` wraps an [`Error`], as the errors of remote sources do, the
    /// wrapped error is returned unchanged.
    #[cfg(feature = "std")]
    pub fn from_io(kind: Kind, offset: u64, message: &'static str, error: &std::io::Error) -> Self {
        if let Some(inner) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
            return *inner;
        }
        Error::new(kind, offset, message).with_os(error.raw_os_error())
    }

    /// Returns the same error with this operating system error number.
    #[must_use]
    pub const fn with_os(self, number: Option<i32>) -> Self {
        let os = match number {
            Some(number) => NonZeroI32::new(number),
            None => None,
        };
        Error { os, ..self }
    }

    /// Returns the same error with another kind.
    #[must_use]
    pub const fn with_kind(self, kind: Kind) -> Self {
        Error { kind, ..self }
    }

    /// Returns the same error at another offset.
    #[must_use]
    pub const fn with_offset(self, offset: u64) -> Self {
        Error { offset, ..self }
    }

    /// Returns the same error with `base` added to its offset, for a part of a larger input.
    #[must_use]
    pub const fn shifted(self, base: u64) -> Self {
        Error { offset: self.offset.saturating_add(base), ..self }
    }

    /// Returns the message with the system's reason and without the offset, for messages that name
    /// a file.
    ///
    /// ```
    /// use linerate_core::{Error, Kind};
    /// let e = Error::new(Kind::Write, 0, "cannot write").with_os(Some(28));
    /// # #[cfg(target_os = "linux")]
    /// assert_eq!(e.reason().to_string(), "cannot write: No space left on device");
    /// ```
    pub const fn reason(&self) -> Reason {
        Reason(*self)
    }
}

/// Displays [`Error::reason`].
#[derive(Clone, Copy, Debug)]
pub struct Reason(Error);

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.message)?;
        let Some(number) = self.0.os else { return Ok(()) };
        #[cfg(feature = "std")]
        return write!(f, ": {}", system_reason(&std::io::Error::from_raw_os_error(number.get())));
        #[cfg(not(feature = "std"))]
        write!(f, ": system error {number}")
    }
}

/// Returns the system's text for an error, without the number that the standard library appends and
/// without a full stop. An error without a number keeps its text. On Windows, where another program
/// can keep a file from being opened or replaced, the text of such an error ends with a remedy.
///
/// ```
/// # #[cfg(target_os = "linux")]
/// # {
/// let error = std::io::Error::from_raw_os_error(28);
/// assert_eq!(linerate_core::system_reason(&error), "No space left on device");
/// # }
/// ```
#[cfg(feature = "std")]
pub fn system_reason(error: &std::io::Error) -> String {
    let mut text = error.to_string();
    let Some(number) = error.raw_os_error() else { return text };
    if let Some(end) = text.rfind(" (os error ") {
        text.truncate(end);
    }
    text.truncate(text.trim_end().trim_end_matches('.').len());
    if let Some(remedy) = remedy(number) {
        text.push_str("; ");
        text.push_str(remedy);
    }
    text
}

/// Returns what a user can do about a Windows error, if anything.
#[cfg(feature = "std")]
fn remedy(number: i32) -> Option<&'static str> {
    const ERROR_SHARING_VIOLATION: i32 = 32;
    const ERROR_LOCK_VIOLATION: i32 = 33;
    const ERROR_USER_MAPPED_FILE: i32 = 1224;
    match number {
        ERROR_SHARING_VIOLATION | ERROR_LOCK_VIOLATION | ERROR_USER_MAPPED_FILE if cfg!(windows) => {
            Some("close the program that has it open, and try again")
        }
        _ => None,
    }
}

/// Displays the message, the system's reason and the offset. Offset 0 is shown only for errors in
/// the input: a bad argument, an exceeded limit or a failed file has no place in the input.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.reason(), f)?;
        let is_of_input = matches!(self.kind, Kind::Truncated | Kind::Corrupt | Kind::Unsupported);
        if is_of_input || self.offset > 0 { write!(f, " (at byte {})", self.offset) } else { Ok(()) }
    }
}

impl core::error::Error for Error {}

#[cfg(feature = "std")]
impl From<Error> for std::io::Error {
    fn from(e: Error) -> Self {
        use std::io::ErrorKind;
        let kind = match e.kind {
            Kind::Truncated => ErrorKind::UnexpectedEof,
            Kind::Corrupt => ErrorKind::InvalidData,
            Kind::Unsupported => ErrorKind::Unsupported,
            Kind::BadArgument | Kind::OutputTooSmall => ErrorKind::InvalidInput,
            Kind::Read | Kind::Write if e.os.is_some() => {
                e.os.map_or(ErrorKind::Other, |n| std::io::Error::from_raw_os_error(n.get()).kind())
            }
            Kind::Limit | Kind::Read | Kind::Write => ErrorKind::Other,
        };
        std::io::Error::new(kind, e)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_and_result_have_at_most_32_bytes() {
        assert!(size_of::<Error>() <= 32);
        assert!(size_of::<Result<usize>>() <= 32);
    }

    #[cfg(feature = "std")]
    #[test]
    fn kinds_have_distinct_names() {
        use Kind::{BadArgument, Corrupt, Limit, OutputTooSmall, Read, Truncated, Unsupported, Write};
        let all = [Truncated, Corrupt, Unsupported, OutputTooSmall, BadArgument, Limit, Read, Write];
        let names: std::collections::BTreeSet<_> = all.map(|kind| kind.to_string()).into();
        assert_eq!(names.len(), all.len());
        assert_eq!(OutputTooSmall.to_string(), "output too small");
    }

    #[test]
    fn shifted_offset_saturates() {
        let e = Error::new(Kind::Corrupt, 5, "x").with_kind(Kind::Limit);
        assert_eq!(e.kind, Kind::Limit);
        assert_eq!(e.shifted(10).offset, 15);
        assert_eq!(e.shifted(u64::MAX).offset, u64::MAX);
    }

    #[cfg(feature = "std")]
    #[test]
    fn offset_0_is_shown_for_input_errors_only() {
        let e = Error::new(Kind::BadArgument, 0, "a session that has ended");
        assert_eq!(e.to_string(), "a session that has ended");
        assert_eq!(e.with_kind(Kind::Limit).shifted(3).to_string(), "a session that has ended (at byte 3)");
        assert_eq!(e.with_kind(Kind::Corrupt).to_string(), "a session that has ended (at byte 0)");
    }

    #[cfg(all(feature = "std", unix, not(miri)))] // other systems have other texts
    #[test]
    fn os_error_number_survives_conversion_in_both_directions() {
        let io = std::io::Error::from_raw_os_error(28);
        let e = Error::from_io(Kind::Write, 0, "cannot write", &io);
        assert_eq!(e.os.map(NonZeroI32::get), Some(28));
        assert_eq!(e.to_string(), "cannot write: No space left on device");
        assert_eq!(e.with_offset(7).to_string(), "cannot write: No space left on device (at byte 7)");
        let back: std::io::Error = e.into();
        assert_eq!(back.kind(), std::io::ErrorKind::StorageFull);
        // `back` contains `e`, so converting it gives `e`, not an error of the kind, offset and
        // message passed here.
        assert_eq!(Error::from_io(Kind::Read, 3, "cannot read", &back), e);
        assert_eq!(Error::from_io(Kind::Read, 3, "no number", &std::io::ErrorKind::Other.into()).os, None);
    }

    #[cfg(all(feature = "std", unix, not(miri)))] // other systems have other texts
    #[test]
    fn windows_remedy_is_not_added_on_other_systems() {
        assert_eq!(system_reason(&std::io::Error::from_raw_os_error(32)), "Broken pipe");
    }

    #[cfg(feature = "std")]
    #[test]
    fn io_error_keeps_the_message() {
        let io: std::io::Error = Error::new(Kind::Truncated, 3, "ends early").into();
        assert_eq!(io.kind(), std::io::ErrorKind::UnexpectedEof);
        assert_eq!(io.to_string(), "ends early (at byte 3)");
    }
}
