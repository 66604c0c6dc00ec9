//! What a payload says of itself.

use crate::checks::Encoding;
use crate::{etf, json};

/// The members of a payload that say what it is, found without reading the rest as more than brackets
/// and strings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Envelope<'p> {
    /// `op`: the opcode; 0 for events.
    pub op: Option<u64>,
    /// `s`: the sequence number of an event.
    pub sequence: Option<u64>,
    /// `t`: the name of an event, as it is written, escapes and all.
    pub event: Option<&'p str>,
}

impl<'p> Envelope<'p> {
    /// Reads it. The payload must be exactly one object, or one term that is a map: brackets match,
    /// strings end, text is UTF-8, and nothing follows. More of JSON's grammar is not checked.
    ///
    /// # Errors
    /// A sentence.
    pub fn read(payload: &'p [u8], encoding: Encoding) -> Result<Self, &'static str> {
        match encoding {
            Encoding::Json => json::envelope(payload),
            Encoding::Etf => etf::envelope(payload),
        }
    }
}
