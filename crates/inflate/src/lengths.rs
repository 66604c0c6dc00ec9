//! The code lengths of a block, as a list and packed.

use crate::codes::MAX_LEN;

/// Maximum number of symbols of both alphabets of a block that can have a code length.
pub(crate) const MAX_SYMBOLS: usize = 286 + 30;

/// A symbol and the length of its code, in bits.
#[derive(Clone, Copy, Default)]
pub(crate) struct CodeLength(u16);

impl CodeLength {
    /// Creates the code length of a symbol. `len` is 1 to 15.
    pub(crate) const fn new(symbol: usize, len: u32) -> Self {
        debug_assert!(symbol < 512 && len >= 1 && len <= MAX_LEN);
        CodeLength((symbol as u16) << 4 | len as u16)
    }

    #[inline(always)]
    pub(crate) fn symbol(self) -> usize {
        usize::from(self.0 >> 4)
    }

    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        usize::from(self.0 & 15)
    }
}

/// The used symbols of a block with their code lengths, in ascending order. Often most are unused.
pub(crate) struct Lengths {
    list: [CodeLength; MAX_SYMBOLS],
    count: usize,
}

impl Lengths {
    pub(crate) const fn new() -> Self {
        Lengths { list: [CodeLength(0); MAX_SYMBOLS], count: 0 }
    }

    /// Replaces the list by the nonzero lengths of `packed`.
    pub(crate) fn unpack(&mut self, packed: &PackedLengths) {
        self.count = 0;
        for (i, &word) in packed.words.iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                let at = rest.trailing_zeros() / 4;
                self.push(16 * i + at as usize, (word >> (4 * at) & 15) as u32);
                rest &= !(15 << (4 * at));
            }
        }
    }

    /// Appends a symbol that is above all others in the list, with a length that is not 0.
    #[inline(always)]
    pub(crate) fn push(&mut self, symbol: usize, len: u32) {
        self.list[self.count] = CodeLength::new(symbol, len);
        self.count += 1;
    }

    /// Splits the list into the symbols below `end` and the symbols from `end`.
    pub(crate) fn split(&self, end: usize) -> (&[CodeLength], &[CodeLength]) {
        let all = &self.list[..self.count];
        all.split_at(all.partition_point(|code| code.symbol() < end))
    }
}

/// The code lengths of all symbols of a block, four bits each. A stream keeps them between calls
/// instead of decode tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PackedLengths {
    words: [u64; MAX_SYMBOLS.div_ceil(16)],
    /// Number of symbols of the literal/length alphabet. The lengths of distance symbols follow
    /// theirs.
    pub(crate) symbols: u16,
    /// Number of symbols of the distance alphabet.
    pub(crate) distances: u8,
}

impl PackedLengths {
    pub(crate) const fn new() -> Self {
        PackedLengths { words: [0; _], symbols: 0, distances: 0 }
    }

    /// Returns the number of symbols of both alphabets.
    pub(crate) fn count(&self) -> usize {
        usize::from(self.symbols) + usize::from(self.distances)
    }

    /// Sets the length of symbol `at`, which must be 0 so far.
    #[inline(always)]
    pub(crate) fn set(&mut self, at: usize, len: u32) {
        self.words[at / 16] |= u64::from(len) << (4 * (at % 16));
    }

    /// Returns the length of symbol `at`.
    pub(crate) fn get(&self, at: usize) -> u32 {
        (self.words[at / 16] >> (4 * (at % 16)) & 15) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_lengths_are_unpacked_in_order_without_unused_symbols() {
        let mut packed = PackedLengths::new();
        (packed.symbols, packed.distances) = (286, 30);
        let lens: Vec<u32> = (0..MAX_SYMBOLS as u32).map(|i| (i * i + 3 * i) % 23 % 16).collect();
        lens.iter().enumerate().for_each(|(at, &len)| packed.set(at, len));
        let mut lengths = Lengths::new();
        lengths.unpack(&packed);
        let (litlen, distances) = lengths.split(286);
        assert!(litlen.iter().all(|code| code.symbol() < 286));
        let found: Vec<_> = litlen.iter().chain(distances).map(|code| (code.symbol(), code.len())).collect();
        let all = lens.iter().enumerate().map(|(at, &len)| (at, len as usize));
        assert_eq!(found, all.filter(|(_, len)| *len > 0).collect::<Vec<_>>());
        assert!((0..MAX_SYMBOLS).all(|at| packed.get(at) == lens[at]));
    }
}
