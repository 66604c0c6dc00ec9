//! What went wrong on a connection, and where.

use std::fmt;

use linerate_core::{Error, Kind};

/// A result whose error is [`Fault`].
pub type Result<T, E = Fault> = std::result::Result<T, E>;

/// An error of a session. `error.at` counts compressed bytes from the beginning of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What went wrong, and at which compressed byte of the connection.
    pub error: Error,
    /// The message that it went wrong in: how many came whole before it.
    pub message: u64,
}

impl Fault {
    /// What kind of thing went wrong.
    pub const fn kind(&self) -> Kind {
        self.error.kind
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "message {}: {}", self.message, self.error)
    }
}

impl std::error::Error for Fault {}

impl From<Fault> for std::io::Error {
    fn from(fault: Fault) -> Self {
        let kind = match fault.kind() {
            Kind::Truncated => std::io::ErrorKind::UnexpectedEof,
            _ => std::io::ErrorKind::InvalidData,
        };
        std::io::Error::new(kind, fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_where_and_becomes_an_error_of_input() {
        let fault = |kind| Fault { error: Error::new(kind, 17, "a reason"), message: 3 };
        assert_eq!(fault(Kind::Corrupt).to_string(), "message 3: a reason (at byte 17)");
        let kind = |kind| std::io::Error::from(fault(kind)).kind();
        assert_eq!(kind(Kind::Truncated), std::io::ErrorKind::UnexpectedEof);
        assert_eq!(kind(Kind::Limit), std::io::ErrorKind::InvalidData);
    }
}
