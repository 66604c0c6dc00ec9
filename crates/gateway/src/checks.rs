//! What tells that a message was lost.

/// How payloads are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// One JSON object.
    Json,
    /// One term in Erlang's external term format.
    Etf,
}

/// What is looked at in each payload.
///
/// Neither format has a checksum on these streams. If a message is lost on the way or a bit is changed,
/// the ones after it may decode to something else without any error. These checks, which cost a walk over
/// the payload, catch most of that: payloads that are not exactly one object or term, and sequence
/// numbers that do not count up. What is still a sound object with the right number is not caught.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checks {
    /// What each payload must be one of.
    pub encoding: Option<Encoding>,
    /// Whether sequence numbers must count up by one.
    pub sequence: bool,
}

impl Checks {
    /// None.
    pub const NONE: Checks = Checks { encoding: None, sequence: false };

    /// Each payload is exactly one object or term of `encoding`.
    pub const fn complete(encoding: Encoding) -> Self {
        Checks { encoding: Some(encoding), sequence: false }
    }

    /// Also, where it has a sequence number, that is one more than the one before.
    #[must_use]
    pub const fn with_sequence(self) -> Self {
        Checks { sequence: true, ..self }
    }
}
