//! The cheapest path through a block, given the cost of each symbol, for levels 8 and 9.
//!
//! Dynamic programming from the end to the beginning finds the cheapest step at each position: a
//! literal, or a match with any length up to the length of a match that was found. A shorter length
//! may be cheaper and may end at a better position. Lengths 3 to 10 of a match are compared at
//! once, in the lanes of a vector, and longer ones eight at a time.

use core::hint::select_unpredictable;

use super::binary_trees::Match;
use super::dispatch::Kernel;
use super::isa::Isa;
use super::matcher::MAX_MATCH;
use super::span::{LANES, Span, Step};
use crate::coding::costs::{Costs, MAX_COST, NEVER};

/// A lane holds a cost in 20 bits, the index of the match in 9, and its length - 3 in 3 bits. The
/// cost is relative to the cost from the position 3 bytes ahead. Adding this bias keeps it from
/// going negative.
const BIAS: u32 = 1 << 15;
const _: () = assert!(10 * MAX_COST <= BIAS && (2 * NEVER + 2 * MAX_COST) >> 20 == 0);
/// The bias for longer lengths, whose lanes hold cost << 9 | length - 3.
const LONG_BIAS: u32 = 1 << 20;
const LONG_NEVER: u32 = 1 << 21;
const _: () = assert!(MAX_MATCH as u32 * MAX_COST <= LONG_BIAS && (LONG_NEVER + 2 * MAX_COST) >> 23 == 0);
/// The cost of positions after the end of the block. It is so high that no path goes there.
const BEHIND: u32 = 1 << 30;

/// A mask for each lane, with all bits set in the lanes after it.
static BEHIND_LANE: [[u32; LANES]; LANES] = {
    let mut masks = [[0; LANES]; LANES];
    let mut i = 0;
    while i < LANES * LANES {
        if i % LANES > i / LANES {
            masks[i / LANES][i % LANES] = u32::MAX;
        }
        i += 1;
    }
    masks
};
static LANE: [u32; LANES] = [0, 1, 2, 3, 4, 5, 6, 7];

/// Finds the cheapest path through a block: the best step from each of its positions.
pub(crate) struct Cheapest<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) span: &'a mut Span,
    /// Start of the block, as an offset in its [`Span`].
    pub(crate) first: usize,
    /// End of the block's matches in the span's list of matches.
    pub(crate) matches_end: usize,
    pub(crate) costs: &'a Costs,
}

/// The best step from a position.
#[derive(Clone, Copy)]
struct Best {
    /// Cost to the end of the block.
    cost: u32,
    step: Step,
}

impl Best {
    /// Returns the cheaper of this step and a match with `length_code`, its length - 3.
    #[inline(always)]
    fn or(self, cost: u32, found: Match, length_code: u32) -> Best {
        let is_better = cost < self.cost;
        Best {
            cost: select_unpredictable(is_better, cost, self.cost),
            step: Step(select_unpredictable(is_better, found & !0xff | length_code, self.step.0)),
        }
    }
}

impl Kernel for Cheapest<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<I: Isa>(self) {
        let Cheapest { bytes, span, first, matches_end, costs } = self;
        let n = bytes.len();
        let Span { matches, here, steps, to_end } = span;
        let (here, steps) = (&here[first..first + n], &mut steps[first..first + n]);
        let mut matches = &matches[..matches_end];
        to_end[n] = 0;
        to_end[n + 1..][..MAX_MATCH + LANES].fill(BEHIND);
        // SAFETY: the caller vouches for the tier. Reads from `to_end` are bounds-checked; they end
        // at most eight entries after a match.
        unsafe {
            let short = Short::<I>::new(costs);
            // `ahead` holds the costs from the eight positions that begin three bytes ahead. The
            // other variables hold the costs from one, two and three bytes ahead.
            let mut ahead = I::splat(BEHIND);
            let (mut next, mut second, mut third) = (0, BEHIND, BEHIND);
            for at in (0..n).rev() {
                let byte = bytes[at];
                let cost = next + costs.literals[usize::from(byte)];
                let mut best = Best { cost, step: Step::literal(byte) };
                let of_position;
                (matches, of_position) = matches.split_at(matches.len() - here[at].count());
                if !of_position.is_empty() && at + 3 <= n {
                    best = short.best(of_position, ahead, third, best);
                    if here[at].has_long() {
                        best = best_long::<I>(of_position, costs, &to_end[at..], third, best);
                    }
                }
                to_end[at] = best.cost;
                steps[at] = best.step;
                ahead = I::prepend(second, ahead);
                (next, second, third) = (best.cost, next, second);
            }
        }
    }
}

/// The costs of lengths 3 to 10 and of distances, with the bits of a lane: see [`BIAS`].
struct Short<I: Isa> {
    lengths: I::Lanes,
    distances: [u32; 32],
}

impl<I: Isa> Short<I> {
    /// # Safety
    /// The CPU must support the tier.
    #[inline(always)]
    unsafe fn new(costs: &Costs) -> Self {
        let mut lengths = LANE;
        for (lane, cost) in lengths.iter_mut().zip(&costs.lengths) {
            *lane |= cost << 12;
        }
        // SAFETY: as the caller vouches.
        Short { lengths: unsafe { I::load(&lengths) }, distances: costs.distances.map(|cost| cost << 12) }
    }

    /// Compares lengths 3 to 10 of all matches. `ahead` has the costs from the positions that these
    /// lengths reach, and `third` is the first of them.
    ///
    /// # Safety
    /// The CPU must support the tier.
    #[inline(always)]
    unsafe fn best(&self, matches: &[Match], ahead: I::Lanes, third: u32, best: Best) -> Best {
        // SAFETY: as the caller vouches.
        unsafe {
            let rest = I::add(ahead, I::splat(BIAS.wrapping_sub(third)));
            let rest = I::add(I::shift_left::<12>(I::min(rest, I::splat(NEVER))), self.lengths);
            let mut least = I::splat(u32::MAX);
            for (i, found) in (0..).zip(matches) {
                let distance = self.distances[(found >> 8 & 31) as usize] + (i << 3);
                let behind = I::load(&BEHIND_LANE[(found & 0xff).min(LANES as u32 - 1) as usize]);
                least = I::min(least, I::or(I::add(rest, I::splat(distance)), behind));
            }
            let least = I::least(least);
            let cost = (least >> 12).wrapping_sub(BIAS).wrapping_add(third);
            let found = matches[(least >> 3 & 511) as usize];
            best.or(cost, found, least & 7)
        }
    }
}

/// Compares lengths 11 and above of all matches. `to_end` begins at the position of the matches.
///
/// # Safety
/// The CPU must support the tier.
#[inline(always)]
unsafe fn best_long<I: Isa>(
    matches: &[Match],
    costs: &Costs,
    to_end: &[u32],
    third: u32,
    mut best: Best,
) -> Best {
    // Lengths are stored minus 3. Each match is compared only at lengths that no nearer match has.
    let mut shorter = LANES as u32 - 1;
    for &found in matches {
        let longest = found & 0xff;
        if longest <= shorter {
            continue;
        }
        // SAFETY: as the caller vouches.
        unsafe {
            let distance = costs.distances[(found >> 8 & 31) as usize];
            let mut least = I::splat(u32::MAX);
            for length in (shorter + 1..=longest).step_by(LANES) {
                let at = length as usize;
                let ahead = to_end[at + 3..].first_chunk().expect("eight costs behind the last length");
                let lengths = costs.lengths[at..].first_chunk().expect("eight costs behind the last length");
                let rest = I::add(I::load(ahead), I::splat(LONG_BIAS.wrapping_sub(third)));
                let rest = I::min(rest, I::splat(LONG_NEVER));
                let sum = I::add(I::add(rest, I::load(lengths)), I::splat(distance));
                let lanes = I::or(I::shift_left::<9>(sum), I::add(I::splat(length), I::load(&LANE)));
                let behind = I::load(&BEHIND_LANE[(longest - length).min(LANES as u32 - 1) as usize]);
                least = I::min(least, I::or(lanes, behind));
            }
            let least = I::least(least);
            let cost = (least >> 9).wrapping_sub(LONG_BIAS).wrapping_add(third);
            best = best.or(cost, found, least & 0xff);
        }
        shorter = longest;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use crate::coding::frequencies::Frequencies;
    use crate::coding::tables::{DISTANCES, LITLENS};
    use crate::kernel::binary_trees::{BinaryTrees, TreeTables};
    use crate::kernel::dispatch::dispatch;
    use crate::kernel::span::{Gather, Gathered};
    use crate::sys::zeroed::boxed;

    /// Returns the least cost from each position to the end, in 1/64 bit. It tries every length of
    /// every match.
    fn least(bytes: &[u8], span: &Span, costs: &Costs) -> Vec<u32> {
        let mut least = vec![0; bytes.len() + 1];
        let mut end: usize = span.here[..bytes.len()].iter().map(|here| here.count()).sum();
        for at in (0..bytes.len()).rev() {
            let literal = costs.literals[usize::from(bytes[at])] + least[at + 1];
            let begin = end - span.here[at].count();
            let matches = span.matches[begin..end].iter().filter(|found| **found >> 8 & 31 < 30);
            let matches = matches.flat_map(|found| {
                let lengths = 3..=((found & 0xff) as usize + 3).min(bytes.len() - at);
                let distance = costs.distances[(found >> 8 & 31) as usize];
                lengths.map(|length| distance + costs.lengths[length - 3] + least[at + length]).min()
            });
            least[at] = matches.fold(literal, u32::min);
            end = begin;
        }
        least
    }

    #[test]
    fn every_tier_finds_the_cheapest_path() {
        let mut tables: alloc::boxed::Box<TreeTables> = boxed();
        let mut span: alloc::boxed::Box<Span> = boxed();
        let mut x = 1u32;
        let mut random = |n: u32| {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (x >> 8) % n
        };
        for round in 0..if cfg!(miri) { 3 } else { 300 } {
            let (len, letters, repeat) = (1 + random(900), 1 + random(8), random(300) as usize);
            let mut bytes: Vec<u8> = (0..len).map(|_| random(letters) as u8).collect();
            bytes.extend_from_within(..repeat.min(len as usize));
            let mut freqs = Frequencies::new();
            for freq in freqs.litlens.iter_mut().chain(&mut freqs.distances) {
                *freq = random(1 << (round % 16));
            }
            let mut costs = Costs { literals: [0; 256], lengths: [0; 256 + 8], distances: [0; 32] };
            let (litlens, distances) = ([1 + (round % 15) as u8; LITLENS], [5; DISTANCES]);
            costs.set(&freqs, &litlens, &distances);
            let mut trees = BinaryTrees::begin(&mut tables, bytes.len(), 32_768, Level::Best.effort());
            let gather = Gather { trees: &mut trees, span: &mut span, buffer: &bytes, start: 0 };
            let Gathered { matches: matches_end, .. } = dispatch(linerate_core::Tier::Scalar, gather);
            let expected = least(&bytes, &span, &costs);
            let mut paths =
                linerate_core::Tier::ALL.into_iter().filter(|tier| tier.is_supported()).map(|tier| {
                    let span = &mut *span;
                    dispatch(tier, Cheapest { bytes: &bytes, span, first: 0, matches_end, costs: &costs });
                    assert_eq!(span.to_end[..=bytes.len()], expected, "{tier:?}");
                    span.steps[..bytes.len()].iter().map(|step| step.0).collect::<Vec<_>>()
                });
            let first = paths.next().expect("the scalar tier");
            assert!(paths.all(|path| path == first), "tiers differ");
        }
    }
}
