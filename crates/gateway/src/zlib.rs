//! Decodes the messages of a zlib stream. Each ends with an empty stored block (a sync flush),
//! whose last four bytes are `00 00 FF FF`.
//!
//! The same bytes can occur elsewhere, so they do not tell where a message ends. Instead, each
//! fragment is decoded when it arrives, and the message is complete if decoding ends directly after
//! an empty stored block. Invalid data is thus an error in the fragment that has it, even if no
//! flush ever follows.

use linerate_core::{Error, Kind};
use linerate_inflate::{BlockDecoder, Status, Window};

use crate::limits::Limits;
use crate::payload::Payload;
use crate::scratch::Scratch;

/// Size of the stream header in bytes (RFC 1950, section 2.2).
const HEADER: usize = 2;
/// Output space that is reserved at a time, in bytes.
const OUTPUT_SPACE: usize = 16 << 10;

#[derive(Default)]
pub(crate) struct Zlib {
    /// Output of earlier messages. The output of the current message is in the payload.
    window: Window<'static>,
    blocks: BlockDecoder,
    header: [u8; HEADER],
    /// Number of header bytes received.
    header_len: usize,
    /// Number of compressed bytes of the current message in earlier fragments.
    consumed: u64,
}

impl Zlib {
    pub(crate) fn reset(&mut self) {
        // Frees the history, too: it may be long before the session is used again.
        *self = Self::default();
    }

    /// Number of bytes held on the heap.
    pub(crate) fn memory(&self) -> usize {
        size_of::<Self>() + self.window.memory()
    }

    /// Decodes a fragment and appends it to the payload. Returns whether the message is complete.
    ///
    /// # Errors
    /// Returns the errors of [`Session::message`](crate::Session::message). Offsets count from the
    /// beginning of the message.
    pub(crate) fn fragment(
        &mut self,
        src: &[u8],
        scratch: &mut Scratch,
        limits: &Limits,
    ) -> Result<bool, Error> {
        let mut at = self.header_bytes(src)?;
        if at == src.len() {
            self.consumed += at as u64;
            return Ok(false);
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
            // Empty blocks never reach the limit on payloads, so compressed bytes have a limit,
            // too.
            let is_too_long = self.consumed > limits.max_compressed() as u64;
            return if is_too_long { Err(Payload::TOO_LONG.shifted(self.consumed)) } else { Ok(false) };
        }
        self.window.push(payload.bytes()).map_err(|e| e.shifted(self.consumed))?;
        self.consumed = 0;
        Ok(true)
    }

    /// Takes the missing bytes of the stream header from the beginning of `src`. Returns how many
    /// it took.
    fn header_bytes(&mut self, src: &[u8]) -> Result<usize, Error> {
        let taken = src.len().min(HEADER - self.header_len);
        if taken > 0 {
            self.header[self.header_len..self.header_len + taken].copy_from_slice(&src[..taken]);
            self.header_len += taken;
            if self.header_len == HEADER {
                check_header(self.header)?;
            }
        }
        Ok(taken)
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
