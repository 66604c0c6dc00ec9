//! Levels 8 and 9: near-optimal parsing, as in libdeflate and zopfli.
//!
//! The input is processed in spans. For each span, the matches are found first. A first parse finds
//! the cheapest path through them by the costs of the last block written, or by a guess.
//! [`Division`] cuts the path into pieces and joins neighbours into blocks. Each block is parsed
//! again by the costs of its own symbols: once at level 8, and at level 9 until another parse gains
//! hardly anything, at most ten times. Some blocks at level 9 start over from the fixed trees.

use core::ops::Range;

use linerate_core::Result;

use super::division::Division;
use super::{Call, Coder, Output};
use crate::coding::costs::Costs;
use crate::coding::token::CAPACITY;
use crate::kernel::binary_trees::{BinaryTrees, TreeTables};
use crate::kernel::cheapest::Cheapest;
use crate::kernel::dispatch::dispatch;
use crate::kernel::incompressible::{is_incompressible, skip_with};
use crate::kernel::span::{Gather, Gathered, Span};
use crate::kernel::trees::PlanTrees;
use crate::levels::Effort;

/// Size in bytes of spans up to which level 9 repeats the parses of each block, starting from the
/// costs of the fixed trees.
const SHORT: usize = 16 << 10;
/// In a longer span, level 9 repeats the parses of a block only if it has at most this many
/// different literals.
const FEW_LITERALS: usize = 3;
/// Another pass follows if the last one gained more than one bit in 2^`MIN_GAIN`.
const MIN_GAIN: u32 = 11;

/// Working memory of levels 8 and 9: just under 7 MiB.
pub(crate) struct Optimal {
    tables: TreeTables,
    parse: OptimalParse,
}

struct OptimalParse {
    span: Span,
    division: Division,
    /// Costs by which the next path is found.
    costs: Costs,
    /// Costs by which the last path was found.
    last: Costs,
    /// Costs by which the best path was found.
    best: Costs,
}

const _: () = assert!(size_of::<Optimal>() <= 7 << 20);

/// A block of a span.
struct Block<'a> {
    bytes: &'a [u8],
    /// Start of the block in the span.
    first: usize,
    /// End of the block's matches in the span's list of matches.
    matches_end: usize,
}

impl Coder<'_> {
    /// Encodes a call at level 8 or 9.
    pub(super) fn optimal(
        &mut self,
        effort: Effort,
        Optimal { tables, parse }: &mut Optimal,
        output: &mut Output<'_, '_>,
    ) -> Result<()> {
        let Call { buffer, history, window, .. } = *output.call;
        let mut trees = BinaryTrees::begin(tables, buffer.len(), window, effort);
        trees.insert_all(buffer, 0, history);
        let mut start = history;
        let mut is_first = true;
        while start < buffer.len() {
            let gather = Gather { trees: &mut trees, span: &mut parse.span, buffer, start };
            let gathered = dispatch(self.tier, gather);
            let end = gathered.end;
            if !(gathered.incompressible_throughout && is_incompressible(&buffer[start..])) {
                if is_first {
                    self.trees.freqs.guess(&buffer[start..end]);
                    is_first = false;
                }
                self.span(effort, parse, &gathered, start, output)?;
            }
            start = if gathered.incompressible {
                skip_with(buffer, end, |at, _| trees.insert_one(buffer, at))
            } else {
                end
            };
        }
        Ok(())
    }

    /// Parses a span, divides it into blocks and writes them. The first parse uses the costs of the
    /// symbols counted last.
    fn span(
        &mut self,
        effort: Effort,
        parse: &mut OptimalParse,
        gathered: &Gathered,
        start: usize,
        output: &mut Output<'_, '_>,
    ) -> Result<()> {
        let bytes = &output.call.buffer[start..gathered.end];
        let whole = Block { bytes, first: 0, matches_end: gathered.matches };
        self.price(&mut parse.costs);
        self.parse(parse, &whole);
        parse.division.divide(self, &parse.span, bytes.len());
        let (mut first, mut matches_end) = (0, 0);
        for number in 0..parse.division.len() {
            let end = parse.division.end(number);
            matches_end += parse.span.here[first..end].iter().map(|here| here.count()).sum::<usize>();
            self.trees.freqs.clone_from(parse.division.symbols(number));
            self.price(&mut parse.costs);
            let block = Block { bytes: &bytes[first..end], first, matches_end };
            let literals = self.trees.freqs.litlens[..256].iter().filter(|&&freq| freq > 0).count();
            let bits = self.refine(effort, parse, &block);
            if effort.max_passes > 1 && (bytes.len() <= SHORT || literals <= FEW_LITERALS) {
                self.refine_again(effort, parse, &block, bits);
            }
            self.write_steps(output, start, first..end, &parse.span)?;
            first = end;
        }
        Ok(())
    }

    /// Finds the cheapest path by `parse.costs`.
    fn parse(&mut self, parse: &mut OptimalParse, block: &Block<'_>) {
        let OptimalParse { span, costs, .. } = parse;
        let &Block { bytes, first, matches_end } = block;
        dispatch(self.tier, Cheapest { bytes, span, first, matches_end, costs });
    }

    /// Finds the cheapest path and counts its symbols.
    fn pass(&mut self, parse: &mut OptimalParse, block: &Block<'_>) {
        self.parse(parse, block);
        let end = block.first + block.bytes.len();
        parse.span.count(block.first, end, usize::MAX, &mut self.trees.freqs);
    }

    /// Finds up to `effort.max_passes` paths through the block, each by the costs of the path
    /// before, until another gains no more than one part in 2^`MIN_GAIN`. Counts the symbols of the
    /// last path, which is at most that part larger than the best, and returns the size of the best
    /// in bits.
    fn refine(&mut self, effort: Effort, parse: &mut OptimalParse, block: &Block<'_>) -> u64 {
        let mut least = u64::MAX;
        for _ in 0..effort.max_passes {
            self.pass(parse, block);
            parse.last.clone_from(&parse.costs);
            let bits = self.price(&mut parse.costs);
            let trifle = bits >> MIN_GAIN;
            if bits > least.saturating_add(trifle) {
                parse.costs.clone_from(&parse.best);
                self.pass(parse, block);
                break;
            }
            let gain = least.saturating_sub(bits);
            if bits < least {
                parse.best.clone_from(&parse.last);
                least = bits;
            }
            if gain <= trifle {
                break;
            }
        }
        least
    }

    /// Refines again from the costs of the fixed trees, and keeps the result if it is no larger
    /// than `bits`, the result so far. Blocks with few symbols have many local minima.
    fn refine_again(&mut self, effort: Effort, parse: &mut OptimalParse, block: &Block<'_>, bits: u64) {
        let before = parse.best.clone();
        parse.costs.set_fixed();
        if self.refine(effort, parse, block) > bits {
            parse.costs = before;
            self.pass(parse, block);
        }
    }

    /// Builds trees for the counted symbols. Sets the costs to the costs in these trees, or in the
    /// fixed trees if they are cheaper. Returns the size of the block in bits.
    fn price(&mut self, costs: &mut Costs) -> u64 {
        let (fixed, dynamic) = self.plan();
        if fixed <= dynamic {
            costs.set_fixed();
        } else {
            self.trees.set_costs(costs);
        }
        fixed.min(dynamic)
    }

    /// Builds trees for the counted symbols, and returns the sizes in bits of a block with the
    /// fixed trees and with these.
    pub(super) fn plan(&mut self) -> (u64, u64) {
        let Coder { tier, trees, min_symbols, .. } = self;
        dispatch(*tier, PlanTrees { trees, tokens: None, min_symbols: *min_symbols })
    }

    /// Writes a block of the span that begins at `start` in the buffer, or leaves it to the stored
    /// run.
    fn write_steps(
        &mut self,
        output: &mut Output<'_, '_>,
        start: usize,
        block: Range<usize>,
        span: &Span,
    ) -> Result<()> {
        let costs = self.plan();
        let bytes = start + block.start..start + block.end;
        let Some(begun) = self.begin_block(output, bytes, costs)? else {
            return Ok(());
        };
        let mut at = block.start;
        while at < block.end {
            let mut len = 0;
            while at < block.end && len < CAPACITY {
                let step = span.steps[at];
                self.tokens.list[len] = step.token();
                at += step.len();
                len += 1;
            }
            self.emit(output, &begun, len)?;
        }
        self.end_block(output, &begun)
    }
}
