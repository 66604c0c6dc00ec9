//! Packs bits into 32-bit words, most significant bit first; words are stored in little-endian
//! order.

/// A bit writer with a 64-bit accumulator. At most 63 bits are pending. Only complete pairs of
/// words count as stored, until [`finish`](Self::finish) stores the rest.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Packer {
    /// Pending bits, left-justified; the rest is zero.
    acc: u64,
    /// Number of pending bits: 0..=63.
    pending: u32,
    /// Bytes stored.
    pub(crate) stored: usize,
}

impl Packer {
    /// Computes an append of the `len` high bits of `top` (1..=63, the rest zero): the pair of
    /// words, whether it is complete, and the state afterwards.
    #[inline(always)]
    fn split(&self, top: u64, len: u32) -> (u64, bool, Packer) {
        let pair = self.acc | top >> self.pending;
        let total = self.pending + len;
        let complete = total >= 64;
        // The bits beyond the pair. With none pending the shift is by 0 instead of 64, but then at
        // most 63 bits do not complete the pair.
        let rest = top << (self.pending.wrapping_neg() & 63);
        let acc = if complete { rest } else { pair };
        let stored = self.stored + if complete { 8 } else { 0 };
        (pair, complete, Packer { acc, pending: total & 63, stored })
    }

    /// Appends the `len` high bits of `top`, 1..=63, the rest of which is zero, without checking
    /// the capacity.
    ///
    /// # Safety
    /// 8 bytes from `out + self.stored` on must be writable.
    #[inline(always)]
    pub(crate) unsafe fn append(&mut self, top: u64, len: u32, out: *mut u8) {
        let (pair, _, next) = self.split(top, len);
        // Stored even when incomplete: a store costs less than a branch on the data, and a later
        // store overwrites it.
        // SAFETY: the caller vouches for 8 writable bytes.
        unsafe { out.add(self.stored).cast::<u64>().write_unaligned(pair.rotate_left(32).to_le()) };
        *self = next;
    }

    /// Appends the `len` low bits of `value`, 1..=63, above which it is zero. `None` if a complete
    /// pair of words does not fit in `out`.
    #[inline]
    pub(crate) fn append_checked(&mut self, value: u64, len: u32, out: &mut [u8]) -> Option<()> {
        let (pair, complete, next) = self.split(value << (64 - len), len);
        if complete {
            out.get_mut(self.stored..next.stored)?.copy_from_slice(&pair.rotate_left(32).to_le_bytes());
        }
        *self = next;
        Some(())
    }

    /// Stores the pending bits, padded with zeros to a whole word. Returns the bytes of the
    /// payload, or `None` if `out` is too small.
    pub(crate) fn finish(self, out: &mut [u8]) -> Option<usize> {
        let words = self.pending.div_ceil(32) as usize;
        let end = self.stored + 4 * words;
        let last = self.acc.rotate_left(32).to_le_bytes();
        out.get_mut(self.stored..end)?.copy_from_slice(&last[..4 * words]);
        Some(end)
    }
}
