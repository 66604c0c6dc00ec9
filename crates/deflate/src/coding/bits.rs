//! The bit writer: writes bits into a slice, least significant bit first, with bounds checks.
//!
//! It writes headers, trailers, stored blocks, and the end of outputs without slack. The hot loop
//! in [`emit`](crate::kernel::emit) keeps its fields in registers.

use linerate_core::{Error, Kind, Result};

pub(crate) const TOO_SMALL: Error = Error::new(Kind::OutputTooSmall, 0, "the output buffer is too small");

/// Writes bits into `out`. Fewer than 8 bits are pending in `acc` between calls.
pub(crate) struct BitWriter<'a> {
    pub(crate) out: &'a mut [u8],
    pub(crate) pos: usize,
    pub(crate) acc: u64,
    pub(crate) len: u32,
}

/// A saved state of a [`BitWriter`].
#[derive(Clone, Copy)]
pub(crate) struct BitState {
    pos: usize,
    acc: u64,
    len: u32,
}

impl<'a> BitWriter<'a> {
    pub(crate) fn new(out: &'a mut [u8], pending: u8, pending_len: u8) -> Self {
        BitWriter { out, pos: 0, acc: u64::from(pending), len: u32::from(pending_len) }
    }

    /// Returns the number of bytes written, the pending bits, and their number.
    pub(crate) fn end(self) -> (usize, u8, u8) {
        (self.pos, self.acc as u8, self.len as u8)
    }

    /// Jumps to the byte `pos` and leaves a gap to be filled later. Returns the state before the
    /// jump, for [`restore`](Self::restore).
    pub(crate) fn jump_to(&mut self, pos: usize) -> BitState {
        let mark = self.state();
        (self.pos, self.acc, self.len) = (pos, 0, 0);
        mark
    }

    /// Returns the current state.
    pub(crate) fn state(&self) -> BitState {
        BitState { pos: self.pos, acc: self.acc, len: self.len }
    }

    /// Returns to a saved state.
    pub(crate) fn restore(&mut self, mark: BitState) {
        (self.pos, self.acc, self.len) = (mark.pos, mark.acc, mark.len);
    }

    /// Sets the bit at a bit position that has been passed.
    pub(crate) fn set(&mut self, position: u64) {
        let byte = (position / 8) as usize;
        match self.out[..self.pos].get_mut(byte) {
            Some(byte) => *byte |= 1 << (position % 8),
            // The bit is still pending.
            None => self.acc |= 1 << (position % 8),
        }
    }

    /// Returns the number of bits since the start of `out`, including the pending ones.
    pub(crate) fn position(&self) -> u64 {
        self.pos as u64 * 8 + u64::from(self.len)
    }

    /// Returns the number of bits that `out` can hold.
    pub(crate) fn capacity(&self) -> u64 {
        self.out.len() as u64 * 8
    }

    /// Appends the low `n` bits of `value`, at most 56. All other bits of `value` must be 0. May
    /// overwrite up to 8 bytes that follow.
    #[inline]
    pub(crate) fn put(&mut self, value: u64, n: u32) -> Result<()> {
        let Some(place) = self.out.get_mut(self.pos..self.pos + 8) else {
            return self.put_exactly(value, n);
        };
        debug_assert!(n <= 56 && value >> n == 0);
        self.acc |= value << self.len;
        self.len += n;
        place.copy_from_slice(&self.acc.to_le_bytes());
        self.drop_whole_bytes();
        Ok(())
    }

    /// Like [`put`](Self::put), but leaves the bytes that follow alone.
    fn put_exactly(&mut self, value: u64, n: u32) -> Result<()> {
        debug_assert!(n <= 56 && value >> n == 0);
        self.acc |= value << self.len;
        self.len += n;
        let whole = (self.len / 8) as usize;
        let place = self.out.get_mut(self.pos..self.pos + whole).ok_or(TOO_SMALL)?;
        place.copy_from_slice(&self.acc.to_le_bytes()[..whole]);
        self.drop_whole_bytes();
        Ok(())
    }

    #[inline]
    fn drop_whole_bytes(&mut self) {
        self.pos += (self.len / 8) as usize;
        self.acc >>= self.len & !7;
        self.len &= 7;
    }

    /// Like [`put`](Self::put), but past the end of `out` it only counts bits, for a block that may
    /// still be discarded.
    pub(crate) fn put_or_count(&mut self, value: u64, n: u32) {
        if self.put(value, n).is_err() {
            self.drop_whole_bytes();
        }
    }

    /// Pads to a byte boundary with zero bits.
    pub(crate) fn align(&mut self) -> Result<()> {
        self.put_exactly(0, self.len.wrapping_neg() & 7)
    }

    /// Appends whole bytes. The position must be at a byte boundary.
    pub(crate) fn put_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        debug_assert_eq!(self.len, 0);
        let end = self.pos + bytes.len();
        self.out.get_mut(self.pos..end).ok_or(TOO_SMALL)?.copy_from_slice(bytes);
        self.pos = end;
        Ok(())
    }

    /// Appends a block that was written elsewhere and began with the pending bits. `block` has its
    /// whole bytes, `pending` the bits after them and their number.
    #[cfg(feature = "alloc")]
    pub(crate) fn put_block(&mut self, block: &[u8], pending: (u64, u32)) -> Result<()> {
        self.len = 0;
        self.put_bytes(block)?;
        (self.acc, self.len) = pending;
        Ok(())
    }

    /// Appends a stored block of at most 65,535 bytes. Leaves the bytes that follow alone, which
    /// may already hold a block.
    pub(crate) fn put_stored(&mut self, data: &[u8], last: bool) -> Result<()> {
        debug_assert!(data.len() <= 65_535);
        let len = data.len() as u16;
        self.put_exactly(u64::from(last), 3)?;
        self.align()?;
        self.put_bytes(&len.to_le_bytes())?;
        self.put_bytes(&(!len).to_le_bytes())?;
        self.put_bytes(data)
    }

    /// Appends an empty stored block, which is a flush.
    pub(crate) fn put_empty_stored(&mut self) -> Result<()> {
        self.put_stored(&[], false)
    }

    /// Appends a flush, whose last four bytes, `00 00 ff ff`, may be left out.
    #[cfg(feature = "alloc")]
    pub(crate) fn put_flush(&mut self, keep_tail: bool) -> Result<()> {
        if keep_tail {
            return self.put_empty_stored();
        }
        self.put_exactly(0, 3)?;
        self.align()
    }

    /// Makes sure that at most 5 bits are pending, as the bound of a call requires (see
    /// [`block`](crate::block)). If 6 or 7 are pending, an empty block with the fixed trees leaves
    /// 0 or 1.
    pub(crate) fn settle(&mut self) -> Result<()> {
        if self.len > 5 { self.put_empty_fixed(false) } else { Ok(()) }
    }

    /// Appends an empty block with the fixed trees, which has 10 bits.
    pub(crate) fn put_empty_fixed(&mut self, last: bool) -> Result<()> {
        self.put(0b010 | u64::from(last), 10)
    }
}
