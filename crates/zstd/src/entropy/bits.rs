//! Safe bit readers (RFC 8878, section 4): forward for table descriptions, backward for FSE and
//! Huffman bitstreams.

/// Loads the eight bytes at `at`. Bytes after the end are zero.
#[inline]
fn word_from(bytes: &[u8], at: usize) -> u64 {
    if let Some(eight) = bytes.get(at..at + 8) {
        return u64::from_le_bytes(eight.try_into().expect("eight bytes"));
    }
    let rest = bytes.get(at..).unwrap_or(&[]);
    rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Loads the eight bytes before `end`. Bytes before the beginning are zero.
#[inline]
fn word_before(bytes: &[u8], end: usize) -> u64 {
    match end.checked_sub(8) {
        Some(start) => u64::from_le_bytes(bytes[start..end].try_into().expect("eight bytes")),
        None => word_from(&bytes[..end], 0) << (8 * (8 - end) % 64),
    }
}

/// Number of bits that a refill makes available at least. No value takes more.
const AVAILABLE: i32 = 16;

/// Reads bits from the first byte to the last, least significant bit first.
///
/// The reader keeps bits in a register, so that most reads wait for a shift and not for a load.
pub(crate) struct ForwardBitReader<'a> {
    bytes: &'a [u8],
    /// Number of bits read so far. It may pass the end, where bits are zero.
    taken: usize,
    /// The bits after the `taken` ones.
    word: u64,
    /// Number of valid bits in `word`; negative if more were consumed.
    valid: i32,
}

impl<'a> ForwardBitReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        ForwardBitReader { bytes, taken: 0, word: word_from(bytes, 0), valid: 64 }
    }

    /// Makes at least [`AVAILABLE`] bits available.
    #[inline]
    pub(crate) fn refill(&mut self) {
        if self.valid < AVAILABLE {
            self.word = word_from(self.bytes, self.taken / 8) >> (self.taken % 8);
            self.valid = 64 - (self.taken % 8) as i32;
        }
    }

    /// Returns the next bits without consuming them. After a [`refill`](Self::refill), at least
    /// [`AVAILABLE`] of them are valid.
    #[inline]
    pub(crate) fn peek(&self) -> u32 {
        self.word as u32
    }

    /// Consumes `count` bits, below 64.
    #[inline]
    pub(crate) fn skip(&mut self, count: u32) {
        self.taken += count as usize;
        self.word >>= count;
        self.valid -= count as i32;
    }

    /// Number of bytes that were read at least in part, or `None` if more bits were consumed than
    /// exist.
    pub(crate) fn bytes_taken(&self) -> Option<usize> {
        let taken = self.taken.div_ceil(8);
        (taken <= self.bytes.len()).then_some(taken)
    }
}

/// Reads bits from the end of a stream to its beginning. The highest set bit of the last byte is
/// the end mark (`final-bit-flag` in RFC 8878), not data.
pub(crate) struct BackwardBitReader<'a> {
    bytes: &'a [u8],
    /// Number of bits left; negative if more were consumed than existed.
    left: isize,
}

impl<'a> BackwardBitReader<'a> {
    /// Makes a reader, or returns `None` if the end mark is missing.
    #[inline]
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        let last = *bytes.last()?;
        let mark = last.checked_ilog2()?;
        Some(BackwardBitReader { bytes, left: (bytes.len() as isize - 1) * 8 + mark as isize })
    }

    /// Number of bits left; negative if more were consumed than existed.
    #[inline]
    pub(crate) fn left(&self) -> isize {
        self.left
    }

    /// Returns the next `count` bits, at most 56, as a number. Bits before the beginning are zero.
    #[inline]
    pub(crate) fn peek(&self, count: u32) -> u64 {
        debug_assert!(count <= 56);
        // Two shifts, because `count` may be zero.
        (self.top() >> 1) >> (63 - count)
    }

    /// Returns the next 57 bits or more, aligned to the most significant bit.
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
    fn forward_reader_yields_low_bits_first_and_zeros_after_the_end() {
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
    fn backward_reader_yields_high_bits_first_and_zeros_before_the_beginning() {
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
