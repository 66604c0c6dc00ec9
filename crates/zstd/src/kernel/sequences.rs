//! Decodes and executes sequences, in batches of 32.
//!
//! Each iteration of the execution checks three conditions that nearly always hold: the literals
//! suffice, the output of the sequence ends at least [`SLACK`] bytes before the end of the buffer,
//! and the match source is in the output or in one segment of history. It then copies 16 or 32
//! bytes at a time, and may touch up to [`SLACK`] bytes after them (wild copies). If the output or
//! the source is too close to an end, it copies exactly ([`execute_exact`]).
//!
//! Callers guarantee valid tables, 7 readable bytes before the bitstream, and [`SLACK`] bytes after
//! the literals.

use core::hint::select_unpredictable;

use linerate_core::{CACHE_LINE, Error, Result, prefetch_line};

use super::backward::{self, LOADED, field};
use super::dispatch::{Kernel, dispatch};
use super::isa::{Isa, copy16};
use super::scalar::Scalar;
use crate::entropy::fse::{self, Cell};
use crate::entropy::tables::{BASES, FseTable, RepeatOffsets};
use crate::execute::{self, Job, SLACK};
use crate::kernel_set::KernelSet;
use crate::output::{HistorySegment, OUTPUT_TOO_SMALL, Output};
use crate::prefetch::{PrefetchCursor, PrefetchQueue};

const OFFSET_ZERO: Error = Error::corrupt("a match has offset zero");
const BITS_CUT_OFF: Error = Error::corrupt("the bits of sequences end too early");

/// Decodes and executes the sequences, and appends the remaining literals. Returns the repeat
/// offsets after the block.
pub(crate) fn run(kernels: KernelSet, job: Job<'_, '_>) -> Result<RepeatOffsets> {
    let KernelSet::Tier(tier) = kernels.compiled() else { return execute::run(job) };
    let history = job.out.history.iter().any(|piece| !piece.bytes().is_empty());
    if cfg!(feature = "small") {
        return dispatch(tier, Loop::<true, false>(job));
    }
    match (history, job.prefetch.is_some()) {
        (false, false) => dispatch(tier, Loop::<false, false>(job)),
        (false, true) => dispatch(tier, Loop::<false, true>(job)),
        (true, false) => dispatch(tier, Loop::<true, false>(job)),
        (true, true) => dispatch(tier, Loop::<true, true>(job)),
    }
}

struct Loop<'a, 'b, const HISTORY: bool, const PREFETCH: bool>(Job<'a, 'b>);

/// Number of sequences decoded before they are executed: few enough to stay in the L1 cache, and
/// enough for both loops to reach their steady state.
pub(super) const BATCH: usize = 32;

/// Number of batches decoded ahead of execution when match sources are prefetched: enough time for
/// the lines to arrive, and no more lines in flight than a CPU supports.
const BATCHES_AHEAD: usize = 2;

/// A sequence with its offset, which is symbolic if it depends on unknown repeat offsets.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sequence {
    literals: u32,
    len: u32,
    pub(crate) offset: u32,
}

impl<const HISTORY: bool, const PREFETCH: bool> Kernel for Loop<'_, '_, HISTORY, PREFETCH> {
    type Output = Result<RepeatOffsets>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Result<RepeatOffsets> {
        let Job { count, ll, of, ml, whole, bits, literals, repeats, max, mut prefetch, two_phase, out } =
            self.0;
        let stream = backward::begin(whole, bits);
        let mut left = count;
        // SAFETY: the tables are valid, `stream` has its headers before it, and the literals have
        // slack after them.
        unsafe {
            let mut reader = SequenceReader::new::<I>([ll, of, ml], stream, bits, repeats)?;
            let mut executor = SequenceExecutor::new(out, literals, max);
            if HISTORY && two_phase && !cfg!(feature = "small") {
                // A batch is executed `BATCHES_AHEAD` batches after its sources were prefetched.
                let mut batches_ahead = [[Sequence::default(); BATCH]; BATCHES_AHEAD];
                let mut produced = executor.out.at - executor.out.start;
                let batches = count.div_ceil(BATCH);
                for iteration in 0..batches + BATCHES_AHEAD {
                    let slot = &mut batches_ahead[iteration % BATCHES_AHEAD];
                    if let Some(done) = iteration.checked_sub(BATCHES_AHEAD) {
                        let len = (count - BATCH * done).min(BATCH);
                        executor
                            .execute::<I, HISTORY, PREFETCH, true>(&slot[..len], prefetch.as_deref_mut())?;
                    }
                    if iteration < batches {
                        let len = left.min(BATCH);
                        reader.read_batch::<I>(&mut slot[..len], len == left)?;
                        produced = executor.prefetch_matches(&slot[..len], produced);
                        left -= len;
                    }
                }
            } else {
                let mut batch = [Sequence::default(); BATCH];
                while left > 0 {
                    let len = left.min(BATCH);
                    reader.read_batch::<I>(&mut batch[..len], len == left)?;
                    executor
                        .execute::<I, HISTORY, PREFETCH, false>(&batch[..len], prefetch.as_deref_mut())?;
                    left -= len;
                }
            }
            let repeats = reader.finish()?;
            executor.finish()?;
            Ok(repeats)
        }
    }
}

/// Decodes sequences from the bitstream.
pub(super) struct SequenceReader<'a> {
    stream: *const u8,
    position: isize,
    cells: [*const u32; 3],
    states: [usize; 3],
    /// Repeat offsets after the sequences decoded so far.
    pub(super) repeats: [u32; 3],
    _bits: core::marker::PhantomData<&'a [u8]>,
}

impl<'a> SequenceReader<'a> {
    /// # Safety
    /// `stream` is where `bits` begins, seven bytes before it are readable, the tables are valid,
    /// and the CPU supports the tier of `I`.
    #[inline(always)]
    pub(super) unsafe fn new<I: Isa>(
        [ll, of, ml]: [FseTable<'a>; 3],
        stream: *const u8,
        bits: &'a [u8],
        repeats: RepeatOffsets,
    ) -> Result<Self> {
        let position = backward::end(bits).ok_or(Error::corrupt("the bits of sequences have no end mark"))?;
        let taken = ll.log + of.log + ml.log;
        if position < taken as isize {
            return Err(BITS_CUT_OFF);
        }
        // SAFETY: the position was checked, and the caller vouches for the rest.
        let states = unsafe {
            let (word, left) = backward::load(stream, position);
            [
                field::<I>(word, left.wrapping_sub(ll.log), ll.log) as usize,
                field::<I>(word, left.wrapping_sub(ll.log + of.log), of.log) as usize,
                field::<I>(word, left.wrapping_sub(taken), ml.log) as usize,
            ]
        };
        Ok(SequenceReader {
            stream,
            position: position - taken as isize,
            cells: [ll.cells.as_ptr(), of.cells.as_ptr(), ml.cells.as_ptr()],
            states,
            repeats: repeats.0,
            _bits: core::marker::PhantomData,
        })
    }

    /// Decodes `batch.len()` sequences, at least one. `has_last` says that the last of the batch is
    /// the last of the block.
    ///
    /// # Safety
    /// The CPU supports the tier of `I`.
    #[inline(always)]
    pub(super) unsafe fn read_batch<I: Isa>(&mut self, batch: &mut [Sequence], has_last: bool) -> Result<()> {
        let (batch, last) = match batch.split_last_mut() {
            Some((last, before)) if has_last => (before, Some(last)),
            _ => (batch, None),
        };
        // SAFETY: as the caller vouches.
        unsafe { self.decode::<I>(batch)? };
        if let Some(last) = last {
            *last = self.decode_last()?;
        }
        Ok(())
    }

    /// Decodes `batch.len()` sequences, none of which is the last of the block.
    ///
    /// # Safety
    /// The CPU supports the tier of `I`.
    #[inline(always)]
    unsafe fn decode<I: Isa>(&mut self, batch: &mut [Sequence]) -> Result<()> {
        // SAFETY: as the caller vouches.
        if unsafe { self.decode_all::<I>(batch) } {
            return Ok(());
        }
        Err(if self.position < 0 { BITS_CUT_OFF } else { OFFSET_ZERO })
    }

    /// Decodes like [`decode`](Self::decode), but returns whether it succeeded. On failure, either
    /// the position is negative or an offset is zero. Making errors in the loop would cost it
    /// registers.
    ///
    /// # Safety
    /// The CPU supports the tier of `I`.
    #[inline(always)]
    unsafe fn decode_all<I: Isa>(&mut self, batch: &mut [Sequence]) -> bool {
        let (stream, mut position) = (self.stream, self.position);
        let [cells_ll, cells_of, cells_ml] = self.cells;
        let [mut state_ll, mut state_of, mut state_ml] = self.states;
        // SAFETY: the caller vouches for the tier.
        let mut repeats = unsafe { I::repeats(self.repeats) };
        for sequence in batch {
            if position < 0 {
                self.position = position;
                return false;
            }
            // SAFETY: the position was checked, and states are below the size of their tables.
            unsafe {
                // The dependency chain of the next states is short: a load, two sums, two shifts, a
                // mask, a sum. Shifts and masks use low bits only, so no field is extracted first.
                let (ll, of, ml) =
                    (*cells_ll.add(state_ll), *cells_of.add(state_of), *cells_ml.add(state_ml));
                let (word, left) = backward::load(stream, position);
                let sum = ll.wrapping_add(of).wrapping_add(ml);
                let all = fse::total_bits(sum);
                position -= all as isize;
                let value_of;
                if all <= LOADED {
                    let states = word >> (left.wrapping_sub(sum) & 63);
                    let (extra_of, extra_ml, extra_ll) = (of >> 8, ml >> 8, ll >> 8);
                    let bits_of = of.wrapping_sub(extra_of);
                    let bits_ml = ml.wrapping_sub(extra_ml);
                    let bits_ll = ll.wrapping_sub(extra_ll);
                    state_of = fse::base_state(of) as usize + field::<I>(states, 0, bits_of) as usize;
                    state_ml = fse::base_state(ml) as usize + field::<I>(states, bits_of, bits_ml) as usize;
                    state_ll = fse::base_state(ll) as usize
                        + field::<I>(states, bits_of.wrapping_add(bits_ml), bits_ll) as usize;
                    let after_of = left.wrapping_sub(extra_of);
                    let after_ml = after_of.wrapping_sub(extra_ml);
                    let after_ll = after_ml.wrapping_sub(extra_ll);
                    value_of = field::<I>(word, after_of, extra_of) as u32;
                    sequence.len =
                        BASES[1][fse::code(ml) as usize & 63] + field::<I>(word, after_ml, extra_ml) as u32;
                    sequence.literals =
                        BASES[0][fse::code(ll) as usize & 63] + field::<I>(word, after_ll, extra_ll) as u32;
                } else {
                    let (next, slow_of);
                    (next, slow_of, *sequence) = decode_slow(stream, position, [ll, of, ml], true);
                    [state_ll, state_of, state_ml] = next;
                    value_of = slow_of;
                }
                // Index of the repeat offset. 3 is the latest minus 1, and 4 a new offset.
                let extra_of = fse::extra_bits(of);
                let no_literals = u32::from(sequence.literals == 0);
                let which = select_unpredictable(extra_of > 1, 4, extra_of + value_of + no_literals);
                let mut new = (1u32 << (extra_of & 31)).wrapping_add(value_of).wrapping_sub(3);
                if which == 3 {
                    new = latest_minus_one::<I>(repeats);
                    if new == 0 {
                        self.position = 0;
                        return false;
                    }
                }
                sequence.offset = I::select_repeat(&mut repeats, which, new);
            }
        }
        self.position = position;
        self.states = [state_ll, state_of, state_ml];
        // SAFETY: the caller vouches for the tier.
        self.repeats = unsafe { I::offsets(repeats) };
        true
    }

    /// Decodes the last sequence, after which no next states are read.
    #[inline(always)]
    fn decode_last(&mut self) -> Result<Sequence> {
        let [ll, of, ml] = self.states;
        // SAFETY: states are below the size of their tables.
        let cells = unsafe { [*self.cells[0].add(ll), *self.cells[1].add(of), *self.cells[2].add(ml)] };
        let all: u32 = cells.iter().map(|&cell| fse::extra_bits(cell)).sum();
        let before = self.position;
        self.position -= all as isize;
        if self.position < 0 {
            return Err(BITS_CUT_OFF);
        }
        // SAFETY: the same stream as in `new`, and the position was checked.
        let (value, mut sequence) = unsafe { decode_values(self.stream, before, cells) };
        let mut repeats = RepeatOffsets(self.repeats);
        sequence.offset = repeats
            .resolve((1u32 << (fse::extra_bits(cells[1]) & 31)).wrapping_add(value), sequence.literals);
        if sequence.offset == 0 {
            return Err(OFFSET_ZERO);
        }
        self.repeats = repeats.0;
        Ok(sequence)
    }

    /// Returns the repeat offsets after the last sequence.
    #[inline(always)]
    pub(super) fn finish(self) -> Result<RepeatOffsets> {
        if self.position != 0 {
            return Err(Error::corrupt("the bits of sequences are not used up exactly"));
        }
        Ok(RepeatOffsets(self.repeats))
    }
}

/// A segment of history before the output.
#[derive(Clone, Copy)]
struct History {
    end: *const u8,
    len: isize,
    /// Number of bytes that are missing from [`SLACK`] readable bytes after the segment.
    missing: usize,
}

impl History {
    fn new(piece: HistorySegment<'_>) -> Self {
        History {
            end: piece.all().as_ptr().wrapping_add(piece.bytes().len()),
            len: piece.bytes().len() as isize,
            missing: SLACK.saturating_sub(piece.all().len() - piece.bytes().len()),
        }
    }

    /// Returns whether a match that begins `back` bytes before the end stays inside, with the slack
    /// of its copies. Returns true if `back` is not positive, because the match then begins
    /// elsewhere.
    #[inline(always)]
    fn holds(&self, back: isize, match_len: usize) -> bool {
        (back - 1) as usize >= match_len + self.missing - 1
    }
}

/// Executes sequences into the output.
pub(super) struct SequenceExecutor<'a, 'b> {
    out: &'a mut Output<'b>,
    from: *const u8,
    literals_end: *const u8,
    /// Largest output position where the block may end.
    end: usize,
}

impl<'a, 'b> SequenceExecutor<'a, 'b> {
    /// # Safety
    /// The last [`SLACK`] bytes of `literals` are padding.
    #[inline(always)]
    pub(super) unsafe fn new(out: &'a mut Output<'b>, literals: &'a [u8], max: usize) -> Self {
        let end = out.at + max;
        let from = literals.as_ptr();
        SequenceExecutor { out, from, literals_end: from.wrapping_add(literals.len() - SLACK), end }
    }

    /// Executes a batch of sequences. After an error the output is unspecified.
    ///
    /// # Safety
    /// The CPU supports the tier of `I`.
    #[inline(always)]
    pub(super) unsafe fn execute<I: Isa, const HISTORY: bool, const PREFETCH: bool, const TWO_PHASE: bool>(
        &mut self,
        batch: &[Sequence],
        mut prefetch: Option<&mut PrefetchQueue>,
    ) -> Result<()> {
        let out = &mut *self.out;
        // SAFETY: pointers stay in their buffers. `to` is at most `fast_end` after an iteration of
        // wild copies, `literals_end` is at least as far from `from` as the literals that are
        // copied, and a match begins in `out` or in a segment of history with its slack.
        unsafe {
            // A function that takes `out` ends the borrow behind this pointer, so the pointer is
            // taken again afterwards.
            let mut buf = out.buf.as_mut_ptr();
            let start = buf.add(out.start);
            let mut to = buf.add(out.at);
            let fast_end = buf.add(self.end.min(out.buf.len().saturating_sub(SLACK)));
            let mut from = self.from;
            let literals_end = self.literals_end;
            let [near, far] = out.history.map(History::new);
            // End of the far segment, relative to the beginning of the output.
            let far_end = far.end.wrapping_add(near.len as usize);
            let far_reserve = near.len as usize + far.missing;
            let history_len = near.len + far.len;
            let mut cursor = match &mut prefetch {
                Some(queue) if PREFETCH => queue.take(),
                _ => PrefetchCursor::EMPTY,
            };
            for sequence in batch {
                if PREFETCH && let Some(queue) = &mut prefetch {
                    cursor.prefetch_next(queue);
                }
                let (literal_len, match_len, offset) =
                    (sequence.literals as usize, sequence.len as usize, sequence.offset as usize);
                if literals_end.offset_from_unsigned(from) < literal_len {
                    return Err(Error::corrupt("sequences use more literals than the block has"));
                }
                // The sum of both lengths is at most 2^18 + 1. Free space is compared as a number,
                // because a pointer past the buffer might not exist. On 32-bit targets an offset
                // can exceed isize::MAX, and would be negative below; `execute_exact` refuses it.
                let free = (fast_end as usize).wrapping_sub(to as usize) as isize;
                if free < (literal_len + match_len) as isize || offset > isize::MAX as usize {
                    out.at = to.offset_from_unsigned(buf);
                    let literals = core::slice::from_raw_parts(from, literal_len);
                    execute_exact(out, literals, match_len, offset, self.end)?;
                    buf = out.buf.as_mut_ptr();
                    to = buf.add(out.at);
                    from = from.add(literal_len);
                    continue;
                }
                copy16(from, to);
                if literal_len > 16 {
                    copy_wild(from.add(16), to.add(16), literal_len - 16);
                }
                from = from.add(literal_len);
                to = to.add(literal_len);

                let produced = to.offset_from_unsigned(start);
                let back = offset as isize - produced as isize;
                let mut source = to.wrapping_sub(offset).cast_const();
                if HISTORY {
                    let fits;
                    if far.len == 0 {
                        if back > 0 {
                            source = near.end.wrapping_sub(back as usize);
                        }
                        fits = near.holds(back, match_len) && back <= near.len;
                    } else {
                        // It is unpredictable which segment of a wrapped ring has the match.
                        let is_far = back > near.len;
                        let own = to.wrapping_sub(produced).cast_const();
                        let end = select_unpredictable(back > 0, near.end, own);
                        source = select_unpredictable(is_far, far_end, end).wrapping_sub(back as usize);
                        let reserve = select_unpredictable(is_far, far_reserve, near.missing);
                        fits = (back - 1) as usize >= match_len + reserve - 1 && back <= history_len;
                    }
                    if !fits {
                        out.at = to.offset_from_unsigned(buf);
                        execute_exact(out, &[], match_len, offset, self.end)?;
                        buf = out.buf.as_mut_ptr();
                        to = buf.add(out.at);
                        continue;
                    }
                } else if back > 0 {
                    return Err(Error::corrupt("a match reaches back before the history"));
                }
                if TWO_PHASE && offset >= 16 && match_len <= 16 {
                    // The next 16 bytes may be in a line that was not prefetched.
                    copy16(source, to);
                } else if offset >= 16 {
                    copy16(source, to);
                    copy16(source.add(16), to.add(16));
                    if match_len > 32 {
                        copy_wild(source.add(32), to.add(32), match_len - 32);
                    }
                } else {
                    // The match repeats `offset` bytes. Copies of 9 to 16 bytes, which are whole
                    // repetitions, keep the phase.
                    let period = offset * (16 / offset);
                    I::repeat16(source, to, offset);
                    let mut copied = period;
                    while copied < match_len {
                        copy16(to.add(copied - period), to.add(copied));
                        copied += period;
                    }
                }
                to = to.add(match_len);
            }
            if PREFETCH && let Some(queue) = prefetch {
                queue.put_back(cursor);
            }
            self.from = from;
            out.at = to.offset_from_unsigned(buf);
        }
        Ok(())
    }

    /// Prefetches the lines of the latest history segment that a batch will copy. `produced` is the
    /// output length in bytes before the batch; returns the length after it.
    fn prefetch_matches(&self, batch: &[Sequence], mut produced: usize) -> usize {
        let piece = self.out.history[0].bytes();
        let end = piece.as_ptr() as usize + piece.len();
        for sequence in batch {
            produced += sequence.literals as usize;
            let back = (sequence.offset as usize).wrapping_sub(produced);
            if back.wrapping_sub(1) < piece.len() {
                let from = end - back;
                let len = (sequence.len as usize).max(16);
                let lines = from + len.min(back) - (from & !(CACHE_LINE - 1));
                (0..lines)
                    .step_by(CACHE_LINE)
                    .for_each(|line| prefetch_line((from & !(CACHE_LINE - 1)) + line));
            }
            produced += sequence.len as usize;
        }
        produced
    }

    /// Appends the remaining literals.
    #[inline(always)]
    pub(super) unsafe fn finish(self) -> Result<()> {
        // SAFETY: both are pointers into the literals, in this order, with slack after them.
        unsafe {
            let len = self.literals_end.offset_from_unsigned(self.from);
            append_rest(self.out, core::slice::from_raw_parts(self.from, len + SLACK), self.end)
        }
    }
}

/// Appends the literals after the last match, by a wild copy if the output has room for it.
/// [`SLACK`] bytes of padding follow the literals.
#[inline(never)]
fn append_rest(out: &mut Output<'_>, literals: &[u8], end: usize) -> Result<()> {
    let len = literals.len() - SLACK;
    let fast_end = end.min(out.buf.len().saturating_sub(SLACK));
    if len > fast_end.saturating_sub(out.at) {
        return execute_exact(out, &literals[..len], 0, 1, end);
    }
    // SAFETY: the literals have their slack after them, and so does the output after `fast_end`.
    unsafe { copy_wild(literals.as_ptr(), out.buf.as_mut_ptr().add(out.at), len) };
    out.at += len;
    Ok(())
}

/// Computes the latest offset minus 1. It is rare, so it is kept out of the loop's dependency
/// chain.
///
/// # Safety
/// The CPU supports the tier of `I`.
#[cold]
#[inline(always)]
unsafe fn latest_minus_one<I: Isa>(repeats: I::Repeats) -> u32 {
    // SAFETY: as the caller vouches.
    unsafe { I::offsets(repeats)[0].wrapping_sub(1) }
}

/// Decodes offset value and lengths of the last sequence, which has no next states. `position` is
/// the position before the sequence.
///
/// # Safety
/// The requirements of [`decode_slow`]. The position after the sequence must not be negative.
#[inline(never)]
unsafe fn decode_values(stream: *const u8, position: isize, cells: [Cell; 3]) -> (u32, Sequence) {
    let [ll, of, ml] = cells.map(fse::extra_bits);
    // SAFETY: as the caller vouches; every CPU supports the scalar tier.
    unsafe {
        if ll + of + ml > LOADED {
            let (_, value, sequence) = decode_slow(stream, position - (ll + of + ml) as isize, cells, false);
            return (value, sequence);
        }
        let (word, left) = backward::load(stream, position);
        let after_of = left.wrapping_sub(of);
        let after_ml = after_of.wrapping_sub(ml);
        let base = |table: usize, cell| BASES[table][fse::code(cell) as usize & 63];
        let literals = base(0, cells[0]) + field::<Scalar>(word, after_ml.wrapping_sub(ll), ll) as u32;
        let len = base(1, cells[2]) + field::<Scalar>(word, after_ml, ml) as u32;
        (field::<Scalar>(word, after_of, of) as u32, Sequence { literals, len, offset: 0 })
    }
}

/// Decodes next states, offset value and lengths with a load for each. It is for sequences with
/// more bits than one load has. The last sequence has no `next` states. `position` is the position
/// after the sequence. If bits run out, the values are arbitrary; the caller notices the negative
/// position.
///
/// # Safety
/// Seven bytes before the stream must be readable.
#[cold]
#[inline(never)]
unsafe fn decode_slow(
    stream: *const u8,
    position: isize,
    cells: [Cell; 3],
    next: bool,
) -> ([usize; 3], u32, Sequence) {
    let counts = if next { fse::total_bits } else { fse::extra_bits };
    let mut position = position + cells.iter().map(|&cell| counts(cell) as isize).sum::<isize>();
    let mut take = |count: u32| {
        if position < 0 {
            return 0;
        }
        // SAFETY: the position was checked; every CPU supports the scalar tier.
        unsafe {
            let (word, left) = backward::load(stream, position);
            position -= count as isize;
            field::<Scalar>(word, left.wrapping_sub(count), count) as u32
        }
    };
    let [ll, of, ml] = cells;
    let value = take(fse::extra_bits(of));
    let len = BASES[1][fse::code(ml) as usize & 63] + take(fse::extra_bits(ml));
    let literals = BASES[0][fse::code(ll) as usize & 63] + take(fse::extra_bits(ll));
    let mut state =
        |cell| (fse::base_state(cell) + if next { take(fse::state_bits(cell)) } else { 0 }) as usize;
    let (ll, ml) = (state(ll), state(ml));
    ([ll, state(of), ml], value, Sequence { literals, len, offset: 0 })
}

/// Copies `len` bytes in steps of 32 (wild copy).
///
/// # Safety
/// `len` rounded up to a multiple of 32 bytes must be readable and writable. If both ranges
/// overlap, `to` must be at least 16 after `from`.
#[inline(always)]
unsafe fn copy_wild(mut from: *const u8, mut to: *mut u8, len: usize) {
    let end = to.wrapping_add(len);
    while to < end {
        // SAFETY: as the caller vouches.
        unsafe {
            copy16(from, to);
            copy16(from.add(16), to.add(16));
            (from, to) = (from.add(32), to.add(32));
        }
    }
}

/// Appends literals and a match exactly, and touches no other byte.
#[cold]
#[inline(never)]
fn execute_exact(
    out: &mut Output<'_>,
    literals: &[u8],
    match_len: usize,
    offset: usize,
    end: usize,
) -> Result<()> {
    let len = literals.len() + match_len;
    if len > end - out.at {
        return Err(Error::corrupt("a block regenerates more bytes than allowed"));
    }
    if len > out.buf.len() - out.at {
        return Err(OUTPUT_TOO_SMALL);
    }
    out.append(literals)?;
    out.copy_match(offset, match_len)
}
