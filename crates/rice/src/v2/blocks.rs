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

/// What blocks take.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cost {
    /// Bytes of fixed bits.
    pub(super) fixed: usize,
    /// Bits of unary codes.
    pub(super) unary: u64,
    pub(super) escapes: usize,
}

impl Cost {
    fn bits<W: Word>(&self) -> u64 {
        8 * self.fixed as u64 + self.unary + self.escapes as u64 * u64::from(W::BITS)
    }

    fn add(&mut self, other: Cost) {
        self.fixed += other.fixed;
        self.unary += other.unary;
        self.escapes += other.escapes;
    }

    fn remove(&mut self, other: Cost) {
        self.fixed -= other.fixed;
        self.unary -= other.unary;
        self.escapes -= other.escapes;
    }
}

/// What the first `n` values of `block` take in `mode`, which must be able to hold them. The other
/// values are zeros.
#[inline(always)]
fn cost<W: Word>(block: &[W; BLOCK], n: usize, mode: u8) -> Cost {
    let fixed = fixed_bytes(mode, n);
    if !has_unary::<W>(mode) {
        return Cost { fixed, ..Cost::default() };
    }
    let (sum, escapes) = W::quotients(block, u32::from(mode) - 1, ESCAPE);
    Cost { fixed, unary: n as u64 + u64::from(sum), escapes: escapes as usize }
}

/// The mode that takes the fewest bits for a block, and what it takes; and how many bits more the
/// block takes about in the modes below and above.
struct Best {
    mode: u8,
    cost: Cost,
    below: u64,
    above: u64,
}

/// The best mode for the first `n` values of `block`, or one next to it: the sum of the values
/// tells about where it is, and a few outliers let it be lower than that.
#[inline(always)]
fn best<W: Word>(block: &[W; BLOCK], n: usize) -> Best {
    let sum = W::sum(block);
    let n64 = n as u64;
    if sum == 0 {
        return Best { mode: 0, cost: Cost::default(), below: 0, above: n64 };
    }
    let bits = |cost: &Cost| cost.bits::<W>();
    let mut mode = about::<W>(sum, n64);
    let mut here = cost(block, n, mode);
    let mut below = u64::MAX;
    while mode > 1 {
        let lower = cost(block, n, mode - 1);
        below = bits(&lower);
        if below > bits(&here) {
            break;
        }
        (here, mode) = (lower, mode - 1);
    }
    if bits(&here) > n64 * u64::from(W::BITS) {
        (mode, here) = (plain::<W>(), cost(block, n, plain::<W>()));
    }
    // One bit more for each value, and about half of the zeros less.
    let above = n64.saturating_sub((here.unary.saturating_sub(n64)) / 2);
    Best { mode, cost: here, below: below.saturating_sub(bits(&here)), above }
}

/// The mode in which n values of that sum take fewest bits if they are spread evenly: k + 1 bits
/// each, and a 2^k-th of what is left of the sum without low bits.
#[inline(always)]
fn about<W: Word>(sum: u64, n: u64) -> u8 {
    let k = (sum / n).checked_ilog2().unwrap_or(0).saturating_sub(1);
    let bits = |k: u32| n * u64::from(k) + (sum.saturating_sub(n * ((1 << k) - 1) / 2) >> k);
    let best = if bits(k + 1) < bits(k) { k + 1 } else { k };
    (best as u8 + 1).min(plain::<W>())
}

/// Sums over the blocks that would like one mode.
#[derive(Clone, Copy, Default)]
struct Wish {
    blocks: u64,
    /// Bits more that they take in the mode below, and in the one above.
    below: u64,
    above: u64,
}

/// Chooses the modes that the segment may use and that of each block. Returns the former, and
/// what all blocks take.
#[inline(always)]
pub(super) fn choose<W: Word>(z: &[W], chosen: &mut Vec<u8>) -> (Modes, Cost) {
    chosen.clear();
    let mut wishes = [Wish::default(); 34];
    let mut total = Cost::default();
    for block in z.chunks(BLOCK) {
        let best = best(&padded(block), block.len());
        let wish = &mut wishes[usize::from(best.mode)];
        wish.blocks += 1;
        wish.below = wish.below.saturating_add(best.below);
        wish.above += best.above;
        total.add(best.cost);
        chosen.push(best.mode);
    }
    let modes = window::<W>(&wishes);
    for (block, chosen) in z.chunks(BLOCK).zip(chosen) {
        let nearest = modes.nearest(*chosen);
        if nearest != *chosen {
            let block_cost = |mode| cost(&padded(block), block.len(), mode);
            total.remove(block_cost(*chosen));
            total.add(block_cost(nearest));
            *chosen = nearest;
        }
    }
    (modes, total)
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
                core::cmp::Ordering::Less => wish.below.min(u64::MAX >> 42) << (mode - nearest - 1),
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
