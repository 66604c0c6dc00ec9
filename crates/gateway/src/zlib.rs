//! Messages of a zlib stream: each ends with an empty stored block, whose last four bytes are `00 00 FF
//! FF`.
//!
//! These bytes also stand elsewhere by chance. So when they come at the end of a fragment, the message
//! is decoded, and it is whole only if that ends right behind an empty stored block.

use linerate_core::{Error, Kind};

use crate::inflate::{Bits, Blocks, End, History};
use crate::limits::Limits;
use crate::payload::Payload;
use crate::scratch::Scratch;

/// What an empty stored block ends with: length 0 and its complement.
const MARKER: [u8; 4] = [0, 0, 0xff, 0xff];
/// Bytes before the first block of a stream.
const HEADER: usize = 2;
/// Times the largest payload that may be decoded in vain, since bytes only looked like the end of a
/// message.
const VAIN: usize = 4;

#[derive(Default)]
pub(crate) struct Zlib {
    history: History,
    /// Whether the header was read.
    begun: bool,
    /// Compressed bytes from the block on that is not whole.
    waiting: Vec<u8>,
    /// Where that block begins in them.
    bits: Bits,
    /// Compressed bytes of the message before them.
    before: u64,
    /// Bytes of output that were decoded in vain.
    vain: usize,
}

impl Zlib {
    pub(crate) fn reset(&mut self) {
        // The history goes, too: a connection may rest long before it is used again.
        *self = Self::default();
    }

    /// Bytes held on the heap.
    pub(crate) fn memory(&self) -> usize {
        self.history.memory() + self.waiting.capacity()
    }

    /// Takes a fragment of the message whose beginning the payload holds; returns whether it is whole.
    /// Errors are at a byte of the message.
    pub(crate) fn fragment(
        &mut self,
        src: &[u8],
        scratch: &mut Scratch,
        limits: &Limits,
    ) -> Result<bool, Error> {
        if self.waiting.is_empty() {
            let Some(used) = self.decode(src, scratch, limits)? else { return Ok(true) };
            self.waiting = src[used..].to_vec();
            return Ok(false);
        }
        let mut all = std::mem::take(&mut self.waiting);
        if all.len() + src.len() > limits.max_compressed() {
            return Err(Payload::TOO_LONG.shifted(self.before + all.len() as u64));
        }
        all.extend_from_slice(src);
        let Some(used) = self.decode(&all, scratch, limits)? else { return Ok(true) };
        all.drain(..used);
        self.waiting = all;
        Ok(false)
    }

    /// Decodes a message if it looks whole. Returns nothing if it is, or else how many bytes at the
    /// beginning are of no use any more.
    fn decode(&mut self, src: &[u8], scratch: &mut Scratch, limits: &Limits) -> Result<Option<usize>, Error> {
        if !self.begun
            && let Some(&header) = src.first_chunk()
        {
            check_header(header)?;
            self.begun = true;
            self.bits.at = HEADER;
        }
        if !self.begun || !src.ends_with(&MARKER) {
            return Ok(Some(0));
        }
        let (payload, tables) = scratch.for_zlib();
        let limit = limits.max_message;
        let (history, bits) = (&self.history, self.bits);
        let mut blocks = Blocks { tables, history, payload, limit, fast: true, bits };
        let end = blocks.decode(src).map_err(|e| e.shifted(self.before))?;
        let used = blocks.bits.at;
        match end {
            End::Flushed => {
                let no_memory = Error::new(Kind::Limit, self.before, "there is no memory for the history");
                self.history.push(scratch.payload.bytes()).map_err(|_| no_memory)?;
                (self.bits, self.before, self.vain) = (Bits::default(), 0, 0);
                Ok(None)
            }
            End::Within { dropped } => {
                self.vain += dropped;
                if self.vain / VAIN > limit {
                    let at = self.before + src.len() as u64;
                    return Err(Error::new(Kind::Limit, at, "a message seems to end too often"));
                }
                self.bits = Bits { at: 0, ..blocks.bits };
                self.before += used as u64;
                Ok(Some(used))
            }
        }
    }
}

/// Checks the two bytes that a stream begins with.
fn check_header(header: [u8; HEADER]) -> Result<(), Error> {
    let [method, flags] = header;
    if !u16::from_be_bytes(header).is_multiple_of(31) || method & 15 != 8 || method >> 4 > 7 {
        return Err(Error::new(Kind::Corrupt, 0, "this is no zlib stream"));
    }
    if flags & 0x20 != 0 {
        return Err(Error::new(Kind::Unsupported, 0, "the zlib stream asks for a dictionary"));
    }
    Ok(())
}
