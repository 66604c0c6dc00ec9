//! Decides where blocks end: before a piece of the input whose symbols are distributed differently
//! from the symbols before it.

use super::dispatch::Kernel;
use super::isa::Isa;
use crate::coding::frequencies::Frequencies;
use crate::coding::log2::{self, log2};
use crate::coding::token::Tokens;

/// Number of tokens of a piece.
pub(crate) const PIECE: usize = 1 << 10;

/// Assumed cost of another block in bits, most of it for the header.
const BLOCK_BITS: u64 = 700;

/// Adds the symbol counts of a piece to the counts of the block before it, unless a separate block
/// is estimated to be cheaper. Returns whether it added them.
pub(crate) struct Join<'a> {
    pub(crate) block: &'a mut Frequencies,
    pub(crate) piece: &'a mut Frequencies,
    pub(crate) tokens: &'a Tokens,
    /// Whether the block has no symbols yet.
    pub(crate) is_first: bool,
    /// A piece of fewer literals and lengths always joins, because alone it would get the fixed
    /// trees.
    pub(crate) min_symbols: u32,
}

impl Kernel for Join<'_> {
    type Output = bool;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> bool {
        let Join { block, piece, tokens, is_first, min_symbols } = self;
        if is_first {
            block.count(tokens);
            return true;
        }
        piece.count(tokens);
        let apart = bits(block) + bits(piece);
        let (litlens, distances) = (block.litlens, block.distances);
        block.add(piece);
        let is_long = piece.litlens.iter().sum::<u32>() >= min_symbols;
        if is_long && apart + BLOCK_BITS * ONE < bits(block) {
            (block.litlens, block.distances) = (litlens, distances);
            block.extra_bits -= piece.extra_bits;
            return false;
        }
        true
    }
}

/// One bit in the unit of [`bits`].
pub(crate) const ONE: u64 = log2::ONE as u64;

/// Returns the entropy of the symbols without extra bits, in units of 1 / [`ONE`] bit.
#[inline(always)]
pub(crate) fn bits(freqs: &Frequencies) -> u64 {
    entropy(&freqs.litlens) + entropy(&freqs.distances)
}

#[inline(always)]
fn entropy(freqs: &[u32]) -> u64 {
    let (mut sum, mut all) = (0, 0);
    for &freq in freqs {
        all += u64::from(freq);
        sum += times_log2(freq.into());
    }
    times_log2(all) - sum
}

/// Returns about n log2 n, in units of 1 / [`ONE`]. An even n takes the logarithm of n + 1, so that
/// 0 needs no branch.
#[inline(always)]
fn times_log2(n: u64) -> u64 {
    n * u64::from(log2(n | 1))
}
