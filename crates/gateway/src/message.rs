//! A decoded message.

use crate::envelope::Envelope;

/// A decoded message. It borrows the scratch that it was decoded with, or the caller's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message<'s> {
    /// The decompressed payload.
    pub payload: &'s [u8],
    /// Index of the message on this connection, from 0.
    pub index: u64,
    /// Number of compressed bytes of the message, including its earlier fragments.
    pub compressed: usize,
    /// Opcode, sequence number and event of the payload, if [`Checks`](crate::Checks) read them.
    pub envelope: Option<Envelope<'s>>,
}
