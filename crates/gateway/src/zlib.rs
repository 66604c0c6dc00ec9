//! Messages of a zlib stream: each ends with an empty stored block (a sync flush), whose last four bytes are
//! `00 00 FF FF`.
//!
//! The same bytes can occur elsewhere. When a fragment ends with them, the message is decoded; it is complete
//! only if decoding ends directly after an empty stored block.

use linerate_core::{Error, Kind};
use linerate_inflate::{BlockDecoder, Status, Window};

use crate::limits::Limits;
use crate::payload::Payload;
use crate::scratch::Scratch;

/// End of an empty stored block: length 0 and its complement (RFC 1951, section 3.2.4).
const FLUSH_MARKER: [u8; 4] = [0, 0, 0xff, 0xff];
/// Bytes of the stream header (RFC 1950, section 2.2).
const HEADER: usize = 2;
/// Output space reserved at once, in bytes.
const OUTPUT_SPACE: usize = 16 << 10;

#[derive(Default)]
pub(crate) struct Zlib {
    /// Output before the current message; the message itself is in the payload.
    window: Window<'static>,
    blocks: BlockDecoder,
    header_read: bool,
    /// Fragments that are not decoded yet.
    pending: Vec<u8>,
    /// Compressed bytes of the message before `pending`.
    consumed: u64,
}

impl Zlib {
    pub(crate) fn reset(&mut self) {
        // Frees the history too: a connection may be idle for long before it is used again.
        *self = Self::default();
    }

    /// Bytes held on the heap.
    pub(crate) fn memory(&self) -> usize {
        size_of::<Self>() + self.window.memory() + self.pending.capacity()
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
        if self.pending.is_empty() && src.ends_with(&FLUSH_MARKER) {
            return self.decode(src, scratch, limits);
        }
        if !self.pending.is_empty() && self.pending.len() + src.len() > limits.max_compressed() {
            return Err(Payload::TOO_LONG.shifted(self.consumed + self.pending.len() as u64));
        }
        self.pending.extend_from_slice(src);
        if !self.pending.ends_with(&FLUSH_MARKER) {
            return self.check_pending().map(|()| false);
        }
        let pending = std::mem::take(&mut self.pending);
        self.decode(&pending, scratch, limits)
    }

    /// Checks the header before the rest of the message is here.
    fn check_pending(&mut self) -> Result<(), Error> {
        match self.pending.first_chunk() {
            Some(&header) if !self.header_read => check_header(header),
            _ => Ok(()),
        }
    }

    /// Decodes bytes that may be the end of a message; returns whether they are.
    fn decode(&mut self, src: &[u8], scratch: &mut Scratch, limits: &Limits) -> Result<bool, Error> {
        let mut at = 0;
        if !self.header_read
            && let Some(&header) = src.first_chunk()
        {
            check_header(header)?;
            (self.header_read, at) = (true, HEADER);
        }
        let (payload, tables) = scratch.for_zlib();
        let limit = limits.max_message;
        loop {
            let base = self.consumed + at as u64;
            let (out, len) = payload.output(OUTPUT_SPACE, limit).map_err(|e| e.shifted(base))?;
            let progress = self
                .blocks
                .decode(tables, &self.window, &src[at..], out, len)
                .map_err(|e| e.shifted(base))?;
            at += progress.read;
            payload
                .set_len(len + progress.written, limit)
                .map_err(|e| e.shifted(self.consumed + at as u64))?;
            if progress.status != Status::NeedOutput {
                break;
            }
        }
        if self.blocks.is_final() {
            return Err(Error::new(Kind::Corrupt, self.consumed + at as u64, "the zlib stream ends"));
        }
        if !self.blocks.is_flushed() {
            self.consumed += src.len() as u64;
            return Ok(false);
        }
        self.window.push(payload.bytes()).map_err(|e| e.shifted(self.consumed))?;
        self.consumed = 0;
        Ok(true)
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
