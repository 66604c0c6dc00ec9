//! Counts the symbols of a block.

use super::tables::{DISTANCES, END_OF_BLOCK, LITLENS};
#[cfg(feature = "alloc")]
use super::token::FIRSTS;
use super::token::{LENGTH_CODES, Tokens, distance_extra_bits};

/// The number of times that each symbol of a block occurs.
#[derive(Clone)]
pub(crate) struct Frequencies {
    /// Literals, lengths, and the end of the block, which counts once.
    pub(crate) litlens: [u32; LITLENS],
    pub(crate) distances: [u32; DISTANCES],
    /// Number of extra bits of all lengths and distances.
    pub(crate) extra_bits: u32,
}

impl Frequencies {
    pub(crate) const fn new() -> Self {
        Frequencies { litlens: [0; LITLENS], distances: [0; DISTANCES], extra_bits: 0 }
    }

    /// Sets the counts to the symbol counts of `tokens`.
    #[inline(always)]
    pub(crate) fn count(&mut self, tokens: &Tokens) {
        for literal in 0..256 {
            self.litlens[literal] =
                u32::from(tokens.firsts[literal]) + u32::from(tokens.seconds[32 + literal]);
        }
        self.set_matches(tokens.firsts[256..].try_into().expect("256 lengths"), &tokens.seconds);
    }

    /// Sets the counts of symbols. `firsts` has the counts of literals and then of lengths,
    /// `distances` the counts of distance symbols.
    #[cfg(feature = "alloc")]
    pub(crate) fn set(&mut self, firsts: &[u32; FIRSTS], distances: &[u32; 32]) {
        self.litlens[..256].copy_from_slice(&firsts[..256]);
        self.set_matches(firsts[256..].try_into().expect("256 lengths"), distances);
    }

    /// Sets the counts to a guess for a block of n `bytes`: each literal once more than it occurs,
    /// the length code 257 + i n / (6 i + 12) times, but at least once, so that short matches are
    /// more frequent, and each distance symbol once.
    #[cfg(feature = "alloc")]
    pub(crate) fn guess(&mut self, bytes: &[u8]) {
        self.litlens = [1; LITLENS];
        for &byte in bytes {
            self.litlens[usize::from(byte)] += 1;
        }
        let matches = bytes.len() as u32 / 12;
        for (code, freq) in (2..).zip(&mut self.litlens[257..]) {
            *freq = (2 * matches / code).max(1);
        }
        self.distances = [1; DISTANCES];
        self.extra_bits = 0;
    }

    /// Sets the counts of length codes from the counts of lengths 3 to 258, and the counts of
    /// distance symbols.
    #[inline(always)]
    fn set_matches<T: Copy + Into<u32>>(&mut self, lengths: &[T; 256], distances: &[T]) {
        self.litlens[END_OF_BLOCK] = 1;
        let codes: &mut [u32; 29] = (&mut self.litlens[257..]).try_into().expect("29 codes");
        sum_codes::<_, 8, 1>(lengths, 0, &mut codes[..8]);
        sum_codes::<_, 4, 2>(lengths, 8, &mut codes[8..12]);
        sum_codes::<_, 4, 4>(lengths, 16, &mut codes[12..16]);
        sum_codes::<_, 4, 8>(lengths, 32, &mut codes[16..20]);
        sum_codes::<_, 4, 16>(lengths, 64, &mut codes[20..24]);
        sum_codes::<_, 4, 32>(lengths, 128, &mut codes[24..28]);
        // Code 284 would include 258, which has a code of its own.
        codes[28] = lengths[255].into();
        codes[27] -= codes[28];
        let mut extra_bits = 0;
        for (&freq, &(_, extra)) in codes.iter().zip(&LENGTH_CODES) {
            extra_bits += freq * u32::from(extra);
        }
        for (symbol, (sum, &freq)) in self.distances.iter_mut().zip(distances).enumerate() {
            *sum = freq.into();
            extra_bits += *sum * distance_extra_bits(symbol);
        }
        self.extra_bits = extra_bits;
    }

    /// Returns the counts divided by a power of two and rounded up, so that they add up to less
    /// than 2^16 - 1 and no symbol that occurs is lost. `symbols` is the number of literals and
    /// lengths: no less than the number of distances, and at least 2^14.
    #[cold]
    pub(crate) fn reduced(&self, symbols: u32) -> Frequencies {
        let shift = (symbols >> 14).ilog2();
        let reduce = |freq: u32| freq.div_ceil(1 << shift);
        Frequencies {
            litlens: self.litlens.map(reduce),
            distances: self.distances.map(reduce),
            extra_bits: 0,
        }
    }

    /// Adds the counts of a part that follows in the same block.
    #[inline(always)]
    pub(crate) fn add(&mut self, other: &Frequencies) {
        for (sum, more) in self.litlens.iter_mut().zip(&other.litlens) {
            *sum += more;
        }
        self.litlens[END_OF_BLOCK] = 1;
        for (sum, more) in self.distances.iter_mut().zip(&other.distances) {
            *sum += more;
        }
        self.extra_bits += other.extra_bits;
    }

    /// Returns the size of the symbols in the fixed trees, in bits, without extra bits and with the
    /// end of the block.
    #[inline(always)]
    pub(crate) fn fixed_cost(&self) -> u64 {
        let sum = |range: core::ops::Range<usize>| -> u32 { self.litlens[range].iter().sum() };
        let distances: u32 = self.distances.iter().sum();
        u64::from(
            sum(0..144) * 8 + sum(144..256) * 9 + sum(256..280) * 7 + sum(280..LITLENS) * 8 + distances * 5,
        )
    }
}

/// Sums the counts of `N` length codes, each for `WIDTH` lengths, beginning with `lengths[start]`.
#[inline(always)]
fn sum_codes<T: Copy + Into<u32>, const N: usize, const WIDTH: usize>(
    lengths: &[T; 256],
    start: usize,
    codes: &mut [u32],
) {
    for (code, counts) in codes[..N].iter_mut().zip(lengths[start..].as_chunks::<WIDTH>().0) {
        *code = counts.iter().map(|&count| count.into()).sum();
    }
}
