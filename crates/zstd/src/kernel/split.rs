//! Decodes a block's sequences into memory, and executes them from there later: the two halves of
//! [`sequences`](super::sequences).
//!
//! Callers guarantee what [`sequences`](super::sequences) demands.

use linerate_core::{Error, Result};

use super::backward;
use super::dispatch::{Kernel, dispatch};
use super::isa::Isa;
use super::sequences::{BATCH, Sequence, SequenceExecutor, SequenceReader};
use crate::entropy::symbolic;
use crate::entropy::tables::{FseTable, RepeatOffsets};
use crate::execute::SLACK;
use crate::kernel_set::KernelSet;
use crate::output::Output;

/// The error of the reference, which has no split kernels.
const NO_TIER: Error = Error::corrupt("the reference does not split blocks");

/// The bitstream of a block's sequences, its tables, and memory for the sequences.
pub(crate) struct CodedSequences<'a> {
    pub(crate) ll: FseTable<'a>,
    pub(crate) of: FseTable<'a>,
    pub(crate) ml: FseTable<'a>,
    /// The input that contains `bits`.
    pub(crate) whole: &'a [u8],
    pub(crate) bits: &'a [u8],
    /// Memory for exactly the sequences of the block, at least 1.
    pub(crate) sequences: &'a mut [Sequence],
}

/// Facts that are known after decoding the sequences of a block.
pub(crate) struct SequencesEnd {
    /// The repeat offsets after the block, which may be [`symbolic`].
    pub(crate) repeats: RepeatOffsets,
    /// Number of sequences after which no sequence has a symbolic offset.
    pub(crate) symbolic: usize,
}

/// Decodes the sequences of a block before the repeat offsets are known.
pub(crate) fn decode(kernels: KernelSet, coded: CodedSequences<'_>) -> Result<SequencesEnd> {
    let KernelSet::Tier(tier) = kernels.compiled() else { return Err(NO_TIER) };
    dispatch(tier, coded)
}

impl Kernel for CodedSequences<'_> {
    type Output = Result<SequencesEnd>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Result<SequencesEnd> {
        let CodedSequences { ll, of, ml, whole, bits, sequences, .. } = self;
        let stream = backward::begin(whole, bits);
        // SAFETY: the tables are valid, and `stream` has its headers before it.
        unsafe {
            let mut reader = SequenceReader::new::<I>([ll, of, ml], stream, bits, symbolic::BEFORE)?;
            let (mut done, count) = (0, sequences.len());
            while done < count && symbolic::any(&reader.repeats) {
                let end = count.min(done + BATCH);
                reader.read_batch::<I>(&mut sequences[done..end], end == count)?;
                done = end;
            }
            if done < count {
                reader.read_batch::<I>(&mut sequences[done..], true)?;
            }
            Ok(SequencesEnd { repeats: reader.finish()?, symbolic: done })
        }
    }
}

/// Executes `sequences`, whose offsets are known, and appends the remaining literals. [`SLACK`]
/// bytes follow the `literals`. The block may regenerate at most `max` bytes.
pub(crate) fn execute(
    kernels: KernelSet,
    sequences: &[Sequence],
    literals: &[u8],
    max: usize,
    out: &mut Output<'_>,
) -> Result<()> {
    let KernelSet::Tier(tier) = kernels.compiled() else { return Err(NO_TIER) };
    assert!(literals.len() >= SLACK, "literals have slack after them");
    if out.history.iter().all(|piece| piece.bytes().is_empty()) {
        return dispatch(tier, Execution::<false> { sequences, literals, max, out });
    }
    dispatch(tier, Execution::<true> { sequences, literals, max, out })
}

struct Execution<'a, 'b, const HISTORY: bool> {
    sequences: &'a [Sequence],
    literals: &'a [u8],
    max: usize,
    out: &'a mut Output<'b>,
}

impl<const HISTORY: bool> Kernel for Execution<'_, '_, HISTORY> {
    type Output = Result<()>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Result<()> {
        // SAFETY: the literals have slack after them.
        unsafe {
            let mut executor = SequenceExecutor::new(self.out, self.literals, self.max);
            executor.execute::<I, HISTORY, false, false>(self.sequences, None)?;
            executor.finish()
        }
    }
}
