//! Divides the input of a call into blocks, and chooses stored, fixed or dynamic for each (RFC
//! 1951, section 3.2).
//!
//! # The bound
//!
//! A call over n bytes writes at most n + 5 ceil(n / 65,535) bytes. Stored blocks alone meet this
//! bound from any state with at most 5 bits pending. [`Output`] keeps the bound for any mixture of
//! blocks by one invariant: *the bytes written so far, plus stored blocks for the rest, stay within
//! the bound.* It accepts a coded block only if the invariant holds after the block. Bytes not
//! worth coding are collected in a run, the stored run, so that neighbours share stored blocks of
//! 65,535 bytes.

#[cfg(feature = "alloc")]
mod division;
#[cfg(feature = "alloc")]
pub(crate) mod optimal;

use core::marker::PhantomData;
use core::ops::Range;

use linerate_core::{Error, Kind, Result, Tier, cpu};

use crate::coding::bits::{BitWriter, TOO_SMALL};
use crate::coding::builtin::fixed_tables;
use crate::coding::tables::Tables;
use crate::coding::token::{CAPACITY, Tokens};
use crate::kernel::chains::{ChainTables, Chains, FULL_LEN};
use crate::kernel::dispatch::dispatch;
use crate::kernel::emit::{Emit, end_block};
use crate::kernel::fast::{Fast, FastState};
#[cfg(feature = "alloc")]
use crate::kernel::history::History;
use crate::kernel::incompressible::{LiteralRun, is_incompressible, skip_incompressible, skip_with};
#[cfg(feature = "alloc")]
use crate::kernel::indexed::{Indexed, index_history, index_slots};
use crate::kernel::lazy::{Finder, LazyParse, insert_all, insert_one};
use crate::kernel::matcher::{Buckets, Double, MAX_DISTANCE, Single, Small};
use crate::kernel::parse::{Parse, ParseState, Parsed};
use crate::kernel::rebased::RebasedBuffer;
use crate::kernel::search::insert_history;
use crate::kernel::split::{self, Join};
use crate::kernel::trees::{FillTables, MIN_SYMBOLS, PlanTrees, Trees};
#[cfg(feature = "alloc")]
use crate::levels::SESSION_MAX_LAZY;
use crate::levels::SHORT;
use crate::{FastScratch, Level, Scratch, ScratchMut};

/// Number of bytes of input after which level 1 ends a block. The last match may go past them.
const FAST_BLOCK: usize = 64 << 10;

/// Size in bytes of calls, history included, up to which level 2 uses the small hash table, which
/// leaves more of the L1 cache to the trees.
const SMALL_TABLE: usize = 4 << 10;

/// Smallest number of bytes that level 3 parses for matches of 3 bytes before it tries the faster
/// parse again.
const SHORT_SPAN: usize = 64 << 10;
/// Number of bytes below which level 3 does not parse again for matches of 3 bytes.
const MIN_SHORT: usize = 2 << 10;

/// Maximum size of a stored block, in bytes.
const STORED_MAX: usize = 65_535;

/// Number of literals and lengths below which a message at level 1 gets the fixed trees, without
/// trying others.
#[cfg(feature = "alloc")]
const QUICK_SYMBOLS: u32 = 1024;

/// Maximum size of the pieces in which a message is encoded, in bytes.
#[cfg(feature = "alloc")]
pub(crate) const PIECE: usize = 32 << 10;

/// The input of one call.
pub(crate) struct Call<'a> {
    /// History and input, contiguous.
    pub(crate) buffer: &'a [u8],
    /// Offset in `buffer` at which the input begins.
    pub(crate) history: usize,
    /// Whether the last block is the stream's last.
    pub(crate) last: bool,
    /// Whether a flush follows, so that up to 7 bits may be pending at the end rather than 5.
    pub(crate) flush: bool,
    /// Largest distance of a match.
    pub(crate) window: usize,
}

/// Encodes a call with non-empty input. At most 5 bits are pending before, and after unless the
/// stream ends or a flush follows.
pub(crate) fn encode(
    level: Level,
    scratch: ScratchMut<'_>,
    call: &Call<'_>,
    bits: &mut BitWriter<'_>,
) -> Result<()> {
    let mut output = Output::new(call, bits);
    // Only levels 4 and above can keep within a window that is smaller than the buffer.
    let is_narrow = call.window < call.buffer.len().min(MAX_DISTANCE);
    let level = if is_narrow && level != Level::Stored { level.max(Level::Lazy) } else { level };
    match (level, scratch) {
        (Level::Stored, _) => {}
        (Level::Fast, ScratchMut::Fast(FastScratch { tier, work }))
        | (Level::Fast, ScratchMut::Full(Scratch { tier, fast: work, .. })) => {
            fast(tier.unwrap_or_else(cpu::tier), work, &mut output)?;
        }
        (Level::Default, ScratchMut::Full(scratch)) if call.buffer.len() <= SMALL_TABLE => {
            dynamic::<Small>(scratch, &mut output)?;
        }
        (Level::Default, ScratchMut::Full(scratch)) => dynamic::<Single>(scratch, &mut output)?,
        (Level::High, ScratchMut::Full(scratch)) => dynamic::<Double>(scratch, &mut output)?,
        #[cfg(feature = "alloc")]
        (Level::Optimal | Level::Best, ScratchMut::Full(scratch)) => {
            let Scratch { optimal, .. } = &mut *scratch;
            let mut work = optimal.take().unwrap_or_else(crate::sys::zeroed::boxed);
            let encoded = Coder::of(scratch).0.optimal(level.effort(), &mut work, &mut output);
            scratch.optimal = Some(work);
            encoded?;
        }
        (_, ScratchMut::Full(scratch)) => {
            let (mut coder, chains) = Coder::of(scratch);
            chained(level, chains, &mut coder, &mut output)?;
        }
        (_, ScratchMut::Fast(_)) => {
            return Err(Error::new(Kind::BadArgument, 0, "levels above 1 need a full scratch"));
        }
    }
    output.store_run(call.buffer.len())
}

/// Level 1: one pass with built-in or fitted trees. Blocks that do not shrink are stored.
fn fast(tier: Tier, work: &mut FastState, output: &mut Output<'_, '_>) -> Result<()> {
    let Call { buffer, history, .. } = *output.call;
    let mut rebased = RebasedBuffer::begin::<Small, _>(buffer, &mut work.table);
    insert_history::<Small, _>(&mut work.table, &rebased, history);
    let mut start = history;
    while start < buffer.len() {
        let end = write_fast_block(tier, work, &mut rebased, output, start)?;
        start = skip_incompressible::<Small, _>(&mut work.table, &mut rebased, end);
    }
    Ok(())
}

/// Codes bytes from `start`, or leaves them to the stored run if that is no larger. Returns the
/// position reached.
///
/// The block is written at its final offset, after space for the stored run, which is filled in
/// later.
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
    work.begin_block(tier, &call.buffer[start..end], output.bits);
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

/// Levels 2 and 3: finds tokens, then builds trees for them. If the tokens are mostly literals,
/// level 3 parses the bytes again for matches of 3 bytes.
fn dynamic<B: Buckets>(scratch: &mut Scratch, output: &mut Output<'_, '_>) -> Result<()> {
    let Call { buffer, history, .. } = *output.call;
    let tier = scratch.tier.unwrap_or_else(cpu::tier);
    let mut rebased = RebasedBuffer::begin::<B, _>(buffer, &mut scratch.work.table);
    insert_history::<B, _>(&mut scratch.work.table, &rebased, history);
    let mut start = history;
    while start < buffer.len() {
        let work = &mut scratch.work;
        let parse =
            Parse { work, call: &mut rebased, start, run: LiteralRun::new(start), buckets: PhantomData::<B> };
        let Parsed { mut end, incompressible_throughout, .. } = dispatch(tier, parse);
        let Scratch { work: ParseState { tokens, .. }, trees, chains, .. } = &mut *scratch;
        let mut coder = Coder { tier, tokens, trees, min_symbols: MIN_SYMBOLS };
        // For incompressible data, building trees would cost more than everything else.
        if !(incompressible_throughout && is_incompressible(&buffer[start..])) {
            if B::THOROUGH && is_literal_heavy(coder.tokens, end - start) {
                end = buffer.len().min(end.max(start + SHORT_SPAN));
                let mut finder =
                    Chains::<false, false, false>::begin(chains, end - start, MAX_DISTANCE, SHORT);
                coder.lazy(&mut finder, start..end, SHORT.max_lazy, output)?;
            } else {
                coder.write_block(output, start..end, None)?;
            }
        }
        start = skip_incompressible::<B, _>(&mut scratch.work.table, &mut rebased, end);
    }
    Ok(())
}

/// A piece of a message.
#[cfg(feature = "alloc")]
pub(crate) struct Message<'a> {
    pub(crate) input: &'a [u8],
    /// The bytes before the piece that it may refer to.
    pub(crate) history: History<'a>,
    /// Whether a flush follows.
    pub(crate) flush: bool,
    /// Largest distance of a match.
    pub(crate) window: usize,
    pub(crate) known: Known<'a>,
}

/// The index of a message's history, if there is one.
#[cfg(feature = "alloc")]
pub(crate) enum Known<'a> {
    /// There is no index, so the message makes one, or hash chains.
    Nothing,
    /// An index, for levels below 4.
    Index(&'a [u16]),
    /// Hash chains, for levels 4 and above. `is_current` says whether they have the positions of
    /// the history.
    Chains { tables: &'a mut [u16], is_current: bool },
}

/// Encodes a piece of a message.
#[cfg(feature = "alloc")]
pub(crate) fn encode_message(
    level: Level,
    scratch: &mut Scratch,
    message: Message<'_>,
    bits: &mut BitWriter<'_>,
) -> Result<()> {
    let Message { input, history, flush, window, known } = message;
    let Scratch { tier, work: ParseState { tokens, .. }, trees, chains, .. } = scratch;
    let call = Call { buffer: input, history: 0, last: false, flush, window };
    let mut output = Output::new(&call, bits);
    let quick = level == Level::Fast;
    let min_symbols = if quick { QUICK_SYMBOLS } else { MIN_SYMBOLS };
    let mut coder = Coder { tier: tier.unwrap_or_else(cpu::tier), tokens, trees, min_symbols };
    if level > Level::Deeper {
        chained_message::<true>(level, &mut coder, chains, known, history, &mut output)?;
    } else if level >= Level::Lazy {
        chained_message::<false>(level, &mut coder, chains, known, history, &mut output)?;
    } else if level > Level::Stored {
        // Without history there is nothing to index.
        let slots = if history.len() == 0 { 2 } else { index_slots(window) };
        let (recent, rebuilt) = chains.split(input.len(), slots);
        let index = match known {
            Known::Index(index) => index,
            Known::Nothing | Known::Chains { .. } => {
                rebuilt.fill(0);
                index_history(rebuilt, &history);
                &*rebuilt
            }
        };
        let mut finder = Indexed::begin(recent, index, history, window);
        finder.fetch(input);
        coder.lazy(&mut finder, 0..input.len(), if quick { 0 } else { SESSION_MAX_LAZY }, &mut output)?;
    }
    output.store_run(input.len())
}

/// Encodes a piece of a message at level 4 or above. `TWICE` is as for [`Chains`].
#[cfg(feature = "alloc")]
fn chained_message<const TWICE: bool>(
    level: Level,
    coder: &mut Coder<'_>,
    chains: &mut ChainTables,
    known: Known<'_>,
    history: History<'_>,
    output: &mut Output<'_, '_>,
) -> Result<()> {
    let Call { buffer, window, .. } = *output.call;
    let search = level.search();
    let mut finder = match known {
        Known::Chains { tables, is_current } => {
            let mut finder = Chains::<false, TWICE, true>::resume(tables, history, window, search);
            if !is_current {
                finder.clear();
                finder.enter_history();
            } else {
                finder.fetch(buffer);
            }
            finder
        }
        _ => Chains::begin_after(chains, history, buffer.len(), window, search),
    };
    coder.lazy(&mut finder, 0..buffer.len(), search.max_lazy, output)
}

/// Inserts `text` into the hash chains of a session, which already have the `history` before it.
#[cfg(feature = "alloc")]
pub(crate) fn chain_text(tables: &mut [u16], history: History<'_>, window: usize, text: &[u8]) {
    let mut finder = Chains::<false, false, true>::resume(tables, history, window, Level::Lazy.search());
    insert_all(&mut finder, text, 0, text.len());
}

/// Encodes a call at levels 4 to 7, and without the feature `alloc` at 8 and 9.
fn chained(
    level: Level,
    chains: &mut ChainTables,
    coder: &mut Coder<'_>,
    output: &mut Output<'_, '_>,
) -> Result<()> {
    let Call { buffer, window, .. } = *output.call;
    let (search, len) = (level.search(), buffer.len());
    if level > Level::Deeper && len >= FULL_LEN {
        coder.chained(
            Chains::<true, true, false>::begin_full(chains, window, search),
            search.max_lazy,
            output,
        )
    } else if level > Level::Deeper {
        coder.chained(
            Chains::<false, true, false>::begin(chains, len, window, search),
            search.max_lazy,
            output,
        )
    } else if len >= FULL_LEN {
        coder.chained(
            Chains::<true, false, false>::begin_full(chains, window, search),
            search.max_lazy,
            output,
        )
    } else {
        coder.chained(
            Chains::<false, false, false>::begin(chains, len, window, search),
            search.max_lazy,
            output,
        )
    }
}

/// Returns whether `len` is at least [`MIN_SHORT`] and fewer than a quarter of the `len` bytes of
/// the tokens are in matches, as in 16-bit images and signals. Text, programs and tables usually
/// have more than half of their bytes in matches.
fn is_literal_heavy(tokens: &Tokens, len: usize) -> bool {
    let matched: usize =
        (3..).zip(&tokens.firsts[256..]).map(|(length, &count)| length * usize::from(count)).sum();
    len >= MIN_SHORT && matched < len / 4
}

/// Returns the number of different byte values in the first 4 KiB of the input.
fn distinct(input: &[u8]) -> usize {
    let mut seen = [false; 256];
    for &byte in &input[..input.len().min(4 << 10)] {
        seen[usize::from(byte)] = true;
    }
    seen.iter().filter(|&&seen| seen).count()
}

/// Turns a parse into blocks.
struct Coder<'s> {
    tier: Tier,
    tokens: &'s mut Tokens,
    trees: &'s mut Trees,
    /// A block of fewer literal/length symbols than this gets the fixed trees.
    min_symbols: u32,
}

impl<'s> Coder<'s> {
    /// Returns a coder over parts of a scratch, and the hash chains of the scratch.
    fn of(scratch: &'s mut Scratch) -> (Self, &'s mut ChainTables) {
        let Scratch { tier, work: ParseState { tokens, .. }, trees, chains, .. } = scratch;
        let tier = tier.unwrap_or_else(cpu::tier);
        (Coder { tier, tokens, trees, min_symbols: MIN_SYMBOLS }, chains)
    }

    /// Parses a call with `finder`, which is empty, and writes its blocks.
    fn chained(
        &mut self,
        mut finder: impl Finder,
        max_lazy: usize,
        output: &mut Output<'_, '_>,
    ) -> Result<()> {
        let Call { buffer, history, .. } = *output.call;
        insert_all(&mut finder, buffer, 0, history);
        self.lazy(&mut finder, history..buffer.len(), max_lazy, output)
    }

    /// Parses a range of the buffer with `finder` and writes its blocks.
    fn lazy<F: Finder>(
        &mut self,
        finder: &mut F,
        range: Range<usize>,
        max_lazy: usize,
        output: &mut Output<'_, '_>,
    ) -> Result<()> {
        let buffer = &output.call.buffer[..range.end];
        // The bytes of the tokens so far, which will become a block.
        let mut block = range.start..range.start;
        self.tokens.clear();
        finder.adapt(distinct(&buffer[range.start..]));
        while block.end < buffer.len() {
            let (start, before) = (block.end, self.tokens.len);
            let most = before + split::PIECE;
            let parse = LazyParse { tokens: self.tokens, most, buffer, start, finder, max_lazy };
            let Parsed { end, incompressible, incompressible_throughout } = parse.run(self.tier);
            if incompressible_throughout && is_incompressible(&buffer[start..]) {
                self.tokens.len = before;
            } else {
                if !self.join_piece(block.is_empty()) {
                    self.write_block(output, block.clone(), Some(before))?;
                    self.tokens.drop_first(before);
                    self.trees.begin_at_piece();
                    block.start = start;
                }
                block.end = end;
                if end < buffer.len() {
                    finder.adapt(self.tokens.common_literals());
                }
                if !incompressible && end < buffer.len() && self.tokens.len + split::PIECE <= CAPACITY {
                    continue;
                }
            }
            if !block.is_empty() {
                self.write_block(output, block, Some(self.tokens.len))?;
            }
            let start = skip_with(buffer, end, |at, look| insert_one(finder, buffer, at, look));
            block = start..start;
            self.tokens.clear();
        }
        Ok(())
    }

    /// Counts the symbols of the last piece of tokens, and decides whether the piece joins the
    /// block or begins another one. Returns whether it joins.
    fn join_piece(&mut self, is_first: bool) -> bool {
        let Trees { freqs: block, piece, .. } = &mut *self.trees;
        dispatch(
            self.tier,
            Join { block, piece, tokens: self.tokens, is_first, min_symbols: self.min_symbols },
        )
    }

    /// Writes `bytes` as a block with the cheaper trees, or leaves them to the stored run. The
    /// block has the first `counted` tokens, whose symbols have been counted, or if that is `None`
    /// all tokens, which are counted first.
    fn write_block(
        &mut self,
        output: &mut Output<'_, '_>,
        bytes: Range<usize>,
        counted: Option<usize>,
    ) -> Result<()> {
        let Coder { tier, tokens, trees, min_symbols } = self;
        let uncounted = if counted.is_none() { Some(&**tokens) } else { None };
        let plan = PlanTrees { trees, tokens: uncounted, min_symbols: *min_symbols };
        let costs = dispatch(*tier, plan);
        let len = counted.unwrap_or(tokens.len);
        let Some(block) = self.begin_block(output, bytes, costs)? else {
            return Ok(());
        };
        self.emit(output, &block, len)?;
        self.end_block(output, &block)
    }

    /// Writes the header of a block of `bytes`, whose size in bits is `fixed` with the fixed trees
    /// and `dynamic` with the trees built last. Returns `None` if the bytes are left to the stored
    /// run.
    fn begin_block(
        &mut self,
        output: &mut Output<'_, '_>,
        bytes: Range<usize>,
        (fixed, dynamic): (u64, u64),
    ) -> Result<Option<BegunBlock>> {
        let Some(position) = output.accept(bytes.start, bytes.end, fixed.min(dynamic))? else {
            return Ok(None);
        };
        let last = output.call.last && bytes.end == output.call.buffer.len();
        let is_fixed = fixed <= dynamic;
        if is_fixed {
            output.bits.put(0b010 | u64::from(last), 3)?;
        } else {
            self.trees.put_header(last, output.bits)?;
            dispatch(self.tier, FillTables(self.trees));
        }
        Ok(Some(BegunBlock { is_fixed, end: bytes.end, position }))
    }

    /// Returns the tables of a block's trees.
    fn tables(&self, block: &BegunBlock) -> &Tables {
        if block.is_fixed { fixed_tables() } else { &self.trees.tables }
    }

    /// Writes the first `len` tokens.
    fn emit(&self, output: &mut Output<'_, '_>, block: &BegunBlock, len: usize) -> Result<()> {
        let tokens = &self.tokens.list[..len];
        dispatch(
            self.tier,
            Emit { tokens, tables: self.tables(block), bits: output.bits, end: block.position },
        )
    }

    fn end_block(&self, output: &mut Output<'_, '_>, block: &BegunBlock) -> Result<()> {
        end_block(self.tables(block), output.bits);
        debug_assert_eq!(output.bits.position(), block.position);
        output.close(block.end)
    }
}

/// A block whose header has been written.
struct BegunBlock {
    is_fixed: bool,
    /// End of the block's bytes in the buffer.
    end: usize,
    /// Bit position of the output after the block.
    position: u64,
}

/// The output of one call, its budget, and the stored run: bytes that wait to be stored.
struct Output<'c, 'o> {
    call: &'c Call<'c>,
    bits: &'c mut BitWriter<'o>,
    /// Position in the buffer up to which bytes have been written.
    written: usize,
    /// Bit position that the call must not exceed.
    limit: u64,
}

impl<'c, 'o> Output<'c, 'o> {
    fn new(call: &'c Call<'c>, bits: &'c mut BitWriter<'o>) -> Self {
        let n = call.buffer.len() - call.history;
        debug_assert!(bits.position() % 8 <= 5);
        let limit = bits.position() / 8 * 8 + 8 * (n + 5 * n.div_ceil(STORED_MAX)) as u64;
        Output { call, bits, written: call.history, limit }
    }

    /// Decides whether to keep a coded block of `start..end` that takes `cost` bits. If the block
    /// saves bytes and stays within the budget, this writes the stored run before it and returns
    /// the bit position after the block.
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

    /// Returns the size in bits of the empty block that must follow a block that ends at `end` and
    /// bit `position`, or 0 if none must.
    ///
    /// With 6 or 7 bits pending a stored block takes one byte more than with 0 to 5, so no call
    /// after which another may follow at once ends with 6 or 7: an empty fixed block of 10 bits
    /// leaves 0 or 1.
    fn padding(&self, end: usize, position: u64) -> u32 {
        let ends_call = end == self.call.buffer.len() && !self.call.last && !self.call.flush;
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

    /// Writes the stored run up to `end` as stored blocks.
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

/// Returns the bit position after stored blocks of `len` bytes that begin at bit `position`.
pub(crate) fn stored_end(position: u64, len: usize) -> u64 {
    if len == 0 {
        return position;
    }
    let blocks = len.div_ceil(STORED_MAX) as u64;
    (position + 3).next_multiple_of(8) + 32 + (blocks - 1) * 40 + 8 * len as u64
}
