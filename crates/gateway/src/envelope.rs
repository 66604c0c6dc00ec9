//! Opcode, sequence number and event of a payload.

// Bits that stand for the members of an envelope; `MEMBERS` has all of them.
pub(crate) const OP: u8 = 1;
pub(crate) const SEQUENCE: u8 = 2;
pub(crate) const EVENT: u8 = 4;
pub(crate) const MEMBERS: u8 = OP | SEQUENCE | EVENT;

/// Opcode, sequence number and event of a payload. A field is `None` if the payload has no such
/// member or its value has another type. The rest of the payload is not parsed: JSON is scanned for
/// brackets and strings, ETF is skipped by the lengths of its terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Envelope<'p> {
    /// `op`: the opcode; 0 for events.
    pub op: Option<u64>,
    /// `s`: the sequence number of an event.
    pub sequence: Option<u64>,
    /// `t`: the name of an event as it is written; escapes are not decoded. `None` if it is null or
    /// `nil`.
    pub event: Option<&'p str>,
}
