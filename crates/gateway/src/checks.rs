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
/// Neither stream format has a checksum for each message. After a lost message or a flipped bit,
/// later messages may decode to wrong bytes without any error. These checks read the payload again
/// and catch most of that: they reject payloads that are not exactly one object or map, as far as
/// [`Envelope::read`](crate::Envelope::read) checks it, and sequence numbers that are not the next
/// one. They do not detect damage that keeps the structure and the sequence number, such as another
/// letter in a string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checks {
    /// Encoding that each payload must have. Default: not checked.
    pub encoding: Option<Encoding>,
    /// Whether sequence numbers must increase by one. Default: not checked. Ignored without
    /// `encoding`.
    pub sequence: bool,
}

impl Checks {
    /// No checks.
    pub const NONE: Checks = Checks { encoding: None, sequence: false };

    /// Each payload must be exactly one object (JSON) or map (ETF), as `encoding` says.
    pub const fn complete(encoding: Encoding) -> Self {
        Checks { encoding: Some(encoding), sequence: false }
    }

    /// Sets whether each sequence number must be the previous one plus one. Payloads without a
    /// number are skipped. The first number of a connection may be any, except after
    /// [`Session::resume_after`](crate::Session::resume_after).
    #[must_use]
    pub const fn sequence(self, sequence: bool) -> Self {
        Checks { sequence, ..self }
    }
}
