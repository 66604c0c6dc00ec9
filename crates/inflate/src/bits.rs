//! The bit buffer over the input, which takes the least significant bit of each byte first.

/// A bit position in the input, with a buffer of the next bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits {
    /// Bits read from the input and not consumed. The bits above `count` are zeros or the bits that
    /// follow in the input, so a refill may OR the same bits in again.
    pub(crate) buffer: u64,
    pub(crate) count: u32,
    /// Offset of the next input byte to load.
    pub(crate) at: usize,
}

/// The error of reading more bits than the input has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exhausted;

impl Bits {
    /// Loads bytes until the buffer has at least 56 bits, or the input ends.
    pub(crate) fn refill(&mut self, src: &[u8]) {
        if let Some(word) = src.get(self.at..).and_then(|rest| rest.first_chunk()) {
            self.buffer |= u64::from_le_bytes(*word) << self.count;
            self.at += (63 - self.count as usize) / 8;
            self.count |= 56;
            return;
        }
        while self.count < 56 && self.at < src.len() {
            self.buffer |= u64::from(src[self.at]) << self.count;
            self.at += 1;
            self.count += 8;
        }
    }

    /// Calls [`refill`](Self::refill), unless the buffer has `count` bits already.
    #[inline(always)]
    pub(crate) fn ensure(&mut self, src: &[u8], count: u32) {
        if self.count < count {
            self.refill(src);
        }
    }

    /// Consumes and returns `count` bits, at most 32.
    #[inline(always)]
    pub(crate) fn take(&mut self, src: &[u8], count: u32) -> Result<u32, Exhausted> {
        self.ensure(src, count);
        self.skip(count).map(|bits| (bits & ((1 << count) - 1)) as u32)
    }

    /// Consumes `count` bits, and returns the buffer before that.
    pub(crate) fn skip(&mut self, count: u32) -> Result<u64, Exhausted> {
        self.count = self.count.checked_sub(count).ok_or(Exhausted)?;
        let bits = self.buffer;
        self.buffer >>= count;
        Ok(bits)
    }

    /// Returns the number of bits of the input before the next one. It is negative if the next bit
    /// came with an earlier call.
    pub(crate) fn position(&self) -> i64 {
        8 * self.at as i64 - i64::from(self.count)
    }

    /// Skips to the next byte boundary.
    pub(crate) fn skip_to_byte(&mut self) {
        self.buffer >>= self.count % 8;
        self.count -= self.count % 8;
    }

    /// Gives whole bytes that were loaded in this call but not used back to the input. At most
    /// seven bits of this call and the bits of earlier calls stay in the buffer.
    pub(crate) fn unread_bytes(&mut self) {
        let bytes = (self.count as usize / 8).min(self.at);
        self.at -= bytes;
        self.count -= 8 * bytes as u32;
        self.clear_unread();
    }

    /// Clears the bits of the buffer above `count`.
    pub(crate) fn clear_unread(&mut self) {
        self.buffer &= (1 << self.count) - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_taken_lowest_first() {
        let src = [0b1010_0101, 0xff, 0x0f, 1, 2, 3, 4, 5, 6, 7, 8, 9];
        let mut bits = Bits::default();
        assert_eq!(bits.take(&src, 4), Ok(0b0101));
        assert_eq!(bits.take(&src, 12), Ok(0xffa));
        assert_eq!(bits.take(&src, 3), Ok(7));
        bits.unread_bytes();
        assert_eq!((bits.at, bits.count, bits.buffer), (3, 5, 1));
        bits.skip_to_byte();
        assert_eq!((bits.at, bits.count), (3, 0));
        assert_eq!(bits.take(&src, 32), Ok(0x0403_0201));
        assert_eq!(bits.take(&src, 32), Ok(0x0807_0605));
        assert_eq!(bits.take(&src, 9), Err(Exhausted));
        assert_eq!(bits.take(&src, 8), Ok(9));
    }
}
