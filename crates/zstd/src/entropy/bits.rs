//! The two directions in which zstd reads bits, safely: forward for the descriptions of tables,
//! backward for everything coded with them.

/// The eight bytes from `at` on, as far as there are any: zeros follow.
#[inline]
fn word_from(bytes: &[u8], at: usize) -> u64 {
    if let Some(eight) = bytes.get(at..at + 8) {
        return u64::from_le_bytes(eight.try_into().expect("eight bytes"));
    }
    let rest = bytes.get(at..).unwrap_or(&[]);
    rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// The eight bytes before `end`, as far as there are any: zeros lie before them.
#[inline]
fn word_before(bytes: &[u8], end: usize) -> u64 {
    match end.checked_sub(8) {
        Some(start) => u64::from_le_bytes(bytes[start..end].try_into().expect("eight bytes")),
        None => word_from(&bytes[..end], 0) << (8 * (8 - end) % 64),
    }
}

/// Bits from the first byte on, lowest bit of each byte first.
pub(crate) struct ForwardBitReader<'a> {
    bytes: &'a [u8],
    /// Bits taken so far; may pass the end, where zeros are read.
    taken: usize,
}

impl<'a> ForwardBitReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        ForwardBitReader { bytes, taken: 0 }
    }

    /// At least the next 32 bits, without taking them.
    #[inline]
    pub(crate) fn peek(&self) -> u32 {
        (word_from(self.bytes, self.taken / 8) >> (self.taken % 8)) as u32
    }

    #[inline]
    pub(crate) fn skip(&mut self, count: u32) {
        self.taken += count as usize;
    }

    /// The number of bytes begun, or nothing if more were taken than there are.
    pub(crate) fn bytes_taken(&self) -> Option<usize> {
        let taken = self.taken.div_ceil(8);
        (taken <= self.bytes.len()).then_some(taken)
    }
}

/// Bits from the end of a stream towards its beginning. The highest set bit of the last byte marks
/// the end and is not one of them.
pub(crate) struct BackwardBitReader<'a> {
    bytes: &'a [u8],
    /// Bits not yet taken; negative when more were taken than there were.
    left: isize,
}

impl<'a> BackwardBitReader<'a> {
    /// Nothing if the end is not marked.
    #[inline]
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        let last = *bytes.last()?;
        let mark = last.checked_ilog2()?;
        Some(BackwardBitReader { bytes, left: (bytes.len() as isize - 1) * 8 + mark as isize })
    }

    /// Bits not yet taken; negative when more were taken than there were.
    #[inline]
    pub(crate) fn left(&self) -> isize {
        self.left
    }

    /// The next `count` bits, at most 56, as a number. Zeros lie before the beginning.
    #[inline]
    pub(crate) fn peek(&self, count: u32) -> u64 {
        debug_assert!(count <= 56);
        // Two shifts, because `count` may be zero.
        (self.top() >> 1) >> (63 - count)
    }

    /// The next 57 bits or more, from the highest bit down.
    #[inline]
    pub(crate) fn top(&self) -> u64 {
        let left = self.left.max(0) as usize;
        let end = left.div_ceil(8);
        word_before(self.bytes, end) << (end * 8 - left)
    }

    #[inline]
    pub(crate) fn skip(&mut self, count: u32) {
        self.left -= count as isize;
    }

    #[inline]
    pub(crate) fn take(&mut self, count: u32) -> u64 {
        let value = self.peek(count);
        self.skip(count);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forward_takes_low_bits_first_and_zeros_after_the_end() {
        let mut bits = ForwardBitReader::new(&[0b1010_0101, 0xff]);
        assert_eq!(bits.peek() & 15, 5);
        bits.skip(4);
        assert_eq!(bits.peek(), 0xffa);
        assert_eq!(bits.bytes_taken(), Some(1));
        bits.skip(12);
        assert_eq!((bits.peek(), bits.bytes_taken()), (0, Some(2)));
        bits.skip(1);
        assert_eq!(bits.bytes_taken(), None);
    }

    #[test]
    fn backward_takes_high_bits_first_and_zeros_before_the_beginning() {
        let bytes: Vec<u8> = (1..=20).collect();
        let mut bits = BackwardBitReader::new(&bytes).unwrap();
        assert_eq!(bits.left(), 19 * 8 + 4);
        assert_eq!(bits.take(4), 4); // 20 is 1_0100
        for byte in (2..=19).rev() {
            assert_eq!(bits.peek(0), 0);
            assert_eq!(bits.take(8), byte);
        }
        assert_eq!(bits.peek(12), 0x010);
        bits.skip(12);
        assert_eq!((bits.left(), bits.peek(9)), (-4, 0));
        assert!(BackwardBitReader::new(&[]).is_none() && BackwardBitReader::new(&[1, 0]).is_none());
    }
}
