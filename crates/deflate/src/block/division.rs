//! Divides a span (up to 256 KiB of input that are parsed together) into blocks. The span is cut
//! into pieces, and neighbours are joined, the pair with the largest gain first.

use super::Coder;
use crate::coding::frequencies::Frequencies;
use crate::kernel::span::Span;
use crate::kernel::split::{ONE, bits};

/// Maximum number of pieces of a span.
const MAX_PIECES: usize = 256;
/// Minimum number of steps (literals or matches) of a piece, except the last.
const MIN_PIECE: usize = 512;
/// Assumed size of a block in bits, besides the entropy of its symbols. It is low on purpose:
/// pieces joined by this estimate are joined without building trees to check it.
const MIN_BLOCK_BITS: u64 = 400;

/// The division of a span.
pub(super) struct Division {
    /// Number of pieces, later of blocks.
    len: usize,
    /// End of each piece, as an offset in the span.
    ends: [usize; MAX_PIECES],
    /// Index of each piece's symbol counts in `symbols`.
    places: [u8; MAX_PIECES],
    symbols: [Frequencies; MAX_PIECES],
    /// Working memory for the summed symbols of two blocks.
    joined: Frequencies,
}

impl Division {
    /// Returns the number of blocks.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the end of a block in the span.
    pub(super) fn end(&self, block: usize) -> usize {
        self.ends[block]
    }

    /// Returns the symbols of a block.
    pub(super) fn symbols(&self, block: usize) -> &Frequencies {
        &self.symbols[usize::from(self.places[block])]
    }

    /// Divides the first `end` bytes of the span, along the path through it.
    pub(super) fn divide(&mut self, coder: &mut Coder<'_>, span: &Span, end: usize) {
        self.cut(span, end);
        // Here costs have the unit of `bits`, which is not 1/64 bit.
        self.join(|symbols| bits(symbols) + u64::from(symbols.extra_bits) * ONE + MIN_BLOCK_BITS * ONE);
        self.join(|symbols| {
            coder.trees.freqs.clone_from(symbols);
            let (fixed, dynamic) = coder.plan();
            fixed.min(dynamic)
        });
    }

    /// Cuts the span into pieces with equal numbers of steps, or fewer in the last.
    fn cut(&mut self, span: &Span, end: usize) {
        let most = span.steps_to(end).div_ceil(MAX_PIECES).max(MIN_PIECE);
        let mut at = 0;
        self.len = 0;
        while at < end {
            at = span.count(at, end, most, &mut self.symbols[self.len]);
            self.ends[self.len] = at;
            self.places[self.len] = self.len as u8;
            self.len += 1;
        }
    }

    /// Joins neighbours as long as a joined block costs no more than the two.
    fn join(&mut self, mut cost: impl FnMut(&Frequencies) -> u64) {
        let mut costs = [0; MAX_PIECES];
        for (block, own) in costs[..self.len].iter_mut().enumerate() {
            *own = cost(self.symbols(block)) as i64;
        }
        // The gain from joining each block with the next one.
        let mut gains = [0; MAX_PIECES];
        for (first, gain) in gains[..self.len - 1].iter_mut().enumerate() {
            *gain = costs[first] + costs[first + 1] - cost(self.joined(first)) as i64;
        }
        while let Some((first, &most)) =
            gains[..self.len - 1].iter().enumerate().max_by_key(|&(_, gain)| gain)
            && most >= 0
        {
            costs[first] += costs[first + 1] - most;
            costs.copy_within(first + 2..self.len, first + 1);
            gains.copy_within(first + 1..self.len, first);
            self.join_two(first);
            for first in first.saturating_sub(1)..(first + 1).min(self.len - 1) {
                gains[first] = costs[first] + costs[first + 1] - cost(self.joined(first)) as i64;
            }
        }
    }

    /// Returns the sum of the symbols of a block and of the next one.
    fn joined(&mut self, first: usize) -> &Frequencies {
        let [a, b] = [first, first + 1].map(|block| usize::from(self.places[block]));
        self.joined.clone_from(&self.symbols[a]);
        self.joined.add(&self.symbols[b]);
        &self.joined
    }

    fn join_two(&mut self, first: usize) {
        self.joined(first);
        core::mem::swap(&mut self.symbols[usize::from(self.places[first])], &mut self.joined);
        self.ends[first] = self.ends[first + 1];
        self.ends.copy_within(first + 2..self.len, first + 1);
        self.places.copy_within(first + 2..self.len, first + 1);
        self.len -= 1;
    }
}
