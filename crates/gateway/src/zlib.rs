//! Messages of a zlib stream: each ends with an empty stored block (a sync flush), whose last four bytes are
//! `00 00 FF FF`.
//!
//! The same bytes can occur elsewhere. When a fragment ends with them, the message is decoded; it is complete
//! only if decoding ends directly after an empty stored block.

use linerate_core::{Error, Kind};

use crate::inflate::{Bits, Blocks, History, MessageEnd};
use crate::limits::Limits;
use crate::payload::Payload;
use crate::scratch::Scratch;

/// End of an empty stored block: length 0 and its complement (RFC 1951, section 3.2.4).
const FLUSH_MARKER: [u8; 4] = [0, 0, 0xff, 0xff];
/// Bytes of the stream header (RFC 1950, section 2.2).
const HEADER: usize = 2;
/// Limit on decoded and discarded bytes of fragments that only looked like the end of a message, as a multiple
/// of the largest payload.
const MAX_DISCARDED_FACTOR: usize = 4;

#[derive(Default)]
pub(crate) struct Zlib {
    history: History,
    header_read: bool,
    /// Compressed bytes from the incomplete block on.
    pending: Vec<u8>,
    /// Bit position of that block in `pending`.
    bits: Bits,
    /// Compressed bytes of the message before `pending`.
    consumed: u64,
    /// Decoded bytes of incomplete blocks that were discarded.
    discarded: usize,
}

impl Zlib {
    pub(crate) fn reset(&mut self) {
        // Frees the history too: a connection may be idle for long before it is used again.
        *self = Self::default();
    }

    /// Bytes held on the heap.
    pub(crate) fn memory(&self) -> usize {
        self.history.memory() + self.pending.capacity()
    }

    /// Decodes a fragment and appends it to the payload; returns whether the message is complete.
    ///
    /// # Errors
    /// With offsets from the beginning of the message.
    pub(crate) fn fragment(
        &mut self,
        src: &[u8],
        scratch: &mut Scratch,
        limits: &Limits,
    ) -> Result<bool, Error> {
        if self.pending.is_empty() {
            let Some(used) = self.decode(src, scratch, limits)? else { return Ok(true) };
            self.pending = src[used..].to_vec();
            return Ok(false);
        }
        let mut joined = std::mem::take(&mut self.pending);
        if joined.len() + src.len() > limits.max_compressed() {
            return Err(Payload::TOO_LONG.shifted(self.consumed + joined.len() as u64));
        }
        joined.extend_from_slice(src);
        let Some(used) = self.decode(&joined, scratch, limits)? else { return Ok(true) };
        joined.drain(..used);
        self.pending = joined;
        Ok(false)
    }

    /// Decodes a message if it ends with the marker. Returns `None` if it is complete, otherwise how many bytes
    /// at the beginning were decoded for good.
    fn decode(&mut self, src: &[u8], scratch: &mut Scratch, limits: &Limits) -> Result<Option<usize>, Error> {
        if !self.header_read
            && let Some(&header) = src.first_chunk()
        {
            check_header(header)?;
            self.header_read = true;
            self.bits.at = HEADER;
        }
        if !self.header_read || !src.ends_with(&FLUSH_MARKER) {
            return Ok(Some(0));
        }
        let (payload, tables) = scratch.for_zlib();
        let limit = limits.max_message;
        let (history, bits) = (&self.history, self.bits);
        let mut blocks = Blocks { tables, history, payload, limit, fast: true, bits };
        let end = blocks.decode(src).map_err(|e| e.shifted(self.consumed))?;
        let used = blocks.bits.at;
        match end {
            MessageEnd::Flushed => {
                let no_memory = Error::new(Kind::Limit, self.consumed, "out of memory for the history");
                self.history.push(scratch.payload.bytes()).map_err(|_| no_memory)?;
                (self.bits, self.consumed, self.discarded) = (Bits::default(), 0, 0);
                Ok(None)
            }
            MessageEnd::Incomplete { discarded } => {
                self.discarded += discarded;
                if self.discarded / MAX_DISCARDED_FACTOR > limit {
                    let offset = self.consumed + src.len() as u64;
                    return Err(Error::new(
                        Kind::Limit,
                        offset,
                        "too many fragments look like the end of a message",
                    ));
                }
                self.bits = Bits { at: 0, ..blocks.bits };
                self.consumed += used as u64;
                Ok(Some(used))
            }
        }
    }
}

/// Checks the stream header: check value, method 8, window of at most 32 KiB, no dictionary.
fn check_header(header: [u8; HEADER]) -> Result<(), Error> {
    let [method, flags] = header;
    if !u16::from_be_bytes(header).is_multiple_of(31) || method & 15 != 8 || method >> 4 > 7 {
        return Err(Error::new(Kind::Corrupt, 0, "this is not a zlib stream"));
    }
    if flags & 0x20 != 0 {
        return Err(Error::new(Kind::Unsupported, 0, "the zlib stream needs a dictionary"));
    }
    Ok(())
}
