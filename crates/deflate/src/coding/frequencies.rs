//! How often each symbol of a block occurs.

use super::tables::{DISTANCES, END_OF_BLOCK, LITLENS};
use super::token::{LENGTH_CODES, Tokens, distance_extra_bits};

/// The symbols of a block, counted.
pub(crate) struct Frequencies {
    /// The end of the block counts once.
    pub(crate) litlens: [u32; LITLENS],
    pub(crate) distances: [u32; DISTANCES],
    /// Extra bits of lengths and distances.
    pub(crate) extra_bits: u32,
}

impl Frequencies {
    pub(crate) const fn new() -> Self {
        Frequencies { litlens: [0; LITLENS], distances: [0; DISTANCES], extra_bits: 0 }
    }

    /// Replaces the counts by those of `tokens`.
    #[inline(always)]
    pub(crate) fn count(&mut self, tokens: &Tokens) {
        for literal in 0..256 {
            self.litlens[literal] =
                u32::from(tokens.firsts[literal]) + u32::from(tokens.seconds[32 + literal]);
        }
        self.litlens[END_OF_BLOCK] = 1;
        let lengths: &[u16; 256] = tokens.firsts[256..].try_into().expect("256 lengths");
        let codes: &mut [u32; 29] = (&mut self.litlens[257..]).try_into().expect("29 codes");
        sum_codes::<8, 1>(lengths, 0, &mut codes[..8]);
        sum_codes::<4, 2>(lengths, 8, &mut codes[8..12]);
        sum_codes::<4, 4>(lengths, 16, &mut codes[12..16]);
        sum_codes::<4, 8>(lengths, 32, &mut codes[16..20]);
        sum_codes::<4, 16>(lengths, 64, &mut codes[20..24]);
        sum_codes::<4, 32>(lengths, 128, &mut codes[24..28]);
        // Code 284 would reach to 258, which has a code of its own.
        codes[28] = u32::from(lengths[255]);
        codes[27] -= codes[28];
        let mut extra_bits = 0;
        for (&freq, &(_, extra)) in codes.iter().zip(&LENGTH_CODES) {
            extra_bits += freq * u32::from(extra);
        }
        for symbol in 0..DISTANCES {
            let freq = u32::from(tokens.seconds[symbol]);
            self.distances[symbol] = freq;
            extra_bits += freq * distance_extra_bits(symbol);
        }
        self.extra_bits = extra_bits;
    }

    /// Adds those of what follows in the same block.
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

    /// Bits of the symbols, end of block included, in the fixed trees.
    #[inline(always)]
    pub(crate) fn fixed_cost(&self) -> u64 {
        let sum = |range: core::ops::Range<usize>| -> u32 { self.litlens[range].iter().sum() };
        let distances: u32 = self.distances.iter().sum();
        u64::from(
            sum(0..144) * 8 + sum(144..256) * 9 + sum(256..280) * 7 + sum(280..LITLENS) * 8 + distances * 5,
        )
    }
}

/// Adds up the counts of `N` codes for `WIDTH` lengths each, from `lengths[start]` on.
#[inline(always)]
fn sum_codes<const N: usize, const WIDTH: usize>(lengths: &[u16; 256], start: usize, codes: &mut [u32]) {
    for (code, counts) in codes[..N].iter_mut().zip(lengths[start..].as_chunks::<WIDTH>().0) {
        *code = counts.iter().map(|&c| u32::from(c)).sum();
    }
}
