//! Divides the input of a call into blocks, and chooses stored, fixed or dynamic for each (RFC 1951, section 3.2).
//!
//! # The bound
//!
//! A call over n bytes writes at most n + 5 ceil(n / 65,535) bytes. Stored blocks alone meet that
//! from any state with at most 5 bits pending. [`Output`] keeps the bound for any mixture by one
//! invariant: *the bytes written so far, plus stored blocks for the rest, stay within the bound.* A coded
//! block is accepted only if the invariant holds after it; bytes not worth coding are collected in a run,
//! so that neighbours share stored blocks of 65,535.

use core::marker::PhantomData;

use linerate_core::{Error, Kind, Result, Tier, cpu};

use crate::coding::bits::{BitWriter, TOO_SMALL};
use crate::coding::builtin::{choose, fixed_tables};
use crate::kernel::dispatch::dispatch;
use crate::kernel::emit::{Emit, end_block};
use crate::kernel::fast::{Fast, FastState};
use crate::kernel::incompressible::{LiteralRun, is_incompressible, skip_incompressible};
use crate::kernel::matcher::{Buckets, Double, Single, Small};
use crate::kernel::parse::{Parse, ParseState, Parsed};
use crate::kernel::rebased::RebasedBuffer;
use crate::kernel::search::insert_history;
use crate::kernel::trees::{FillTables, PlanTrees};
use crate::{FastScratch, Level, Scratch, ScratchMut};

/// Input bytes of a block of level 1.
const FAST_BLOCK: usize = 64 << 10;

/// Most bytes of a stored block.
const STORED_MAX: usize = 65_535;

/// The input of one call.
pub(crate) struct Call<'a> {
    /// History and input, contiguous.
    pub(crate) buffer: &'a [u8],
    /// Where the input begins in `buffer`.
    pub(crate) history: usize,
    /// Whether the last block is the stream's last.
    pub(crate) last: bool,
}

/// Encodes a call with non-empty input. At most 5 bits are pending before and after.
pub(crate) fn encode(
    level: Level,
    scratch: ScratchMut<'_>,
    call: &Call<'_>,
    bits: &mut BitWriter<'_>,
) -> Result<()> {
    let mut output = Output::new(call, bits);
    match (level, scratch) {
        (Level::Stored, _) => {}
        (Level::Fast, ScratchMut::Fast(FastScratch { tier, work }))
        | (Level::Fast, ScratchMut::Full(Scratch { tier, fast: work, .. })) => {
            fast(tier.unwrap_or_else(cpu::tier), work, &mut output)?;
        }
        (Level::Default, ScratchMut::Full(scratch)) => dynamic::<Single>(scratch, &mut output)?,
        (Level::Best, ScratchMut::Full(scratch)) => dynamic::<Double>(scratch, &mut output)?,
        (_, ScratchMut::Fast(_)) => {
            return Err(Error::new(Kind::BadArgument, 0, "levels 2 and 3 need a full scratch"));
        }
    }
    output.store_run(call.buffer.len())
}

/// Level 1: one pass with built-in trees; blocks that do not shrink are stored.
fn fast(tier: Tier, work: &mut FastState, output: &mut Output<'_, '_>) -> Result<()> {
    let Call { buffer, history, .. } = *output.call;
    let mut rebased = RebasedBuffer::begin(buffer, &mut work.table);
    insert_history::<Small, _>(&mut work.table, &rebased, history);
    let mut start = history;
    while start < buffer.len() {
        let end = write_fast_block(tier, work, &mut rebased, output, start)?;
        start = skip_incompressible::<Small, _>(&mut work.table, &mut rebased, end);
    }
    Ok(())
}

/// Codes bytes from `start` on, or leaves them to the stored run if that is no larger; returns the position
/// reached.
///
/// The block is written at its final offset, after the space of the stored run, which is filled in later.
fn write_fast_block(
    tier: Tier,
    work: &mut FastState,
    call: &mut RebasedBuffer<'_>,
    output: &mut Output<'_, '_>,
    start: usize,
) -> Result<usize> {
    let end = call.buffer.len().min(start + FAST_BLOCK);
    let before = stored_end(output.bits.position(), start - output.written);
    let mark =
        if start > output.written { output.bits.jump_to((before / 8) as usize) } else { output.bits.state() };
    let trees = choose(&call.buffer[start..end]);
    work.load(trees);
    trees.begin(output.bits);
    let bits = &mut *output.bits;
    let reached = dispatch(tier, Fast { work, call, bits, start, end, run: LiteralRun::new(start) });
    work.end_block(output.bits);
    let after = output.bits.state();
    let cost = output.bits.position() - before;
    output.bits.restore(mark);
    if output.accept(start, reached, cost)?.is_some() {
        output.bits.restore(after);
        if output.call.last && reached == call.buffer.len() {
            output.bits.set(before);
        }
        output.close(reached)?;
    }
    Ok(reached)
}

/// Levels 2 and 3: tokens first, then trees for them.
fn dynamic<B: Buckets>(scratch: &mut Scratch, output: &mut Output<'_, '_>) -> Result<()> {
    let Call { buffer, history, .. } = *output.call;
    let tier = scratch.tier.unwrap_or_else(cpu::tier);
    let mut rebased = RebasedBuffer::begin(buffer, &mut scratch.work.table);
    insert_history::<B, _>(&mut scratch.work.table, &rebased, history);
    let mut start = history;
    while start < buffer.len() {
        let work = &mut scratch.work;
        let parse =
            Parse { work, call: &mut rebased, start, run: LiteralRun::new(start), buckets: PhantomData::<B> };
        let Parsed { end, incompressible_throughout } = dispatch(tier, parse);
        // For incompressible data, building trees would cost more than everything else.
        if !(incompressible_throughout && is_incompressible(&buffer[start..])) {
            write_block(scratch, tier, output, start, end)?;
        }
        start = skip_incompressible::<B, _>(&mut scratch.work.table, &mut rebased, end);
    }
    Ok(())
}

/// Writes the tokens of `start..end` with the cheaper trees, or leaves those bytes to the stored run.
fn write_block(
    scratch: &mut Scratch,
    tier: Tier,
    output: &mut Output<'_, '_>,
    start: usize,
    end: usize,
) -> Result<()> {
    let Scratch { work: ParseState { tokens, .. }, trees, .. } = scratch;
    let (fixed, dynamic) = dispatch(tier, PlanTrees { trees, tokens });
    let Some(position) = output.accept(start, end, fixed.min(dynamic))? else {
        return Ok(());
    };
    let last = output.call.last && end == output.call.buffer.len();
    let bits = &mut *output.bits;
    let tables = if fixed <= dynamic {
        bits.put(0b010 | u64::from(last), 3)?;
        fixed_tables()
    } else {
        trees.put_header(last, bits)?;
        dispatch(tier, FillTables(trees));
        &trees.tables
    };
    dispatch(tier, Emit { tokens, tables, bits, end: position })?;
    end_block(tables, bits);
    debug_assert_eq!(bits.position(), position);
    output.close(end)
}

/// The output of one call, its budget, and the pending run of stored bytes.
struct Output<'c, 'o> {
    call: &'c Call<'c>,
    bits: &'c mut BitWriter<'o>,
    /// Bytes of the buffer before this position are written.
    written: usize,
    /// Largest bit position of the call.
    limit: u64,
}

impl<'c, 'o> Output<'c, 'o> {
    fn new(call: &'c Call<'c>, bits: &'c mut BitWriter<'o>) -> Self {
        let n = call.buffer.len() - call.history;
        debug_assert!(bits.position() % 8 <= 5);
        let limit = bits.position() / 8 * 8 + 8 * (n + 5 * n.div_ceil(STORED_MAX)) as u64;
        Output { call, bits, written: call.history, limit }
    }

    /// Decides whether to keep a coded block of `start..end` that takes `cost` bits. If it saves bytes and stays
    /// within the budget, writes the stored run before it and returns the bit position after the block.
    fn accept(&mut self, start: usize, end: usize, cost: u64) -> Result<Option<u64>> {
        let before = stored_end(self.bits.position(), start - self.written);
        let coded = before + cost;
        let settled = coded + u64::from(self.padding(end, coded));
        let rest = self.call.buffer.len() - end;
        let stored = stored_end(self.bits.position(), end - self.written);
        if settled.next_multiple_of(8) >= stored || stored_end(settled, rest) > self.limit {
            return Ok(None);
        }
        if settled / 8 > self.bits.capacity() / 8 {
            return Err(TOO_SMALL);
        }
        self.store_run(start)?;
        Ok(Some(coded))
    }

    /// Bits of the empty block that must follow a block ending at `end` and bit `position`.
    ///
    /// With 6 or 7 bits pending a stored block takes one byte more than with 0 to 5, so no call may end
    /// there: an empty fixed block of 10 bits leaves 0 or 1.
    fn padding(&self, end: usize, position: u64) -> u32 {
        let ends_call = end == self.call.buffer.len() && !self.call.last;
        if ends_call && position % 8 > 5 { 10 } else { 0 }
    }

    /// Records that a coded block ends at `end`, and writes its padding.
    fn close(&mut self, end: usize) -> Result<()> {
        if self.padding(end, self.bits.position()) != 0 {
            self.bits.put_empty_fixed(false)?;
        }
        self.written = end;
        Ok(())
    }

    /// Writes the pending run up to `end` as stored blocks.
    fn store_run(&mut self, end: usize) -> Result<()> {
        while self.written < end {
            let piece_end = end.min(self.written + STORED_MAX);
            let last = self.call.last && piece_end == self.call.buffer.len();
            self.bits.put_stored(&self.call.buffer[self.written..piece_end], last)?;
            self.written = piece_end;
        }
        Ok(())
    }
}

/// The bit position after stored blocks for `len` bytes that begin at bit `position`.
fn stored_end(position: u64, len: usize) -> u64 {
    if len == 0 {
        return position;
    }
    let blocks = len.div_ceil(STORED_MAX) as u64;
    (position + 3).next_multiple_of(8) + 32 + (blocks - 1) * 40 + 8 * len as u64
}
