//! Envelopes of payloads in either encoding.

use crate::checks::Encoding;
use crate::envelope::Envelope;
use crate::{etf, json};

impl<'p> Envelope<'p> {
    /// Reads the envelope of a payload, which must be exactly one object, or one term that is a map: brackets
    /// match, strings end, text is UTF-8, and nothing follows. The rest of JSON's grammar is not checked.
    ///
    /// # Errors
    /// A message that says what is wrong.
    pub fn read(payload: &'p [u8], encoding: Encoding) -> Result<Self, &'static str> {
        match encoding {
            Encoding::Json => json::envelope(payload),
            Encoding::Etf => etf::envelope(payload),
        }
    }

    /// Reads the envelope without the rest of the payload, to decide whether it is worth parsing. Stops after
    /// the last of the three members, which gateways that write JSON put before the large one, `d`; bytes
    /// after that are not checked. A missing member is searched for up to the end. Of duplicate names either
    /// may be used, and names written with escapes are not recognised.
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
    /// A message that says what is wrong, for a payload that is not an object or map, or is damaged before the
    /// last of the members.
    pub fn peek(payload: &'p [u8], encoding: Encoding) -> Result<Self, &'static str> {
        match encoding {
            Encoding::Json => json::peek(payload),
            Encoding::Etf => etf::peek(payload),
        }
    }
}
