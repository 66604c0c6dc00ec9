//! Level 1: one pass from bytes to bits, with trees known beforehand.
//!
//! Emission needs nothing that the search for the next match waits for, so it runs in the shadow of
//! the search's latency and costs little more than writing tokens would.

use core::hint::select_unpredictable;

use super::barren::{LONG_RUN, Run};
use super::bits::BitWriter;
use super::builtin::Builtin;
use super::emit::end_block;
use super::isa::{Isa, Kernel};
use super::matcher::{FastTable, LAST_NUMBER, Positions, Small};
use super::search::{LOOKAHEAD, Look, REACH, RUN, enter_first, enter_inside, hold, is_far, look_once, low};
use super::segment::Numbered;
use super::tables::{Bits, Tables};

/// More than one look can write: four literals and 32 that are passed over take 54 bytes at 12 bits
/// each, three literals and a match less; and a store is 8 bytes wide.
const SLACK: usize = 128;

/// Longest code of a literal or length that the trees of this level may have: three literals, a
/// length with 5 extra bits and 7 bits pending must fit 64, and [`Bits`] holds 56.
#[cfg(test)]
pub(crate) const MAX_LITLEN: u8 = 12;

/// What the loop of this level works in: one object, so that one register addresses it all.
pub(crate) struct FastWork {
    pub(crate) table: FastTable,
    /// The tables of the trees in use, copied here for that register's sake.
    tables: Tables,
    loaded: Option<&'static Builtin>,
}

impl FastWork {
    pub(crate) const fn new() -> Self {
        FastWork { table: FastTable::new(), tables: Tables::new(), loaded: None }
    }

    /// Makes `trees` those in use.
    pub(crate) fn load(&mut self, trees: &'static Builtin) {
        if !self.loaded.is_some_and(|loaded| core::ptr::eq(loaded, trees)) {
            self.tables.clone_from(&trees.tables);
            self.loaded = Some(trees);
        }
    }

    pub(crate) fn end_block(&self, bits: &mut BitWriter<'_>) {
        end_block(&self.tables, bits);
    }
}

/// Codes bytes from `start` on, until `end` or a little beyond, or until nothing more is worth coding.
/// What does not fit the output is counted only; the caller decides whether the block is kept.
pub(crate) struct Fast<'a, 'b, 'o> {
    pub(crate) work: &'a mut FastWork,
    pub(crate) call: &'a mut Numbered<'b>,
    pub(crate) bits: &'a mut BitWriter<'o>,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) run: Run,
}

impl Kernel for Fast<'_, '_, '_> {
    /// The position reached.
    type Output = usize;

    #[inline(always)]
    unsafe fn run<I: Isa>(mut self) -> usize {
        let mut at = self.start;
        if at == 0 {
            at = self.first_literal();
        }
        // SAFETY: the caller vouches for the tier.
        unsafe {
            let (at, flat) = self.body::<I>(at);
            if flat { at } else { self.tail(at) }
        }
    }
}

impl Fast<'_, '_, '_> {
    fn first_literal(&mut self) -> usize {
        enter_first::<Small, _>(&mut self.work.table, self.call);
        self.put(self.work.tables.literal(u32::from(self.call.buffer[0])));
        1
    }

    fn put(&mut self, bits: Bits) {
        self.bits.put_or_count(bits.value(), bits.len());
    }

    /// Everything but the last bytes. Whether it stopped because nothing more is worth coding.
    #[inline(always)]
    unsafe fn body<I: Isa>(&mut self, mut at: usize) -> (usize, bool) {
        let end = self.call.buffer.len().saturating_sub(LOOKAHEAD).min(self.end);
        while at < end {
            let here = self.call.number(at, &mut self.work.table);
            let run_start = here.saturating_sub(at - self.run.start);
            let stop = (here + (end - at)).min(LAST_NUMBER as usize);
            // SAFETY: as the caller vouches.
            let here = unsafe {
                if self.bits.pos + SLACK < self.bits.out.len() {
                    // A byte of input becomes at most 12 bits.
                    let room = (self.bits.out.len() - SLACK - self.bits.pos) / 2;
                    self.stretch::<I>(here, run_start, stop.min(here + room + 1))
                } else {
                    self.one_look::<I>(here, run_start)
                }
            };
            at = self.call.position(here);
            if self.run.ends_in_flat(self.call.buffer, at) {
                return (at, true);
            }
        }
        (at, false)
    }

    /// One look whose output goes by way of a buffer, as there is no slack behind it.
    #[inline(never)]
    unsafe fn one_look<I: Isa>(&mut self, here: usize, run_start: usize) -> usize {
        let mut place = [0u8; 2 * SLACK];
        let mut bits = BitWriter { out: &mut place, pos: 0, acc: self.bits.acc, len: self.bits.len };
        let mut inner = Fast {
            work: &mut *self.work,
            call: &mut *self.call,
            bits: &mut bits,
            start: 0,
            end: 0,
            run: Run::new(0),
        };
        // SAFETY: as the caller vouches.
        let reached = unsafe { inner.stretch::<I>(here, run_start, here + 1) };
        self.run.start = inner.run.start;
        let BitWriter { pos, acc, len, .. } = bits;
        if let Some(target) = self.bits.out.get_mut(self.bits.pos..self.bits.pos + pos) {
            target.copy_from_slice(&place[..pos]);
        }
        self.bits.pos += pos;
        (self.bits.acc, self.bits.len) = (acc, len);
        reached
    }

    /// [`segment`](Self::segment), in the form for the distance from the beginning; may stop early
    /// where that changes.
    #[inline(always)]
    unsafe fn stretch<I: Isa>(&mut self, here: usize, run_start: usize, stop: usize) -> usize {
        let lowest = self.call.lowest();
        // SAFETY: as the caller vouches.
        unsafe {
            if is_far(here, lowest) {
                self.segment::<I, true>(here, run_start, stop)
            } else {
                self.segment::<I, false>(here, run_start, stop.min(lowest + REACH + 1))
            }
        }
    }

    /// Codes from number `here`, where the run of literals began at `run_start`, until `stop`
    /// or a long run. Where it stops for `stop` must not show in what it does.
    #[inline(always)]
    unsafe fn segment<I: Isa, const FAR: bool>(
        &mut self,
        mut here: usize,
        mut run_start: usize,
        stop: usize,
    ) -> usize {
        let checked = here + self.run.checked.saturating_sub(self.call.position(here));
        let (origin, lowest, end) = (self.call.origin(), hold(self.call.lowest()), self.call.end());
        let FastWork { table: Positions { slots, .. }, tables, .. } = &mut *self.work;
        let start = self.bits.out.as_mut_ptr();
        let mut out = Out { next: start.wrapping_add(self.bits.pos), acc: self.bits.acc, len: self.bits.len };
        // SAFETY: `stop` leaves the lookahead within the buffer and the slack in the output.
        unsafe {
            while here < stop {
                let look = Look::<Small>::new(slots, origin, here, low::<FAR>(here, lowest));
                let literals = Literals::new(&look, tables);
                if look.any(origin) {
                    let found = look.best::<I>(origin, here, end);
                    out.put(literals.before(found.lane).then(tables.length(found.length)));
                    out.store();
                    out.put(tables.distance(found.distance));
                    out.store();
                    here = found.next;
                    run_start = here;
                    enter_inside::<Small>(slots, origin, here, end);
                } else {
                    out.put(literals.all(&look, tables));
                    out.store();
                    here += 4;
                    if here - run_start > RUN {
                        here = skip(&mut out, tables, origin, here, here - run_start, end);
                        if here - run_start > LONG_RUN && here > checked {
                            break;
                        }
                    }
                }
            }
            self.bits.pos = out.next.offset_from(start) as usize;
        }
        (self.bits.acc, self.bits.len) = (out.acc, out.len);
        self.run.start = self.call.position(run_start);
        here
    }

    /// The last bytes, one at a time.
    unsafe fn tail(&mut self, mut at: usize) -> usize {
        let (origin, lowest, end) = (self.call.origin(), self.call.lowest(), self.call.end());
        while at < self.end {
            let here = end - (self.call.buffer.len() - at);
            // SAFETY: `here` is in the buffer.
            let found = unsafe { look_once::<Small>(&mut self.work.table.slots, origin, here, lowest, end) };
            if found.length == 0 {
                self.put(self.work.tables.literal(u32::from(self.call.buffer[at])));
            } else {
                self.put(self.work.tables.length(found.length));
                self.put(self.work.tables.distance(found.distance));
            }
            at += found.next - here;
        }
        at
    }
}

/// The first literals of a look in bits: one, two and three of them.
struct Literals([Bits; 3]);

impl Literals {
    #[inline(always)]
    fn new(look: &Look<Small>, tables: &Tables) -> Self {
        let one = tables.literal(look.literal(0));
        let two = one.then(tables.literal(look.literal(1)));
        Literals([one, two, two.then(tables.literal(look.literal(2)))])
    }

    /// All four.
    #[inline(always)]
    fn all(&self, look: &Look<Small>, tables: &Tables) -> Bits {
        self.0[2].then(tables.literal(look.literal(3)))
    }

    /// Those before `lane`, which is hard to predict: without a branch.
    #[inline(always)]
    fn before(&self, lane: usize) -> Bits {
        let [one, two, three] = self.0;
        let bits = select_unpredictable(lane > 0, one.0, 0);
        let bits = select_unpredictable(lane > 1, two.0, bits);
        Bits(select_unpredictable(lane > 2, three.0, bits))
    }
}

/// Passes over part of a run of `run` literals unseen: the longer the run, the more.
///
/// # Safety
/// The bytes up to number `end` must be readable, the slack writable.
#[inline(always)]
unsafe fn skip(
    out: &mut Out,
    tables: &Tables,
    origin: *const u8,
    mut here: usize,
    run: usize,
    end: usize,
) -> usize {
    let skip_end = (here + 2 * (run / RUN).min(16)).min(end - 1);
    while here < skip_end {
        // SAFETY: as the caller vouches.
        unsafe {
            let literal = |i| tables.literal(u32::from(*origin.wrapping_add(here + i)));
            out.put(literal(0).then(literal(1)));
            out.store();
        }
        here += 2;
    }
    here
}

/// The bit writer's words, in registers.
struct Out {
    next: *mut u8,
    acc: u64,
    len: u32,
}

impl Out {
    #[inline(always)]
    fn put(&mut self, bits: Bits) {
        self.acc |= bits.value() << self.len;
        self.len += bits.len();
    }

    /// Writes out whole bytes.
    ///
    /// # Safety
    /// 8 bytes must be writable at `next`.
    #[inline(always)]
    unsafe fn store(&mut self) {
        // SAFETY: as the caller vouches.
        unsafe { self.next.cast::<u64>().write_unaligned(self.acc.to_le()) };
        self.next = self.next.wrapping_add((self.len >> 3) as usize);
        self.acc >>= self.len & !7;
        self.len &= 7;
    }
}
