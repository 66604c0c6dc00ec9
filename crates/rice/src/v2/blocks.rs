//! Blocks of 32 residuals: their modes, their sizes, and the choice of modes.
//!
//! Mode 0 is a block of zeros. Mode 1 + k is a Rice code with parameter 2^k, for each k below the
//! number of bits of a word. The mode after these holds zigzag values verbatim.
//!
//! A segment's modes are within 2^w of its lowest one, and take w bits each.

use alloc::vec::Vec;

use super::element::Word;
use super::{BLOCK, ESCAPE};
use crate::kernel::isa::Isa;
use crate::kernel::quotients::Sums;

/// The modes that blocks of a segment may have: 2^`width` modes from `low` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Modes {
    low: u8,
    width: u8,
    highest: u8,
}

/// The mode of verbatim zigzag values.
pub(crate) const fn plain<W: Word>() -> u8 {
    W::BITS as u8 + 1
}

/// Whether the samples of a block have unary codes.
pub(crate) const fn has_unary<W: Word>(mode: u8) -> bool {
    mode != 0 && mode != plain::<W>()
}

/// Size in bytes of the fixed bits of a block of `n` samples.
pub(crate) const fn fixed_bytes(mode: u8, n: usize) -> usize {
    (n * (mode as usize).saturating_sub(1)).div_ceil(8)
}

impl Modes {
    /// Creates the modes. `None` if there is no mode `low`, or if `width` is above 6.
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

    /// Size in bytes of the packed modes of `blocks` blocks.
    pub(super) fn bytes(&self, blocks: usize) -> usize {
        (blocks * usize::from(self.width)).div_ceil(8)
    }

    /// Unpacks the modes of `blocks` blocks. `None` if a mode does not exist, or if the padding is
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

    /// Packs modes to the front of `out`: the inverse of [`Modes::unpack`]. Returns their size in
    /// bytes.
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

    /// Returns the mode of the segment that is closest to `mode`.
    fn nearest(&self, mode: u8) -> u8 {
        let last = (u32::from(self.low) + (1 << self.width) - 1).min(self.highest.into()) as u8;
        mode.clamp(self.low, last)
    }
}

/// Pads a block with zeros if it is shorter than [`BLOCK`].
#[inline(always)]
pub(crate) fn padded<W: Word>(block: &[W]) -> [W; BLOCK] {
    match block.first_chunk() {
        Some(block) => *block,
        None => {
            let mut whole = [W::default(); BLOCK];
            whole[..block.len()].copy_from_slice(block);
            whole
        }
    }
}

/// Estimates the bits that the zigzag values `z` take, with the best parameter for each block and
/// without escapes.
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

/// Size of one or several encoded blocks.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cost {
    /// Number of bytes of fixed bits.
    pub(super) fixed: usize,
    /// Number of bits of unary codes.
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

/// Returns the size of the first `n` values of `block` in `mode`, which must be able to hold them.
/// The other values must be zero.
#[inline(always)]
fn cost<W: Word>(block: &[W; BLOCK], n: usize, mode: u8) -> Cost {
    let fixed = fixed_bytes(mode, n);
    if !has_unary::<W>(mode) {
        return Cost { fixed, ..Cost::default() };
    }
    let k = u32::from(mode) - 1;
    rice_cost(W::quotients(block, k, ESCAPE), n, k)
}

/// Size of `n` values in a Rice code, whose quotients have this sum, and this number of escapes.
#[inline(always)]
fn rice_cost((sum, escapes): (u32, u32), n: usize, k: u32) -> Cost {
    let fixed = fixed_bytes(k as u8 + 1, n);
    Cost { fixed, unary: n as u64 + u64::from(sum), escapes: escapes as usize }
}

/// The mode that was found best for a block, the block's size in that mode, and about how many more
/// bits it takes in the modes below and above.
struct Best {
    mode: u8,
    cost: Cost,
    below: u64,
    above: u64,
}

/// Totals of the blocks that have the same best mode.
#[derive(Clone, Copy, Default)]
struct ModeTotals {
    blocks: u64,
    /// Bits that these blocks would take more in the mode below.
    below: u64,
    /// Bits that these blocks would take more in the mode above.
    above: u64,
}

impl Best {
    /// Adds the block to the totals of its mode and to the size of all blocks, and returns the
    /// mode.
    #[inline(always)]
    fn add_to(self, by_mode: &mut [ModeTotals; 34], total: &mut Cost) -> u8 {
        let totals = &mut by_mode[usize::from(self.mode)];
        totals.blocks += 1;
        totals.below = totals.below.saturating_add(self.below);
        totals.above += self.above;
        total.add(self.cost);
        self.mode
    }
}

/// Finds a mode with about the fewest bits for the first `n` values of `block`. Starts at an
/// estimate from the sum of the values, which outliers make too high, and goes down as long as that
/// takes no more bits.
#[inline(always)]
fn best<W: Word, I: Isa>(sums: &Sums<I>, block: &[W; BLOCK], n: usize) -> Best {
    let sum = sums.values(block);
    let n64 = n as u64;
    if sum == 0 {
        return Best { mode: 0, cost: Cost::default(), below: 0, above: n64 };
    }
    let bits = |cost: &Cost| cost.bits::<W>();
    let mut mode = estimate_mode::<W>(sum, n64);
    let (mut here, mut below);
    match lower_by_at_most_one(sums, block, n, mode) {
        Some((down, cost, bits_below)) => (mode, here, below) = (mode - down, cost, bits_below),
        None => {
            (here, below) = (cost(block, n, mode), u64::MAX);
            while mode > 1 {
                let lower = cost(block, n, mode - 1);
                below = bits(&lower);
                if below > bits(&here) {
                    break;
                }
                (here, mode) = (lower, mode - 1);
            }
        }
    }
    if bits(&here) > n64 * u64::from(W::BITS) {
        (mode, here) = (plain::<W>(), cost(block, n, plain::<W>()));
    }
    // The mode above takes one more fixed bit per value, and about half of the zeros in unary
    // codes.
    let above = n64.saturating_sub((here.unary.saturating_sub(n64)) / 2);
    Best { mode, cost: here, below: below.saturating_sub(bits(&here)), above }
}

/// Searches down from `mode` by at most one. Returns by how much the search goes down, the size
/// there, and the bits of the mode below; `None` if the search would go on. Computes three sizes at
/// once and chooses without a branch, which a CPU would often predict wrongly.
#[inline(always)]
fn lower_by_at_most_one<W: Word, I: Isa>(
    sums: &Sums<I>,
    block: &[W; BLOCK],
    n: usize,
    mode: u8,
) -> Option<(u8, Cost, u64)> {
    if mode < 3 || mode == plain::<W>() {
        return None;
    }
    let k = u32::from(mode - 1);
    let quotients = sums.quotients(block, [k, k - 1, k - 2])?;
    let of = |i: usize| rice_cost(quotients[i], n, k - i as u32);
    let costs = [of(0), of(1), of(2)];
    let bits = costs.map(|cost| cost.bits::<W>());
    let down = usize::from(bits[1] <= bits[0]);
    (bits[down + 1] > bits[down]).then_some((down as u8, costs[down], bits[down + 1]))
}

/// Estimates the mode with the fewest bits for `n` values with this sum. Each value takes k + 1
/// bits, and the quotients together about (sum - n (2^k - 1) / 2) / 2^k bits, since low bits
/// average half of their range.
#[inline(always)]
fn estimate_mode<W: Word>(sum: u64, n: u64) -> u8 {
    let k = (sum / n).checked_ilog2().unwrap_or(0).saturating_sub(1);
    let bits = |k: u32| n * u64::from(k) + (sum.saturating_sub(n * ((1 << k) - 1) / 2) >> k);
    let best = if bits(k + 1) < bits(k) { k + 1 } else { k };
    (best as u8 + 1).min(plain::<W>())
}

/// Chooses the modes of a segment, and the mode of each block. Returns the modes of the segment,
/// and the size of all blocks.
#[inline(always)]
pub(super) fn choose<W: Word, I: Isa>(sums: &Sums<I>, z: &[W], chosen: &mut Vec<u8>) -> (Modes, Cost) {
    chosen.clear();
    chosen.reserve(z.len().div_ceil(BLOCK));
    let mut by_mode = [ModeTotals::default(); 34];
    let mut total = Cost::default();
    // The number of values of a whole block is a constant, so that no division is by a variable.
    let (whole, rest) = z.as_chunks();
    for block in whole {
        chosen.push(best(sums, block, BLOCK).add_to(&mut by_mode, &mut total));
    }
    if !rest.is_empty() {
        chosen.push(best(sums, &padded(rest), rest.len()).add_to(&mut by_mode, &mut total));
    }
    let modes = window::<W>(&by_mode);
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

/// Chooses the modes that make the segment smallest, by an estimate. A block whose best mode is not
/// among them takes extra bits: these double with each step down, and after the first step up they
/// grow by 32 with each further one.
fn window<W: Word>(by_mode: &[ModeTotals; 34]) -> Modes {
    let blocks: u64 = by_mode.iter().map(|w| w.blocks).sum();
    let excess = |modes: &Modes| -> u64 {
        let of = |(mode, totals): (u8, &ModeTotals)| {
            let nearest = modes.nearest(mode);
            match nearest.cmp(&mode) {
                // Mode 0 holds nothing but zeros.
                core::cmp::Ordering::Less if nearest == 0 => u64::MAX >> 8,
                core::cmp::Ordering::Equal => 0,
                core::cmp::Ordering::Less => totals.below.min(u64::MAX >> 42) << (mode - nearest - 1),
                core::cmp::Ordering::Greater => {
                    totals.above + totals.blocks * BLOCK as u64 * u64::from(nearest - mode - 1)
                }
            }
        };
        let used = (0..).zip(by_mode).filter(|(_, w)| w.blocks > 0);
        used.map(of).sum::<u64>() + blocks * u64::from(modes.width)
    };
    let used = |w: &ModeTotals| w.blocks > 0;
    let lowest = by_mode.iter().position(used).unwrap_or(0) as u8;
    let highest = by_mode.iter().rposition(used).unwrap_or(0) as u8;
    let widest = u8::BITS - (highest - lowest).leading_zeros();
    let of_width = |width| (lowest..=highest).map(move |low| Modes { low, width, highest: plain::<W>() });
    // The first one contains the best mode of every block, so every block fits.
    let all = (0..=widest as u8).rev().flat_map(of_width);
    all.min_by_key(excess).unwrap_or(Modes { low: lowest, width: 6, highest: plain::<W>() })
}
