//! Checks of each payload that detect lost or damaged messages.

/// Encoding of payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// One JSON object.
    Json,
    /// One map in Erlang's external term format (ETF).
    Etf,
}

/// Checks of each payload.
///
/// Neither stream format has a checksum. After a lost message or a flipped bit, later messages may
/// decode to wrong bytes without any error. These checks cost one pass over the payload and catch
/// most of that: they reject payloads that are not exactly one object or map, and gaps in the
/// sequence numbers. They do not detect damage that leaves a valid object with the expected
/// sequence number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checks {
    /// Encoding that each payload must have. Default: not checked.
    pub encoding: Option<Encoding>,
    /// Whether sequence numbers must increase by one. Needs `encoding`.
    pub sequence: bool,
}

impl Checks {
    /// No checks.
    pub const NONE: Checks = Checks { encoding: None, sequence: false };

    /// Each payload must be exactly one object (JSON) or map (ETF), as `encoding` says.
    pub const fn complete(encoding: Encoding) -> Self {
        Checks { encoding: Some(encoding), sequence: false }
    }

    /// Whether each sequence number, where a payload has one, must be the previous one plus one.
    #[must_use]
    pub const fn sequence(self, sequence: bool) -> Self {
        Checks { sequence, ..self }
    }
}
