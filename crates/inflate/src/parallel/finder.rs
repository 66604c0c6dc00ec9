//! Finds places where a deflate block or a gzip member may begin, at any bit of the input.
//!
//! Dynamic blocks are recognized by their header: first by 13 bits of it, for 48 positions at once,
//! then by the lengths of the code length code, which must form a complete code. Few wrong
//! positions pass both tests. Stored blocks are recognized by their length and its complement, and
//! members by their magic number. Fixed blocks have nothing to be recognized by, so there is no
//! search for them, nor for final blocks.

/// A place where a chunk may begin. Numbers count from the beginning of a [`Finder`]'s bytes or, in
/// the result of [`after`](Self::after), from the beginning of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The position of a dynamic block's first bit.
    Dynamic(u64),
    /// The offset of a stored block's length. The block begins up to ten bits before; the exact
    /// position is unknown.
    Stored(u64),
    /// The offset of a gzip member's first byte.
    Member(u64),
}

impl Place {
    /// Converts a place in a piece to one in the input. The piece begins at `origin`.
    pub(super) fn after(self, origin: u64) -> Place {
        match self {
            Place::Dynamic(bit) => Place::Dynamic(8 * origin + bit),
            Place::Stored(at) => Place::Stored(origin + at),
            Place::Member(at) => Place::Member(origin + at),
        }
    }
}

/// Number of bytes examined together: 48 bit positions.
const STEP: usize = 6;
/// Minimum number of bytes left where the search examines [`STEP`] bytes.
const LOOK_AHEAD: usize = 16;
/// The highest bit of each byte.
const HIGH: u64 = 0x8080_8080_8080_8080;
/// The lowest bit of each byte.
const LOW: u64 = 0x0101_0101_0101_0101;

/// Iterates over the places in `bytes`, in ascending order except within [`STEP`] bytes.
pub(super) struct Finder<'a> {
    bytes: &'a [u8],
    is_gzip: bool,
    /// Offset of the bytes being examined.
    at: usize,
    /// The bits in these bytes at which a dynamic block may begin, judged by its first 13 bits.
    dynamic: u64,
    /// The indices among these bytes that have not been examined for other places yet.
    others: std::ops::Range<usize>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(bytes: &'a [u8], is_gzip: bool) -> Self {
        let mut finder = Finder { bytes, is_gzip, at: 0, dynamic: 0, others: 0..0 };
        finder.look();
        finder
    }

    /// Examines the bytes at `at`.
    fn look(&mut self) {
        let Some(word) = word_at(self.bytes, self.at) else { return };
        self.dynamic = may_be_dynamic(word) & ((1 << (8 * STEP)) - 1);
        // In a stored block the complements of the two length bytes follow them.
        let complements = has_zero_byte(!(word ^ word >> 16));
        let any = complements || self.is_gzip && has_zero_byte(word ^ (0x1f * LOW));
        self.others = if any { self.at..self.at + STEP } else { 0..0 };
    }

    /// Returns the member or stored block at a byte, if there may be one.
    fn other(&self, at: usize) -> Option<Place> {
        let [a, b, c, d] = *self.bytes.get(at..)?.first_chunk()?;
        if self.is_gzip && [a, b, c] == [0x1f, 0x8b, 8] && d & 0xe0 == 0 {
            return Some(Place::Member(at as u64));
        }
        let before = *self.bytes.get(at.wrapping_sub(1))?;
        (before & 0xe0 == 0 && a == !c && b == !d).then_some(Place::Stored(at as u64))
    }
}

impl Iterator for Finder<'_> {
    type Item = Place;

    fn next(&mut self) -> Option<Place> {
        while self.at + LOOK_AHEAD <= self.bytes.len() {
            while let Some(at) = self.others.next() {
                if let Some(place) = self.other(at) {
                    return Some(place);
                }
            }
            while self.dynamic != 0 {
                let bit = 8 * self.at + self.dynamic.trailing_zeros() as usize;
                self.dynamic &= self.dynamic - 1;
                if has_code_length_code(self.bytes, bit) {
                    return Some(Place::Dynamic(bit as u64));
                }
            }
            self.at += STEP;
            self.look();
        }
        None
    }
}

fn word_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}

fn has_zero_byte(word: u64) -> bool {
    word.wrapping_sub(LOW) & !word & HIGH != 0
}

/// Returns the bits at which a dynamic block that is not final may begin, by its first 13 bits: its
/// type, and codes for at most 286 symbols and 30 distances (RFC 1951, section 3.2.7). The upper 12
/// bits of the result are meaningless.
fn may_be_dynamic(word: u64) -> u64 {
    let is_dynamic = !word & !(word >> 1) & word >> 2;
    let fours = word & word >> 1;
    let fours = fours & fours >> 2;
    is_dynamic & !(fours >> 4) & !(fours >> 9)
}

/// Returns whether the code length code of a block that begins at `bit` is complete.
fn has_code_length_code(bytes: &[u8], bit: usize) -> bool {
    let (counts, lengths) = (bit + 13, bit + 17);
    let (Some(counts), Some(word)) = (word_at(bytes, counts / 8), word_at(bytes, lengths / 8)) else {
        return false;
    };
    let count = 4 + (counts >> ((bit + 13) % 8) & 15);
    let lengths = word >> (lengths % 8) & ((1 << (3 * count)) - 1);
    let used: u16 = (0..5).map(|i| CODE_SPACE[(lengths >> (12 * i) & 0xfff) as usize]).sum();
    used == 128
}

/// The share of the code space, in 1/128, that four code lengths of three bits each use, indexed by
/// their 12 bits.
static CODE_SPACE: [u16; 1 << 12] = {
    let mut table = [0; 1 << 12];
    let mut lengths = 0;
    while lengths < 1 << 12 {
        let mut rest = lengths;
        while rest > 0 {
            if rest & 7 > 0 {
                table[lengths] += 128 >> (rest & 7);
            }
            rest >>= 3;
        }
        lengths += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dynamic_blocks_are_recognized_by_13_bits() {
        for bits in 0..1u64 << 13 {
            let expected = bits & 7 == 4 && bits >> 3 & 31 < 30 && bits >> 8 < 30;
            for shift in [0, 5, 47] {
                assert_eq!(may_be_dynamic(bits << shift) >> shift & 1 == 1, expected, "{bits:#x}");
            }
        }
    }

    #[test]
    fn stored_blocks_and_members_are_found_at_every_byte() {
        for at in 1..40 {
            let mut bytes = vec![0x55; 80];
            bytes[at - 1] = 0x15;
            bytes[at..at + 4].copy_from_slice(&[3, 1, 0xfc, 0xfe]);
            assert_eq!(Finder::new(&bytes, false).next(), Some(Place::Stored(at as u64)));
            bytes[at..at + 4].copy_from_slice(&[0x1f, 0x8b, 8, 31]);
            assert_eq!(Finder::new(&bytes, true).next(), Some(Place::Member(at as u64)));
            assert_eq!(Finder::new(&bytes, false).next(), None);
        }
    }
}
