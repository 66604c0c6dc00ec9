//! One whole message.

use crate::envelope::Envelope;

/// A whole message. It stands in the scratch it was decoded with, until that is used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message<'s> {
    /// What was sent.
    pub payload: &'s [u8],
    /// How many came before it on this connection.
    pub index: u64,
    /// Compressed bytes, those of earlier fragments too.
    pub compressed: usize,
    /// What the payload says of itself, if [`Checks`](crate::Checks) looked.
    pub envelope: Option<Envelope<'s>>,
}
