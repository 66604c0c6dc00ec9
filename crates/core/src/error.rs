//! The one error type of all engines: small, `Copy`, without heap.

use core::fmt;

/// A result whose error is [`Error`].
pub type Result<T> = core::result::Result<T, Error>;

/// What kind of thing went wrong. Callers branch on this; people read [`Error::what`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The input ended before its format said it would.
    Truncated,
    /// The input contradicts its format or its checksum.
    Corrupt,
    /// The input is valid, but uses something this implementation does not offer.
    Unsupported,
    /// The output buffer cannot hold the result. Nothing the caller owns has changed, except
    /// that the contents of the output buffer are unspecified.
    OutputTooSmall,
    /// The caller asked for something that has no meaning, such as data after the end.
    BadArgument,
    /// A limit set by the caller (memory, output size) would be exceeded.
    Limit,
    /// Reading or writing failed outside this library.
    Io,
}

impl Kind {
    /// A short name in plain words, for messages and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Truncated => "truncated",
            Kind::Corrupt => "corrupt",
            Kind::Unsupported => "unsupported",
            Kind::OutputTooSmall => "output too small",
            Kind::BadArgument => "bad argument",
            Kind::Limit => "limit exceeded",
            Kind::Io => "input/output error",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An error of an engine: its [`Kind`], the byte offset it was seen at, and a sentence.
///
/// ```
/// use linerate_core::{Error, Kind};
/// let e = Error::new(Kind::Truncated, 17, "the stream ends inside its header");
/// assert_eq!(e.to_string(), "the stream ends inside its header (at byte 17)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// What kind of thing went wrong.
    pub kind: Kind,
    /// Offset in bytes, in the buffer or stream that the operation documents.
    pub at: u64,
    /// What is wrong, in words, without a full stop.
    pub what: &'static str,
}

impl Error {
    /// Makes an error.
    pub const fn new(kind: Kind, at: u64, what: &'static str) -> Self {
        Error { kind, at, what }
    }

    /// The same error, seen from `base` bytes further out: for a part of a larger input.
    #[must_use]
    pub const fn shifted(self, base: u64) -> Self {
        Error { at: self.at.saturating_add(base), ..self }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.what, self.at)
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
            Kind::Limit | Kind::Io => ErrorKind::Other,
        };
        std::io::Error::new(kind, e)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_small_enough_to_return_in_registers_or_one_cache_line() {
        assert!(size_of::<Error>() <= 32);
        assert!(size_of::<Result<usize>>() <= 32);
    }

    #[test]
    fn shifting_saturates() {
        let e = Error::new(Kind::Corrupt, 5, "x");
        assert_eq!(e.shifted(10).at, 15);
        assert_eq!(e.shifted(u64::MAX).at, u64::MAX);
    }

    #[cfg(feature = "std")]
    #[test]
    fn io_error_keeps_the_sentence() {
        let io: std::io::Error = Error::new(Kind::Truncated, 3, "ends early").into();
        assert_eq!(io.kind(), std::io::ErrorKind::UnexpectedEof);
        assert_eq!(io.to_string(), "ends early (at byte 3)");
    }
}
