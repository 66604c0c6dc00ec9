//! Decodes one sample at a time, safely and on any CPU. This is the specification: every other
//! kernel must give the same samples and accept the same segments.

use linerate_core::{Error, Kind, Result};

use super::code::{peek, read, unzigzag};

/// Maximum number of segments that a kernel decodes in one call.
pub(crate) const BATCH: usize = 16;

/// A segment to decode.
#[derive(Default)]
pub(crate) struct Lane<'a> {
    /// The segment's payload.
    pub(crate) payload: &'a [u8],
    /// Bytes that may be read: from the start of the payload to the end of the chunk.
    pub(crate) readable: &'a [u8],
    /// The output, one element per sample of the segment.
    pub(crate) out: &'a mut [i16],
    /// Offset of the payload in the chunk, in bytes.
    pub(crate) offset: usize,
    /// Position of the next sample. A kernel may leave the last samples to [`Lane::finish`].
    pub(crate) at: Position,
}

impl Lane<'_> {
    /// Decodes the remaining samples, and checks the end of the segment.
    pub(crate) fn finish(&mut self, k: u32, delta: bool) -> Result<()> {
        decode(self.payload, k, delta, self.at, self.out).map_err(|e| e.shifted(self.offset as u64))
    }
}

/// Position of a decoder within a segment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Position {
    /// Bits read so far.
    pub(crate) bit: usize,
    /// Samples written so far.
    pub(crate) sample: usize,
    /// The last sample written, or 0 before the first. Only the running difference uses it.
    pub(crate) last: i16,
}

/// Decodes the rest of a segment, continuing at `from`: all of `out` after `from.sample`.
///
/// With `delta` the samples are the running sums of the values, otherwise the values themselves.
///
/// # Errors
/// [`Kind::Corrupt`] if a code has more than eight zeros, if codes do not end within `payload`, or
/// if 32 or more bits follow the last code, or any bit that is not zero. The offset is that of the
/// word at fault, from the start of `payload`.
pub(crate) fn decode(payload: &[u8], k: u32, delta: bool, from: Position, out: &mut [i16]) -> Result<()> {
    let corrupt = |bit: usize, what| Err(Error::new(Kind::Corrupt, (bit / 32 * 4) as u64, what));
    let bits = payload.len() * 8;
    let Position { mut bit, sample, mut last } = from;
    for x in out.iter_mut().skip(sample) {
        let Some((z, len)) = read(peek(payload, bit), k) else {
            let what = if bit + 9 > bits {
                "a segment ends before its samples do"
            } else {
                "more than eight zeros in a code"
            };
            return corrupt(bit, what);
        };
        bit += len as usize;
        if bit > bits {
            return corrupt(bit - len as usize, "a segment ends before its samples do");
        }
        let y = unzigzag(z);
        last = if delta { last.wrapping_add(y) } else { y };
        *x = last;
    }
    if bit > bits {
        return corrupt(bits, "a segment ends before its samples do");
    }
    if bits - bit >= 32 {
        return corrupt(bit + 31, "a segment goes on after its samples");
    }
    if bit < bits && peek(payload, bit) != 0 {
        return corrupt(bit, "the bits after the last code are not zero");
    }
    Ok(())
}
