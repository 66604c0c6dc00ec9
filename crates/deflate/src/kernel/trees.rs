//! The trees of a block: builds codes from symbol counts, and computes their cost.

use linerate_core::Result;

use super::dispatch::Kernel;
use super::header::Header;
use super::isa::Isa;
use crate::coding::bits::BitWriter;
#[cfg(feature = "alloc")]
use crate::coding::costs::Costs;
use crate::coding::frequencies::Frequencies;
use crate::coding::huffman::{Code, MAX_SUM, TreeWork};
use crate::coding::tables::{DISTANCES, LITLENS, Tables};
use crate::coding::token::Tokens;

/// Number of literals and lengths below which a block gets the fixed trees without trying others.
/// In 49 of 50 such blocks the header of other trees would cost more than they save; in the rest
/// they would save about 8 bits.
pub(crate) const MIN_SYMBOLS: u32 = 72;

/// The trees of a block, and the counts they were built from.
pub(crate) struct Trees {
    pub(crate) freqs: Frequencies,
    /// The counts of the last piece of the input, which may not belong to the block.
    pub(crate) piece: Frequencies,
    litlens: Code<LITLENS>,
    distances: Code<DISTANCES>,
    header: Header,
    work: TreeWork,
    /// The emission tables, filled by [`FillTables`].
    pub(crate) tables: Tables,
}

impl Trees {
    pub(crate) const fn new() -> Self {
        Trees {
            freqs: Frequencies::new(),
            piece: Frequencies::new(),
            litlens: Code::new(),
            distances: Code::new(),
            header: Header::new(),
            work: TreeWork::new(),
            tables: Tables::new(),
        }
    }

    /// Makes the counts of the last piece the counts of another block.
    pub(crate) fn begin_at_piece(&mut self) {
        core::mem::swap(&mut self.freqs, &mut self.piece);
    }

    /// Sets the costs for a block of the counted symbols with the trees built last.
    #[cfg(feature = "alloc")]
    pub(crate) fn set_costs(&self, costs: &mut Costs) {
        costs.set(&self.freqs, &self.litlens.lengths, &self.distances.lengths);
    }

    /// Writes the 3 header bits of a block and the trees built last.
    pub(crate) fn put_header(&self, last: bool, bits: &mut BitWriter<'_>) -> Result<()> {
        bits.put(0b100 | u64::from(last), 3)?;
        self.header.put(bits)
    }

    /// Builds trees for the counted symbols, and returns the size in bits of header and symbols.
    /// The trees are optimal except for [`Code::make`]'s length limit; more than [`MAX_SUM`]
    /// symbols get trees for rounded counts.
    ///
    /// # Safety
    /// The CPU must support the tier that `I` is for.
    #[inline(always)]
    unsafe fn make<I: Isa>(&mut self, symbols: u32) -> u64 {
        let reduced;
        let mut freqs = &self.freqs;
        if symbols > MAX_SUM {
            reduced = freqs.reduced(symbols);
            freqs = &reduced;
        }
        self.litlens.make(&freqs.litlens, 15, &mut self.work);
        self.distances.make(&freqs.distances, 15, &mut self.work);
        // SAFETY: as the caller vouches.
        let header =
            unsafe { self.header.make::<I>(&self.litlens.lengths, &self.distances.lengths, &mut self.work) };
        let cost = |freqs: &[u32], lengths: &[u8]| -> u32 {
            freqs.iter().zip(lengths).map(|(&f, &l)| f * u32::from(l)).sum()
        };
        u64::from(
            header
                + cost(&self.freqs.litlens, &self.litlens.lengths)
                + cost(&self.freqs.distances, &self.distances.lengths),
        )
    }
}

/// Builds trees for a block. Returns the size of the block in bits with the fixed trees and with
/// these, including its 3 header bits. The second is [`u64::MAX`] for fewer than `min_symbols`.
pub(crate) struct PlanTrees<'a> {
    pub(crate) trees: &'a mut Trees,
    /// The tokens of the block, if its symbols have not been counted yet.
    pub(crate) tokens: Option<&'a Tokens>,
    /// A block of fewer literals and lengths gets the fixed trees.
    pub(crate) min_symbols: u32,
}

impl Kernel for PlanTrees<'_> {
    type Output = (u64, u64);

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> (u64, u64) {
        if let Some(tokens) = self.tokens {
            self.trees.freqs.count(tokens);
        }
        let freqs = &self.trees.freqs;
        let extra_bits = u64::from(freqs.extra_bits);
        let fixed = 3 + freqs.fixed_cost() + extra_bits;
        let symbols = freqs.litlens.iter().sum();
        if symbols < self.min_symbols {
            return (fixed, u64::MAX);
        }
        // SAFETY: as the caller vouches.
        let made = unsafe { self.trees.make::<I>(symbols) };
        (fixed, 3 + made + extra_bits)
    }
}

/// Fills the emission tables for the trees built last.
pub(crate) struct FillTables<'a>(pub(crate) &'a mut Trees);

impl Kernel for FillTables<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<I: Isa>(self) {
        self.0.tables.fill(&self.0.litlens, &self.0.distances);
    }
}
