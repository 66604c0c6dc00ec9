//! The parse of levels 2 and 3: bytes to tokens.

use super::isa::{Isa, Kernel};
use super::matcher::{LAST_NUMBER, MIN_MATCH, TABLE_BITS, Table};
use super::search::{LOOKAHEAD, Look, RUN, hash, look_once};
use super::segment::Numbered;
use super::token::{CAPACITY, NONE, Tokens, distance_symbol};

/// Makes the first `history` positions of a call's buffer known to the table.
pub(crate) fn insert_history(table: &mut Table, call: &Numbered<'_>, history: usize) {
    for (i, bytes) in call.buffer[..history].windows(MIN_MATCH).enumerate() {
        let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        table.slots[hash(word, TABLE_BITS)] = (call.lowest() + i) as u16;
    }
}

/// Parses from `start` until the tokens are full or the input ends; returns where it got to.
pub(crate) struct Parse<'a, 'b> {
    pub(crate) table: &'a mut Table,
    pub(crate) tokens: &'a mut Tokens,
    pub(crate) call: &'a mut Numbered<'b>,
    pub(crate) start: usize,
}

impl Kernel for Parse<'_, '_> {
    type Output = usize;

    #[inline(always)]
    unsafe fn run<I: Isa>(mut self) -> usize {
        self.tokens.clear();
        let mut at = self.start;
        if at == 0 {
            at = self.first_literal();
        }
        // SAFETY: the caller vouches for the tier.
        unsafe {
            at = self.body::<I>(at);
            self.tail(at)
        }
    }
}

/// Where tokens go: a write position in the list, and the counts.
struct Sink<'a> {
    tokens: &'a mut Tokens,
    next: *mut u32,
}

impl<'a> Sink<'a> {
    fn new(tokens: &'a mut Tokens) -> Self {
        let next = tokens.list[tokens.len..].as_mut_ptr();
        Sink { tokens, next }
    }

    #[inline(always)]
    fn len(&self) -> usize {
        // SAFETY: both point into the list.
        unsafe { self.next.offset_from(self.tokens.list.as_ptr()) as usize }
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

    #[inline(always)]
    unsafe fn push_match(&mut self, length: usize, distance: usize) {
        let (symbol, extra) = distance_symbol(distance as u32);
        // SAFETY: as the caller vouches; a length is 4 to 258.
        unsafe { self.push_if(1, 256 - 3 + length as u32, symbol, extra) }
    }
}

impl Parse<'_, '_> {
    /// The first byte of a call has nothing before it; this lets every other have a candidate.
    fn first_literal(&mut self) -> usize {
        let buffer = self.call.buffer;
        if let Some(&[a, b, c, d]) = buffer.first_chunk() {
            let word = u32::from_le_bytes([a, b, c, d]);
            self.table.slots[hash(word, TABLE_BITS)] = self.call.number(0, self.table) as u16;
        }
        let mut sink = Sink::new(self.tokens);
        // SAFETY: the list is empty.
        unsafe { sink.push_if(1, u32::from(buffer[0]), NONE, 0) };
        self.tokens.len = 1;
        1
    }

    /// Everything but the last bytes, in segments that neither the list nor the numbers outgrow.
    #[inline(always)]
    unsafe fn body<I: Isa>(&mut self, mut at: usize) -> usize {
        loop {
            // No look makes more than one token of two bytes.
            let room = 2 * (CAPACITY.saturating_sub(self.tokens.len));
            let end = self.call.buffer.len().saturating_sub(LOOKAHEAD).min(at + room);
            if at >= end {
                return at;
            }
            let here = self.call.number(at, self.table);
            let stop = (here + (end - at)).min(LAST_NUMBER as usize);
            // SAFETY: as the caller vouches.
            let here = unsafe { self.segment::<I>(here, stop) };
            at = self.call.position(here);
        }
    }

    /// Parses from number `here` until `stop` or a little beyond.
    #[inline(always)]
    unsafe fn segment<I: Isa>(&mut self, mut here: usize, stop: usize) -> usize {
        let (origin, lowest, end) = (self.call.origin(), self.call.lowest(), self.call.end());
        let slots = &mut self.table.slots;
        let mut sink = Sink::new(self.tokens);
        let mut run_limit = here + RUN;
        // SAFETY: `stop` leaves the lookahead within the buffer and room in the list.
        unsafe {
            while here < stop {
                let look = Look::new::<TABLE_BITS>(slots, origin, here, lowest);
                if !look.any() {
                    sink.push_if(1, look.literal(0), 32 + look.literal(1), 0);
                    sink.push_if(1, look.literal(2), 32 + look.literal(3), 0);
                    here += 4;
                    if here > run_limit {
                        here = skip(&mut sink, origin, here, run_limit, stop);
                    }
                    continue;
                }
                let found = look.best::<I>(origin, here, end);
                sink.push_if(found.lane >> 1, look.literal(0), 32 + look.literal(1), 0);
                sink.push_if(found.lane & 1, look.literal(found.lane & 2), NONE, 0);
                sink.push_match(found.length, found.distance);
                here = found.next;
                // Of the positions inside a match, one near its end pays for being entered.
                let inside = origin.wrapping_add(here - 2);
                *slots.get_unchecked_mut(hash(super::isa::read32(inside), TABLE_BITS)) = (here - 2) as u16;
                run_limit = here + RUN;
            }
        }
        let len = sink.len();
        self.tokens.len = len;
        here
    }

    /// The last bytes, one at a time.
    unsafe fn tail(&mut self, mut at: usize) -> usize {
        let (origin, lowest, end) = (self.call.origin(), self.call.lowest(), self.call.end());
        let mut sink = Sink::new(self.tokens);
        while at < self.call.buffer.len() && sink.len() < CAPACITY {
            let here = end - (self.call.buffer.len() - at);
            // SAFETY: `here` is in the buffer, and the list is not full.
            let found = unsafe { look_once::<TABLE_BITS>(&mut self.table.slots, origin, here, lowest, end) };
            match found.length {
                0 => unsafe { sink.push_if(1, u32::from(self.call.buffer[at]), NONE, 0) },
                _ => unsafe { sink.push_match(found.length, found.distance) },
            }
            at += found.next - here;
        }
        let len = sink.len();
        self.tokens.len = len;
        at
    }
}

/// Passes over part of a long run of literals unseen: the longer the run, the more.
#[inline(always)]
unsafe fn skip(
    sink: &mut Sink<'_>,
    origin: *const u8,
    mut here: usize,
    run_limit: usize,
    stop: usize,
) -> usize {
    let pairs = ((here - run_limit) / RUN + 1).min(16);
    for _ in 0..pairs {
        if here < stop {
            // SAFETY: as for `Parse::segment`.
            unsafe {
                let byte = |i| u32::from(*origin.wrapping_add(here + i));
                sink.push_if(1, byte(0), 32 + byte(1), 0);
            }
            here += 2;
        }
    }
    here
}
