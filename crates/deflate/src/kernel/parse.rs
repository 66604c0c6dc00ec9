//! The parse of levels 2 and 3: bytes to tokens.

use core::marker::PhantomData;

use super::barren::{LONG_RUN, Run};
use super::isa::{Isa, Kernel};
use super::matcher::{Buckets, LAST_NUMBER, Positions, Table};
use super::search::{
    Found, LOOKAHEAD, Look, REACH, RUN, enter_first, enter_inside, hold, is_far, look_once, low,
};
use super::segment::Numbered;
use super::token::{CAPACITY, NONE, Tokens, distance_symbol};

/// What a parse works in: one object, so that one register addresses it all.
pub(crate) struct Work {
    pub(crate) table: Table,
    pub(crate) tokens: Tokens,
}

impl Work {
    pub(crate) const fn new() -> Self {
        Work { table: Table::new(), tokens: Tokens::new() }
    }
}

/// Parses from `start` until the tokens are full, a long run without matches, or the end of the
/// input.
pub(crate) struct Parse<'a, 'b, B> {
    pub(crate) work: &'a mut Work,
    pub(crate) call: &'a mut Numbered<'b>,
    pub(crate) start: usize,
    pub(crate) run: Run,
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
            let (at, flat) = self.body::<I>(at);
            let end = if flat { at } else { self.tail(at) };
            Parsed { end, flat_throughout: flat && self.run.start == self.start }
        }
    }
}

/// What a [`Parse`] came to.
pub(crate) struct Parsed {
    /// Where it got to.
    pub(crate) end: usize,
    /// It found no match, and stopped because nothing more is worth coding.
    pub(crate) flat_throughout: bool,
}

/// Where tokens go: a write position in the list, and the counts.
struct Sink<'a> {
    tokens: &'a mut Tokens,
    /// The list, which is written through pointers derived from this one alone.
    list: *mut u32,
    next: *mut u32,
}

impl<'a> Sink<'a> {
    fn new(tokens: &'a mut Tokens) -> Self {
        let list = tokens.list.as_mut_ptr();
        let next = list.wrapping_add(tokens.len);
        Sink { tokens, list, next }
    }

    #[inline(always)]
    fn len(&self) -> usize {
        // SAFETY: both point into the list.
        unsafe { self.next.offset_from(self.list) as usize }
    }

    /// Writes a token, and keeps and counts it only if `keep` is 1 rather than 0.
    ///
    /// # Safety
    /// The list must have room; `first` and `second` must be in range.
    #[inline(always)]
    unsafe fn push_if(&mut self, keep: usize, first: u32, second: u32, extra: u32) {
        // SAFETY: as the caller vouches.
        unsafe {
            *self.next = first | second << 9 | extra << 18;
            self.next = self.next.add(keep);
            *self.tokens.firsts.get_unchecked_mut(first as usize) += keep as u16;
            *self.tokens.seconds.get_unchecked_mut(second as usize) += keep as u16;
        }
    }

    /// The four literals of a look without a match.
    #[inline(always)]
    unsafe fn push_literals<B: Buckets>(&mut self, look: &Look<B>) {
        // SAFETY: as the caller vouches.
        unsafe {
            self.push_if(1, look.literal(0), 32 + look.literal(1), 0);
            self.push_if(1, look.literal(2), 32 + look.literal(3), 0);
        }
    }

    /// The literals of a look before its match, and the match.
    #[inline(always)]
    unsafe fn push_found<B: Buckets>(&mut self, look: &Look<B>, found: &Found) {
        // SAFETY: as the caller vouches.
        unsafe {
            self.push_if(found.lane >> 1, look.literal(0), 32 + look.literal(1), 0);
            self.push_if(found.lane & 1, look.literal(found.lane & 2), NONE, 0);
            self.push_match(found.length, found.distance);
        }
    }

    #[inline(always)]
    unsafe fn push_match(&mut self, length: usize, distance: usize) {
        let (symbol, extra) = distance_symbol(distance as u32);
        // SAFETY: as the caller vouches; a length is 4 to 258.
        unsafe { self.push_if(1, 256 - 3 + length as u32, symbol, extra) }
    }
}

impl<B: Buckets> Parse<'_, '_, B> {
    /// The first byte of a call has nothing before it; this lets every other have a candidate.
    fn first_literal(&mut self) -> usize {
        enter_first::<B, _>(&mut self.work.table, self.call);
        let mut sink = Sink::new(&mut self.work.tokens);
        // SAFETY: the list is empty.
        unsafe { sink.push_if(1, u32::from(self.call.buffer[0]), NONE, 0) };
        self.work.tokens.len = 1;
        1
    }

    /// Everything but the last bytes, in segments that neither the list nor the numbers outgrow.
    #[inline(always)]
    unsafe fn body<I: Isa>(&mut self, mut at: usize) -> (usize, bool) {
        loop {
            // No look makes more than one token of two bytes.
            let room = 2 * (CAPACITY.saturating_sub(self.work.tokens.len));
            let end = self.call.buffer.len().saturating_sub(LOOKAHEAD).min(at + room);
            if at >= end {
                return (at, false);
            }
            let here = self.call.number(at, &mut self.work.table);
            let stop = (here + (end - at)).min(LAST_NUMBER as usize);
            let (run_start, lowest) = (here.saturating_sub(at - self.run.start), self.call.lowest());
            // SAFETY: as the caller vouches.
            let here = unsafe {
                if is_far(here, lowest) {
                    self.segment::<I, true>(here, run_start, stop)
                } else {
                    self.segment::<I, false>(here, run_start, stop.min(lowest + REACH + 1))
                }
            };
            at = self.call.position(here);
            if self.run.ends_in_flat(self.call.buffer, at) {
                return (at, true);
            }
        }
    }

    /// Parses from number `here`, where the run of literals began at `run_start`, until `stop`, or
    /// a little beyond, or a long run. Where it stops for `stop` must not show in what it does.
    #[inline(always)]
    unsafe fn segment<I: Isa, const FAR: bool>(
        &mut self,
        mut here: usize,
        mut run_start: usize,
        stop: usize,
    ) -> usize {
        let (origin, lowest, end) = (self.call.origin(), hold(self.call.lowest()), self.call.end());
        let Work { table: Positions { slots, .. }, tokens } = &mut *self.work;
        let checked = here + self.run.checked.saturating_sub(self.call.position(here));
        let mut sink = Sink::new(tokens);
        // SAFETY: `stop` leaves the lookahead within the buffer and room in the list.
        unsafe {
            while here < stop {
                let look = Look::<B>::new(slots, origin, here, low::<FAR>(here, lowest));
                if look.any(origin) {
                    let found = look.best::<I>(origin, here, end);
                    sink.push_found(&look, &found);
                    here = found.next;
                    run_start = here;
                    enter_inside::<B>(slots, origin, here, end);
                } else {
                    sink.push_literals(&look);
                    here += 4;
                    if here - run_start > RUN {
                        here = skip(&mut sink, origin, here, here - run_start, end);
                        if here - run_start > LONG_RUN && here > checked {
                            break;
                        }
                    }
                }
            }
        }
        let len = sink.len();
        self.work.tokens.len = len;
        self.run.start = self.call.position(run_start);
        here
    }

    /// The last bytes, one at a time.
    unsafe fn tail(&mut self, mut at: usize) -> usize {
        let (origin, lowest, end) = (self.call.origin(), self.call.lowest(), self.call.end());
        let mut sink = Sink::new(&mut self.work.tokens);
        while at < self.call.buffer.len() && sink.len() < CAPACITY {
            let here = end - (self.call.buffer.len() - at);
            // SAFETY: `here` is in the buffer, and the list is not full.
            unsafe {
                let found = look_once::<B>(&mut self.work.table.slots, origin, here, lowest, end);
                match found.length {
                    0 => sink.push_if(1, u32::from(self.call.buffer[at]), NONE, 0),
                    _ => sink.push_match(found.length, found.distance),
                }
                at += found.next - here;
            }
        }
        let len = sink.len();
        self.work.tokens.len = len;
        at
    }
}

/// Passes over part of a run of `run` literals unseen: the longer the run, the more.
#[inline(always)]
unsafe fn skip(sink: &mut Sink<'_>, origin: *const u8, mut here: usize, run: usize, end: usize) -> usize {
    let skip_end = (here + 2 * (run / RUN).min(16)).min(end - 1);
    while here < skip_end {
        // SAFETY: as for `Parse::segment`.
        unsafe {
            let byte = |i| u32::from(*origin.wrapping_add(here + i));
            sink.push_if(1, byte(0), 32 + byte(1), 0);
        }
        here += 2;
    }
    here
}
