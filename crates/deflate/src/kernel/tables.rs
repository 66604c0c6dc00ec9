//! Emission tables: the bits of each half of a token.

use crate::coding::huffman::Code;
use crate::coding::token::{FIRSTS, LENGTH_CODES, NONE, SECONDS, distance_extra_bits, distance_symbol};

/// Literal/length symbols in use: literals, end of block, 29 lengths.
pub(crate) const LITLENS: usize = 286;
/// Distance symbols in use.
pub(crate) const DISTANCES: usize = 30;
pub(crate) const END_OF_BLOCK: usize = 256;

/// The two halves of a token in bits, for one pair of trees.
#[derive(Clone)]
pub(crate) struct Tables {
    /// Per `first`: value (code, then extra bits of the length) << 8 | number of bits, up to 20.
    pub(super) firsts: [u32; FIRSTS],
    /// Per `second`: code << 16 | bits of the code << 8 | bits with the extra ones, up to 28.
    pub(super) seconds: [u32; SECONDS],
    /// As an entry of `firsts`.
    pub(super) end_of_block: u32,
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
        i = 0;
        while i < 29 {
            // A length without a code is not filled in, which saves most of the work when few
            // bytes use few lengths.
            if litlens.lengths[257 + i] != 0 {
                self.fill_length(i, litlens.codes[257 + i] as u32, litlens.lengths[257 + i] as u32);
            }
            i += 1;
        }
        i = 0;
        while i < DISTANCES {
            let n = distances.lengths[i] as u32;
            self.seconds[i] = (distances.codes[i] as u32) << 16 | n << 8 | (n + distance_extra_bits(i));
            i += 1;
        }
        self.seconds[NONE as usize] = 0;
    }

    /// A literal in bits.
    #[inline(always)]
    pub(super) fn literal(&self, literal: u32) -> Bits {
        Bits(u64::from(self.firsts[literal as usize & 0xff]))
    }

    /// A length, 3 to 258, in bits.
    #[inline(always)]
    pub(super) fn length(&self, length: usize) -> Bits {
        debug_assert!((3..=258).contains(&length));
        // SAFETY: matches are of that length.
        Bits(u64::from(unsafe { *self.firsts.get_unchecked(256 - 3 + length) }))
    }

    /// A distance, 1 to 32,768, in bits.
    #[inline(always)]
    pub(super) fn distance(&self, distance: usize) -> Bits {
        let (symbol, extra) = distance_symbol(distance as u32);
        // SAFETY: a distance symbol is below 30.
        let entry = unsafe { *self.seconds.get_unchecked(symbol as usize) };
        let value = u64::from(entry >> 16) | u64::from(extra) << (entry >> 8 & 0xff);
        Bits(value << 8 | u64::from(entry & 0xff))
    }

    /// Fills in the lengths of length code `i`, whose Huffman code is `code` in `n` bits.
    #[inline(always)]
    const fn fill_length(&mut self, i: usize, code: u32, n: u32) {
        let (length, extra) = LENGTH_CODES[i];
        let first = 256 - 3 + length as usize;
        // Code 284 would reach to 258, which has a code of its own.
        let count = if i == 27 { 31 } else { 1 << extra };
        let mut value = 0;
        while value < count {
            self.firsts[first + value] = ((value as u32) << n | code) << 8 | (n + extra as u32);
            value += 1;
        }
    }
}

/// Up to 56 bits << 8 | their number.
#[derive(Clone, Copy)]
pub(super) struct Bits(pub(super) u64);

impl Bits {
    #[inline(always)]
    pub(super) fn value(self) -> u64 {
        self.0 >> 8
    }

    #[inline(always)]
    pub(super) fn len(self) -> u32 {
        self.0 as u32 & 0xff
    }

    /// These bits, then `next`.
    #[inline(always)]
    pub(super) fn then(self, next: Bits) -> Self {
        // `next` is shifted by the number of bits in `self`, its own number not.
        Bits(self.0 + ((next.0 & !0xff) << (self.0 & 0xff)) + (next.0 & 0xff))
    }
}

/// The literal/length lengths of the fixed trees (RFC 1951, 3.2.6), with the two symbols that are
/// never sent.
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
    // Distance codes 30 and 31 come last among 32 of one length: leaving them out changes nothing.
    let distances = Code::from_lengths([5; DISTANCES]);
    let mut tables = Tables::new();
    tables.fill(&litlens, &distances);
    tables
};
