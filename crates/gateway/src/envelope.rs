//! What a payload says of itself.

use crate::checks::Encoding;
use crate::{etf, json};

/// Members that an envelope has.
pub(crate) const MEMBERS: usize = 3;

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

    /// Reads only as far as it must, so that a caller can tell whether a payload is worth parsing: up to
    /// the last of the three members, which gateways that write JSON put before the large one, `d`. What
    /// comes behind is not looked at and may be anything. A member that is missing is looked for up to
    /// the end; of two with the same name either may be taken, and a name that is written with escapes
    /// is another one.
    ///
    /// ```
    /// use linerate_gateway::{Encoding, Envelope};
    ///
    /// let payload = br#"{"t":"TYPING_START","s":7,"op":0,"d":{"user_id":"1"}}"#;
    /// let envelope = Envelope::peek(payload, Encoding::Json).unwrap();
    /// assert_eq!((envelope.op, envelope.sequence, envelope.event), (Some(0), Some(7), Some("TYPING_START")));
    /// ```
    ///
    /// # Errors
    /// A sentence, for what is no object or map, or is damaged before the last of the members.
    pub fn peek(payload: &'p [u8], encoding: Encoding) -> Result<Self, &'static str> {
        match encoding {
            Encoding::Json => json::peek(payload),
            Encoding::Etf => etf::peek(payload),
        }
    }
}
