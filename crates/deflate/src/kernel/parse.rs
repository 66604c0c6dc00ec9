//! The greedy parse of levels 2 and 3: bytes to tokens.

use core::marker::PhantomData;

use super::dispatch::Kernel;
use super::incompressible::{LONG_RUN, LiteralRun};
use super::isa::Isa;
use super::matcher::{Buckets, MAX_REBASED, MatchTable, PositionTable};
use super::rebased::RebasedBuffer;
use super::search::{
    Far, Fresh, LOOKAHEAD, Near, Probe, Reach, SKIP_AFTER, Stretch, insert_first, insert_inside,
    insert_inside_last, keep_in_register, probe_one,
};
use super::token_writer::TokenWriter;
use crate::coding::token::{GREEDY_CAPACITY, NONE, Tokens};

/// The state of a parse. It is one object, so that one register addresses all of it.
pub(crate) struct ParseState {
    pub(crate) table: MatchTable,
    pub(crate) tokens: Tokens,
}

impl ParseState {
    pub(crate) const fn new() -> Self {
        ParseState { table: MatchTable::new(), tokens: Tokens::new() }
    }
}

/// Parses from `start` until the list of tokens is full, or until incompressible data or the end of
/// the input.
pub(crate) struct Parse<'a, 'b, B> {
    pub(crate) work: &'a mut ParseState,
    pub(crate) call: &'a mut RebasedBuffer<'b>,
    pub(crate) start: usize,
    pub(crate) run: LiteralRun,
    pub(crate) buckets: PhantomData<B>,
}

impl<B: Buckets> Kernel for Parse<'_, '_, B> {
    type Output = Parsed;

    #[inline(always)]
    unsafe fn run<I: Isa>(mut self) -> Parsed {
        self.work.tokens.clear();
        let mut at = self.start;
        if at == 0 {
            at = self.first_literal();
        }
        // SAFETY: the caller vouches for the tier.
        unsafe {
            let (at, incompressible) = self.body::<I>(at);
            let end = if incompressible { at } else { self.tail(at) };
            Parsed {
                end,
                incompressible,
                incompressible_throughout: incompressible && self.run.start == self.start,
            }
        }
    }
}

/// The result of a [`Parse`] or of a [`LazyParse`](super::lazy::LazyParse).
pub(crate) struct Parsed {
    /// The position reached.
    pub(crate) end: usize,
    /// Whether the parse stopped at incompressible data.
    pub(crate) incompressible: bool,
    /// Whether the parse found no match and stopped at incompressible data.
    pub(crate) incompressible_throughout: bool,
}

impl<B: Buckets> Parse<'_, '_, B> {
    /// Emits and inserts the first byte of a call, so that every later position has a candidate.
    fn first_literal(&mut self) -> usize {
        insert_first::<B, _>(&mut self.work.table, self.call);
        let mut tokens_out = TokenWriter::new(&mut self.work.tokens);
        // SAFETY: the list is empty.
        unsafe { tokens_out.push_if(1, u32::from(self.call.buffer[0]), NONE, 0) };
        self.work.tokens.len = 1;
        1
    }

    /// Parses everything but the last bytes, in segments that overflow neither the list nor the
    /// rebased positions. Returns the position reached, and whether it stopped at incompressible
    /// data.
    #[inline(always)]
    unsafe fn body<I: Isa>(&mut self, mut at: usize) -> (usize, bool) {
        loop {
            // A probe makes at most one token per two bytes, so this many bytes fit the list.
            let capacity = 2 * (GREEDY_CAPACITY.saturating_sub(self.work.tokens.len));
            let end = self.call.buffer.len().saturating_sub(LOOKAHEAD).min(at + capacity);
            if at >= end {
                return (at, false);
            }
            let here = self.call.rebased_position(at, &mut self.work.table);
            let stop = (here + (end - at)).min(MAX_REBASED as usize);
            let run_start = here.saturating_sub(at - self.run.start);
            // SAFETY: as the caller vouches.
            let here = unsafe {
                match Stretch::at(here, self.call) {
                    Stretch::Fresh(end) => self.segment::<I, Fresh>(here, run_start, stop.min(end)),
                    Stretch::Near(end) => self.segment::<I, Near>(here, run_start, stop.min(end)),
                    Stretch::Far => self.segment::<I, Far>(here, run_start, stop),
                }
            };
            at = self.call.offset_of(here);
            if self.run.literal_run_is_incompressible(self.call.buffer, at) {
                return (at, true);
            }
        }
    }

    /// Parses from rebased position `here` until `stop` or slightly past it, or until a long
    /// literal run, which began at `run_start`. The output must not depend on `stop`.
    #[inline(always)]
    unsafe fn segment<I: Isa, R: Reach>(
        &mut self,
        mut here: usize,
        mut run_start: usize,
        stop: usize,
    ) -> usize {
        let (origin, lowest, end) =
            (self.call.origin(), keep_in_register(self.call.lowest()), self.call.end());
        let ParseState { table: PositionTable { slots, .. }, tokens } = &mut *self.work;
        let checked = here + self.run.checked.saturating_sub(self.call.offset_of(here));
        let mut tokens_out = TokenWriter::new(tokens);
        // SAFETY: `stop` leaves the lookahead within the buffer and capacity in the list.
        unsafe {
            while here < stop {
                let probe = Probe::<B>::new::<R>(slots, origin, here, lowest);
                if probe.has_match(origin) {
                    let found = probe.best::<I>(origin, here, end);
                    tokens_out.push_literals_and_match(&probe, &found);
                    here = found.end;
                    run_start = here;
                    if here >= stop {
                        insert_inside_last::<B>(slots, origin, here, end);
                        break;
                    }
                    insert_inside::<B>(slots, origin, here);
                } else {
                    tokens_out.push_literals(&probe);
                    here += 4;
                    if here - run_start > SKIP_AFTER {
                        here = skip_literals(&mut tokens_out, origin, here, here - run_start, end);
                        if here - run_start > LONG_RUN && here > checked {
                            break;
                        }
                    }
                }
            }
        }
        let len = tokens_out.len();
        self.work.tokens.len = len;
        self.run.start = self.call.offset_of(run_start);
        here
    }

    /// Parses the last bytes, one position at a time.
    unsafe fn tail(&mut self, mut at: usize) -> usize {
        let (origin, lowest, end) = (self.call.origin(), self.call.lowest(), self.call.end());
        let mut tokens_out = TokenWriter::new(&mut self.work.tokens);
        while at < self.call.buffer.len() && tokens_out.len() < GREEDY_CAPACITY {
            let here = end - (self.call.buffer.len() - at);
            // SAFETY: `here` is in the buffer, and the list is not full.
            unsafe {
                let found = probe_one::<B>(&mut self.work.table.slots, origin, here, lowest, end);
                match found.length {
                    0 => tokens_out.push_if(1, u32::from(self.call.buffer[at]), NONE, 0),
                    _ => tokens_out.push_match(found.length, found.distance),
                }
                at += found.end - here;
            }
        }
        let len = tokens_out.len();
        self.work.tokens.len = len;
        at
    }
}

/// Emits literals without probing: the longer the literal run `run`, the more.
#[inline(always)]
unsafe fn skip_literals(
    tokens_out: &mut TokenWriter<'_>,
    origin: *const u8,
    mut here: usize,
    run: usize,
    end: usize,
) -> usize {
    let skip_end = (here + 2 * (run / SKIP_AFTER).min(16)).min(end - 1);
    while here < skip_end {
        // SAFETY: as for `Parse::segment`.
        unsafe {
            let byte = |i| u32::from(*origin.wrapping_add(here + i));
            tokens_out.push_if(1, byte(0), 32 + byte(1), 0);
        }
        here += 2;
    }
    here
}
