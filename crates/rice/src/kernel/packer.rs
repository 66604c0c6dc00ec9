//! Bits to 32-bit words, the first bit highest, each word stored with its low byte first.

/// The end of a payload that is being written. At most 63 bits wait here, so only complete pairs
/// of words have been stored.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Packer {
    /// Waiting bits, from the highest one down; the rest is zero.
    acc: u64,
    /// How many wait: 0..=63.
    waiting: u32,
    /// Bytes stored.
    pub(crate) stored: usize,
}

impl Packer {
    /// Splits an append of the `len` high bits of `top` (1..=63, the rest zero): what the pair of
    /// words now is, whether it is complete, and what waits afterwards.
    #[inline(always)]
    fn split(&self, top: u64, len: u32) -> (u64, bool, Packer) {
        let pair = self.acc | top >> self.waiting;
        let total = self.waiting + len;
        let complete = total >= 64;
        // What did not fit. If none waits, the shift is by 0 instead of 64, but then at most 63
        // bits do not complete the pair.
        let rest = top << (self.waiting.wrapping_neg() & 63);
        let acc = if complete { rest } else { pair };
        let stored = self.stored + if complete { 8 } else { 0 };
        (pair, complete, Packer { acc, waiting: total & 63, stored })
    }

    /// Appends the `len` high bits of `top`, 1..=63, the rest of which is zero, without a look at
    /// the room.
    ///
    /// # Safety
    /// 8 bytes from `out + self.stored` on must be writable.
    #[inline(always)]
    pub(crate) unsafe fn append(&mut self, top: u64, len: u32, out: *mut u8) {
        let (pair, _, next) = self.split(top, len);
        // Stored even when incomplete: a store costs less than a branch on the data, and a later
        // one overwrites it.
        // SAFETY: the caller vouches for the room.
        unsafe { out.add(self.stored).cast::<u64>().write_unaligned(pair.rotate_left(32).to_le()) };
        *self = next;
    }

    /// Appends the `len` low bits of `value`, 1..=63, above which it is zero; or returns `None` if a complete pair of words has no room.
    #[inline]
    pub(crate) fn append_checked(&mut self, value: u64, len: u32, out: &mut [u8]) -> Option<()> {
        let (pair, complete, next) = self.split(value << (64 - len), len);
        if complete {
            out.get_mut(self.stored..next.stored)?.copy_from_slice(&pair.rotate_left(32).to_le_bytes());
        }
        *self = next;
        Some(())
    }

    /// Stores what waits, filled up with zeros to a whole word. Returns the bytes of the payload.
    pub(crate) fn finish(self, out: &mut [u8]) -> Option<usize> {
        let words = self.waiting.div_ceil(32) as usize;
        let end = self.stored + 4 * words;
        let last = self.acc.rotate_left(32).to_le_bytes();
        out.get_mut(self.stored..end)?.copy_from_slice(&last[..4 * words]);
        Some(end)
    }
}
