//! Reads the envelopes of payloads in either encoding.

use crate::checks::Encoding;
use crate::envelope::Envelope;
use crate::{etf, json};

impl<'p> Envelope<'p> {
    /// Reads the envelope of a payload, which must be exactly one JSON object or one ETF map. For
    /// JSON it checks that brackets match, strings end, the text is UTF-8, and nothing follows, but
    /// not the rest of the grammar. For ETF it checks that all terms have known types and lengths
    /// that end with the payload. If a name occurs twice, the last value counts. Names written with
    /// escapes are not recognised.
    ///
    /// # Errors
    /// Returns a message that tells what is wrong with the payload.
    pub fn read(payload: &'p [u8], encoding: Encoding) -> Result<Self, &'static str> {
        match encoding {
            Encoding::Json => json::envelope(payload),
            Encoding::Etf => etf::envelope(payload),
        }
    }

    /// Reads the envelope without the rest of the payload, to decide whether the payload is worth
    /// parsing. It stops after the last of the three members, which gateways that write JSON put
    /// before the large one, `d`, and checks nothing after that. If a member is missing, the whole
    /// object or map is searched for it. If a name occurs twice before that, the last value counts.
    /// Names written with escapes are not recognised.
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
    /// Returns a message that tells what is wrong, for a payload that is not an object or map, or
    /// is damaged before the end of the last of the three members. In JSON, only the event must be
    /// UTF-8.
    pub fn peek(payload: &'p [u8], encoding: Encoding) -> Result<Self, &'static str> {
        match encoding {
            Encoding::Json => json::peek(payload),
            Encoding::Etf => etf::peek(payload),
        }
    }
}
