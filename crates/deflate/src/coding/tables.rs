//! Emission tables: the bits for each half of a token.

use super::huffman::Code;
use super::token::{FIRSTS, LENGTH_CODES, NONE, SECONDS, distance_extra_bits};

/// Number of literal/length symbols in use: literals, end of block, 29 lengths.
pub(crate) const LITLENS: usize = 286;
/// Number of distance symbols in use.
pub(crate) const DISTANCES: usize = 30;
pub(crate) const END_OF_BLOCK: usize = 256;

/// The bits for the two halves of a token, for one pair of trees.
#[derive(Clone)]
pub(crate) struct Tables {
    /// The entry of each `first` of a [token](super::token): bits (code, then extra bits of the
    /// length) << 8 | number of bits, at most 20.
    pub(crate) firsts: [u32; FIRSTS],
    /// The entry of each `second`: code << 16 | length of the code << 8 | length with extra bits,
    /// at most 28.
    pub(crate) seconds: [u32; SECONDS],
    /// The end of the block, in the form of `firsts`.
    pub(crate) end_of_block: u32,
}

impl Tables {
    pub(crate) const fn new() -> Self {
        Tables { firsts: [0; FIRSTS], seconds: [0; SECONDS], end_of_block: 0 }
    }

    /// Fills the tables for a pair of trees. Entries of symbols without a code are unspecified.
    #[inline(always)]
    pub(crate) const fn fill(&mut self, litlens: &Code<LITLENS>, distances: &Code<DISTANCES>) {
        let mut i = 0;
        while i < 256 {
            let (code, n) = (litlens.codes[i] as u32, litlens.lengths[i] as u32);
            self.firsts[i] = code << 8 | n;
            self.seconds[32 + i] = code << 16 | n << 8 | n;
            i += 1;
        }
        self.end_of_block = (litlens.codes[END_OF_BLOCK] as u32) << 8 | litlens.lengths[END_OF_BLOCK] as u32;
        self.fill_lengths::<8, 1>(litlens, 0);
        self.fill_lengths::<4, 2>(litlens, 8);
        self.fill_lengths::<4, 4>(litlens, 12);
        self.fill_lengths::<4, 8>(litlens, 16);
        self.fill_lengths::<4, 16>(litlens, 20);
        self.fill_lengths::<4, 32>(litlens, 24);
        // Code 284 would include 258, which has a code of its own.
        self.fill_lengths::<1, 1>(litlens, 28);
        i = 0;
        while i < DISTANCES {
            let n = distances.lengths[i] as u32;
            self.seconds[i] = (distances.codes[i] as u32) << 16 | n << 8 | (n + distance_extra_bits(i));
            i += 1;
        }
        self.seconds[NONE as usize] = 0;
    }

    /// Fills in `N` length codes from `start`, each for `WIDTH` lengths. Both are constants because
    /// the widths of the codes in use are unpredictable.
    #[inline(always)]
    const fn fill_lengths<const N: usize, const WIDTH: usize>(
        &mut self,
        litlens: &Code<LITLENS>,
        start: usize,
    ) {
        let mut i = start;
        while i < start + N {
            let (code, n) = (litlens.codes[257 + i] as u32, litlens.lengths[257 + i] as u32);
            let (length, extra) = LENGTH_CODES[i];
            let first = 256 - 3 + length as usize;
            // A wide code that is not in use is skipped, which saves most of the work in short
            // blocks that use few lengths.
            let mut value = if WIDTH < 8 || n != 0 { 0 } else { WIDTH };
            while value < WIDTH {
                self.firsts[first + value] = ((value as u32) << n | code) << 8 | (n + extra as u32);
                value += 1;
            }
            i += 1;
        }
    }
}

/// The literal/length code lengths of the fixed trees (RFC 1951, 3.2.6), with the two symbols that
/// are never sent.
const FIXED_LITLENS: [u8; 288] = {
    let mut lengths = [8; 288];
    let mut i = 144;
    while i < 280 {
        lengths[i] = if i < 256 { 9 } else { 7 };
        i += 1;
    }
    lengths
};

/// The tables of the fixed trees.
pub(crate) const FIXED: Tables = {
    let all = Code::from_lengths(FIXED_LITLENS);
    let mut litlens = Code::<LITLENS>::new();
    let mut i = 0;
    while i < LITLENS {
        litlens.lengths[i] = all.lengths[i];
        litlens.codes[i] = all.codes[i];
        i += 1;
    }
    // Distance codes 30 and 31 come last among 32 of equal length, so leaving them out does not
    // change the codes of the other symbols.
    let distances = Code::from_lengths([5; DISTANCES]);
    let mut tables = Tables::new();
    tables.fill(&litlens, &distances);
    tables
};
