//! The trees of one block: from symbol counts to codes and their cost.

use linerate_core::Result;

use super::dispatch::Kernel;
use super::header::Header;
use super::isa::Isa;
use crate::coding::bits::BitWriter;
use crate::coding::huffman::{Code, TreeWork};
use crate::coding::tables::{DISTANCES, END_OF_BLOCK, LITLENS, Tables};
use crate::coding::token::{LENGTH_CODES, Tokens, distance_extra_bits};

/// Literals and lengths below which a block takes the fixed trees without a look at others: the header of others would
/// cost more than they save, in all but 1 of 50 blocks, and there some 8 bits.
pub(crate) const MIN_SYMBOLS: u32 = 72;

/// The trees of a block, and the counts they were built from.
pub(crate) struct Trees {
    litlen_freqs: [u32; LITLENS],
    distance_freqs: [u32; DISTANCES],
    litlens: Code<LITLENS>,
    distances: Code<DISTANCES>,
    header: Header,
    work: TreeWork,
    /// Filled by [`FillTables`].
    pub(crate) tables: Tables,
}

impl Trees {
    pub(crate) const fn new() -> Self {
        Trees {
            litlen_freqs: [0; LITLENS],
            distance_freqs: [0; DISTANCES],
            litlens: Code::new(),
            distances: Code::new(),
            header: Header::new(),
            work: TreeWork::new(),
            tables: Tables::new(),
        }
    }

    /// Writes the 3 header bits of a block, and the trees built last.
    pub(crate) fn put_header(&self, last: bool, bits: &mut BitWriter<'_>) -> Result<()> {
        bits.put(0b100 | u64::from(last), 3)?;
        self.header.put(bits)
    }

    /// Takes the counts of a block; returns the number of its extra bits.
    #[inline(always)]
    fn count(&mut self, tokens: &Tokens) -> u64 {
        for literal in 0..256 {
            self.litlen_freqs[literal] =
                u32::from(tokens.firsts[literal]) + u32::from(tokens.seconds[32 + literal]);
        }
        self.litlen_freqs[END_OF_BLOCK] = 1;
        let lengths: &[u16; 256] = tokens.firsts[256..].try_into().expect("256 lengths");
        let codes: &mut [u32; 29] = (&mut self.litlen_freqs[257..]).try_into().expect("29 codes");
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
            self.distance_freqs[symbol] = freq;
            extra_bits += freq * distance_extra_bits(symbol);
        }
        u64::from(extra_bits)
    }

    /// Bits of the symbols counted, end of block included, in the fixed trees.
    #[inline(always)]
    fn fixed_cost(&self) -> u64 {
        let sum = |range: core::ops::Range<usize>| -> u32 { self.litlen_freqs[range].iter().sum() };
        let distances: u32 = self.distance_freqs.iter().sum();
        u64::from(
            sum(0..144) * 8 + sum(144..256) * 9 + sum(256..280) * 7 + sum(280..LITLENS) * 8 + distances * 5,
        )
    }

    /// Builds the optimal trees for the symbols counted; returns the bits of header and symbols.
    ///
    /// # Safety
    /// The CPU must support the tier that `I` is for.
    #[inline(always)]
    unsafe fn make<I: Isa>(&mut self) -> u64 {
        self.litlens.make(&self.litlen_freqs, 15, &mut self.work);
        self.distances.make(&self.distance_freqs, 15, &mut self.work);
        // SAFETY: as the caller vouches.
        let header =
            unsafe { self.header.make::<I>(&self.litlens.lengths, &self.distances.lengths, &mut self.work) };
        let cost = |freqs: &[u32], lengths: &[u8]| -> u32 {
            freqs.iter().zip(lengths).map(|(&f, &l)| f * u32::from(l)).sum()
        };
        u64::from(
            header
                + cost(&self.litlen_freqs, &self.litlens.lengths)
                + cost(&self.distance_freqs, &self.distances.lengths),
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

/// Counts the symbols of a block and builds the optimal trees. Returns the bits of the block with the fixed
/// trees and with these, including its 3 header bits.
pub(crate) struct PlanTrees<'a> {
    pub(crate) trees: &'a mut Trees,
    pub(crate) tokens: &'a Tokens,
    /// A block of fewer literals and lengths takes the fixed trees.
    pub(crate) min_symbols: u32,
}

impl Kernel for PlanTrees<'_> {
    type Output = (u64, u64);

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> (u64, u64) {
        let extra_bits = self.trees.count(self.tokens);
        let fixed = 3 + self.trees.fixed_cost() + extra_bits;
        if self.trees.litlen_freqs.iter().sum::<u32>() < self.min_symbols {
            return (fixed, u64::MAX);
        }
        // SAFETY: as the caller vouches.
        let made = unsafe { self.trees.make::<I>() };
        (fixed, 3 + made + extra_bits)
    }
}

/// Fills the emission tables for the trees built.
pub(crate) struct FillTables<'a>(pub(crate) &'a mut Trees);

impl Kernel for FillTables<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<I: Isa>(self) {
        self.0.tables.fill(&self.0.litlens, &self.0.distances);
    }
}
