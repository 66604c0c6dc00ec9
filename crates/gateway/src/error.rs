//! The error of a session: the decoder's error and the message it occurred in.

use std::fmt;

use linerate_core::{Error, Kind};

/// A result whose error is [`SessionError`].
pub type Result<T, E = SessionError> = std::result::Result<T, E>;

/// An error of a connection: what happened, and in which message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionError {
    /// The error. Its `offset` counts compressed bytes from the beginning of the connection.
    pub error: Error,
    /// Index of the message, from 0: the number of whole messages before it.
    pub message_index: u64,
}

impl SessionError {
    /// Kind of the error.
    pub const fn kind(&self) -> Kind {
        self.error.kind
    }

    /// Number of compressed bytes of the connection before the error.
    pub const fn offset(&self) -> u64 {
        self.error.offset
    }
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "message {}: {}", self.message_index, self.error)
    }
}

impl std::error::Error for SessionError {}

impl From<SessionError> for std::io::Error {
    fn from(error: SessionError) -> Self {
        let kind = match error.kind() {
            Kind::Truncated => std::io::ErrorKind::UnexpectedEof,
            _ => std::io::ErrorKind::InvalidData,
        };
        std::io::Error::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_names_message_and_offset_and_io_errors_keep_the_kind() {
        let error = |kind| SessionError { error: Error::new(kind, 17, "a reason"), message_index: 3 };
        assert_eq!(error(Kind::Corrupt).to_string(), "message 3: a reason (at byte 17)");
        assert_eq!(error(Kind::Corrupt).offset(), 17);
        let kind = |kind| std::io::Error::from(error(kind)).kind();
        assert_eq!(kind(Kind::Truncated), std::io::ErrorKind::UnexpectedEof);
        assert_eq!(kind(Kind::Limit), std::io::ErrorKind::InvalidData);
    }
}
