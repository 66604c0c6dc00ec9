//! The bits of a message, lowest of each byte first.

/// A place between two bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits {
    /// Bits that were taken out of bytes and not used yet. Above `count` are zeros, or bits that come
    /// next: putting them there again does no harm.
    pub(crate) buffer: u64,
    pub(crate) count: u32,
    /// The byte that is taken out next.
    pub(crate) at: usize,
}

/// The input has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exhausted;

impl Bits {
    /// Takes bytes out until there are at least 56 bits, or all.
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

    /// As [`refill`](Self::refill), unless there are `count` bits already.
    #[inline(always)]
    pub(crate) fn want(&mut self, src: &[u8], count: u32) {
        if self.count < count {
            self.refill(src);
        }
    }

    /// Uses `count` bits, at most 32, if there are so many.
    #[inline(always)]
    pub(crate) fn take(&mut self, src: &[u8], count: u32) -> Result<u32, Exhausted> {
        self.want(src, count);
        self.skip(count).map(|bits| (bits & ((1 << count) - 1)) as u32)
    }

    /// Uses `count` bits that were looked at; returns what the buffer held before.
    pub(crate) fn skip(&mut self, count: u32) -> Result<u64, Exhausted> {
        self.count = self.count.checked_sub(count).ok_or(Exhausted)?;
        let bits = self.buffer;
        self.buffer >>= count;
        Ok(bits)
    }

    /// Skips to the next whole byte and gives the bytes that were taken out and not used back.
    pub(crate) fn align(&mut self) {
        self.at -= self.count as usize / 8;
        (self.buffer, self.count) = (0, 0);
    }

    /// Gives whole bytes back, so that at most seven bits are out.
    pub(crate) fn settle(&mut self) {
        self.at -= self.count as usize / 8;
        self.count %= 8;
        self.buffer &= (1 << self.count) - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_lowest_first() {
        let src = [0b1010_0101, 0xff, 0x0f, 1, 2, 3, 4, 5, 6, 7, 8, 9];
        let mut bits = Bits::default();
        assert_eq!(bits.take(&src, 4), Ok(0b0101));
        assert_eq!(bits.take(&src, 12), Ok(0xffa));
        assert_eq!(bits.take(&src, 3), Ok(7));
        bits.settle();
        assert_eq!((bits.at, bits.count, bits.buffer), (3, 5, 1));
        bits.align();
        assert_eq!(bits.at, 3);
        assert_eq!(bits.take(&src, 32), Ok(0x0403_0201));
        assert_eq!(bits.take(&src, 32), Ok(0x0807_0605));
        assert_eq!(bits.take(&src, 9), Err(Exhausted));
        assert_eq!(bits.take(&src, 8), Ok(9));
    }
}
