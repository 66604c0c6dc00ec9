//! Blocks of 32 residuals: their modes, what they take, and the choice of modes.
//!
//! Mode 0 is a block of zeros. Mode 1 + k, k below the bits of a word, is a Rice code of
//! parameter 2^k. The mode after those holds zigzag values as they are.
//!
//! A segment's modes lie within 2^w of its lowest one, and take w bits each.

use alloc::vec::Vec;

use super::element::Word;
use super::{BLOCK, ESCAPE};
use crate::kernel::packing::padded;

/// The modes that a segment may use: those from `low` on that `width` bits can tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Modes {
    low: u8,
    width: u8,
    highest: u8,
}

/// The mode of zigzag values as they are.
pub(crate) const fn plain<W: Word>() -> u8 {
    W::BITS as u8 + 1
}

/// Whether the samples of a block have unary codes.
pub(crate) const fn has_unary<W: Word>(mode: u8) -> bool {
    mode != 0 && mode != plain::<W>()
}

/// Bytes of the fixed bits of `n` samples.
pub(crate) const fn fixed_bytes(mode: u8, n: usize) -> usize {
    (n * (mode as usize).saturating_sub(1)).div_ceil(8)
}

impl Modes {
    /// `None` if there is no mode `low`.
    pub(super) fn new<W: Word>(low: u8, width: u8) -> Option<Modes> {
        let highest = plain::<W>();
        (low <= highest && width <= 6).then_some(Modes { low, width, highest })
    }

    pub(super) fn low(&self) -> u8 {
        self.low
    }

    pub(super) fn width(&self) -> u8 {
        self.width
    }

    /// Bytes that the modes of `blocks` blocks take.
    pub(super) fn bytes(&self, blocks: usize) -> usize {
        (blocks * usize::from(self.width)).div_ceil(8)
    }

    /// The modes of `blocks` blocks. `None` if one does not exist, or if bits are left that are
    /// not zero.
    pub(super) fn unpack(&self, packed: &[u8], blocks: usize, modes: &mut Vec<u8>) -> Option<()> {
        modes.clear();
        let width = u32::from(self.width);
        let (mut bits, mut have) = (0u32, 0);
        let mut bytes = packed.iter();
        for _ in 0..blocks {
            if have < width {
                bits |= u32::from(*bytes.next()?) << have;
                have += 8;
            }
            let mode = self.low + (bits & ((1 << width) - 1)) as u8;
            bits >>= width;
            have -= width;
            if mode > self.highest {
                return None;
            }
            modes.push(mode);
        }
        (bits == 0 && bytes.next().is_none()).then_some(())
    }

    /// The inverse of [`Modes::unpack`], to the front of `out`. Returns the bytes.
    pub(super) fn pack(&self, modes: &[u8], out: &mut [u8]) -> usize {
        let width = u32::from(self.width);
        let (mut bits, mut have, mut at) = (0u32, 0, 0);
        for mode in modes {
            bits |= u32::from(mode - self.low) << have;
            have += width;
            if have >= 8 {
                out[at] = bits as u8;
                (bits, have, at) = (bits >> 8, have - 8, at + 1);
            }
        }
        if have > 0 {
            out[at] = bits as u8;
            at += 1;
        }
        at
    }

    /// The mode closest to `mode` that the segment may use.
    fn nearest(&self, mode: u8) -> u8 {
        let last = (u32::from(self.low) + (1 << self.width) - 1).min(self.highest.into()) as u8;
        mode.clamp(self.low, last)
    }
}

/// About how many bits `z` takes with the best parameter for each block, but for escapes.
#[inline(always)]
pub(super) fn estimate<W: Word>(z: &[W]) -> u64 {
    let (blocks, rest) = z.as_chunks();
    let whole: u64 = blocks.iter().map(|block| estimate_block(block, BLOCK)).sum();
    whole + estimate_block(&padded(rest), rest.len())
}

#[inline(always)]
fn estimate_block<W: Word>(block: &[W; BLOCK], n: usize) -> u64 {
    let (sum, n) = (W::sum(block), n as u64);
    if sum == 0 {
        return 0;
    }
    let k = (sum / n).checked_ilog2().unwrap_or(0).saturating_sub(1);
    let bits = |k: u32| n * u64::from(k + 1) + (sum >> k);
    bits(k).min(bits(k + 1)).min(n * u64::from(W::BITS))
}

/// What a block takes in one mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) bits: u64,
    pub(super) escapes: usize,
}

/// Bits of the first `n` values of `block` in `mode`, which must be able to hold them: fixed bits,
/// unary codes and escapes. The other values are zeros.
#[inline(always)]
fn cost<W: Word>(block: &[W; BLOCK], n: usize, mode: u8) -> Cost {
    let fixed = fixed_bytes(mode, n) as u64 * 8;
    if !has_unary::<W>(mode) {
        return Cost { bits: fixed, escapes: 0 };
    }
    let (sum, escapes) = W::quotients(block, u32::from(mode) - 1, ESCAPE);
    let bits = fixed + n as u64 + u64::from(sum) + u64::from(escapes * W::BITS);
    Cost { bits, escapes: escapes as usize }
}

/// The mode that takes the fewest bits for `block`, and what the modes next to it take: those of
/// the mode below, of the mode itself, and of the mode above.
#[inline(always)]
fn best<W: Word>(block: &[W; BLOCK], n: usize) -> (u8, [u64; 3]) {
    let sum = W::sum(block);
    if sum == 0 {
        return (0, [0, 0, n as u64]);
    }
    let of = |mode| cost(block, n, mode).bits;
    let above = |mode| if mode < plain::<W>() { of(mode + 1) } else { u64::MAX };
    let below = |mode| if mode > 1 { of(mode - 1) } else { u64::MAX };
    let start = (sum / n as u64).checked_ilog2().unwrap_or(0) as u8;
    let mut mode = start.clamp(1, plain::<W>());
    let mut bits = [below(mode), of(mode), above(mode)];
    // What a mode takes falls and then rises with the mode, but for escapes.
    while bits[0] <= bits[1] {
        mode -= 1;
        bits = [below(mode), bits[0], bits[1]];
    }
    while bits[2] < bits[1] {
        mode += 1;
        bits = [bits[1], bits[2], above(mode)];
    }
    (mode, bits.map(|b| if b == u64::MAX { bits[1] } else { b }))
}

/// What a segment's blocks take together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub(super) modes: Modes,
    /// Bytes of fixed bits, of unary codes, and number of escapes.
    pub(super) fixed: usize,
    pub(super) unary_bits: u64,
    pub(super) escapes: usize,
}

/// Sums over the blocks that would like one mode.
#[derive(Clone, Copy, Default)]
struct Wish {
    blocks: u64,
    /// Bits more that they take in the mode below, and in the one above.
    below: u64,
    above: u64,
}

/// Chooses the modes that the segment may use and that of each block.
#[inline(always)]
pub(super) fn choose<W: Word>(z: &[W], chosen: &mut Vec<u8>) -> Choice {
    chosen.clear();
    let mut wishes = [Wish::default(); 34];
    for block in z.chunks(BLOCK) {
        let (mode, [below, here, above]) = best(&padded(block), block.len());
        let wish = &mut wishes[usize::from(mode)];
        wish.blocks += 1;
        wish.below += below.saturating_sub(here);
        wish.above += above.saturating_sub(here);
        chosen.push(mode);
    }
    let modes = window::<W>(&wishes);
    let mut choice = Choice { modes, fixed: 0, unary_bits: 0, escapes: 0 };
    for (block, chosen) in z.chunks(BLOCK).zip(chosen) {
        *chosen = modes.nearest(*chosen);
        let cost = cost(&padded(block), block.len(), *chosen);
        let fixed = fixed_bytes(*chosen, block.len());
        choice.fixed += fixed;
        choice.unary_bits += cost.bits - 8 * fixed as u64 - (cost.escapes * W::BITS as usize) as u64;
        choice.escapes += cost.escapes;
    }
    choice
}

/// The modes that make the segment about smallest: blocks that would like another one are taken
/// to need more bits the further theirs is away, twice as many for each step down, 32 for each
/// step up after the first.
fn window<W: Word>(wishes: &[Wish; 34]) -> Modes {
    let blocks: u64 = wishes.iter().map(|w| w.blocks).sum();
    let excess = |modes: &Modes| -> u64 {
        let of = |(mode, wish): (u8, &Wish)| {
            let nearest = modes.nearest(mode);
            match nearest.cmp(&mode) {
                // Mode 0 holds nothing but zeros.
                core::cmp::Ordering::Less if nearest == 0 => u64::MAX >> 8,
                core::cmp::Ordering::Equal => 0,
                core::cmp::Ordering::Less => wish.below << (mode - nearest - 1),
                core::cmp::Ordering::Greater => {
                    wish.above + wish.blocks * BLOCK as u64 * u64::from(nearest - mode - 1)
                }
            }
        };
        let wished = (0..).zip(wishes).filter(|(_, w)| w.blocks > 0);
        wished.map(of).sum::<u64>() + blocks * u64::from(modes.width)
    };
    let wished = |w: &Wish| w.blocks > 0;
    let lowest = wishes.iter().position(wished).unwrap_or(0) as u8;
    let highest = wishes.iter().rposition(wished).unwrap_or(0) as u8;
    let widest = u8::BITS - (highest - lowest).leading_zeros();
    let of_width = |width| (lowest..=highest).map(move |low| Modes { low, width, highest: plain::<W>() });
    // The first of them holds all modes that are wished for, and so any block.
    let all = (0..=widest as u8).rev().flat_map(of_width);
    all.min_by_key(excess).unwrap_or(Modes { low: lowest, width: 6, highest: plain::<W>() })
}
