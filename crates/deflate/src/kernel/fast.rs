//! Level 1: one pass from bytes to bits, with built-in trees or trees fitted to a sample.
//!
//! Emission is not on the dependency chain of the search for the next match. Its latency hides
//! behind the latency of the search, so it costs little more than writing tokens would.

use linerate_core::Tier;

use super::dispatch::{Kernel, dispatch};
use super::emit::end_block;
use super::fitted::{Fit, Fitted};
use super::incompressible::{LONG_RUN, LiteralRun, is_incompressible};
use super::isa::Isa;
use super::matcher::{FastTable, MAX_REBASED, PositionTable, Small};
use super::rebased::RebasedBuffer;
use super::search::{
    Far, Fresh, LOOKAHEAD, Near, Probe, Reach, SKIP_AFTER, Stretch, insert_first, insert_inside,
    insert_inside_last, keep_in_register, probe_one,
};
use super::token_bits::{BitBuffer, Bits, Literals};
use crate::coding::bits::BitWriter;
use crate::coding::builtin::{Builtin, choose};
use crate::coding::tables::Tables;

/// Number of bytes that must be free in the output before a probe, more than one probe can write.
/// Four literals and 32 skipped ones take 54 bytes at 12 bits each; three literals and a match take
/// fewer. A store is 8 bytes wide.
const SLACK: usize = 128;

/// Maximum length of a literal/length code at this level. Three literals, a length with 5 extra
/// bits, and 7 pending bits must fit 64 bits, and [`Bits`] holds 56.
pub(crate) const MAX_LITLEN: u8 = 12;

/// Size in bits of 64 sampled bytes from which trees are fitted to the block: the size of the same
/// bytes stored. Programs take about 7 bits per byte.
const MISFIT: u32 = 8 * 64;
/// Size in bytes of the smallest block for which trees are fitted. Their header takes about 150
/// bytes, and fitting trees in vain costs 1/12 of the time to code 4 KiB.
const MIN_FITTED: usize = 16 << 10;

/// The state of this level's loop. It is one object, so that one register addresses all of it.
pub(crate) struct FastState {
    pub(crate) table: FastTable,
    /// Copy of the current trees' tables, here so that the register that addresses this object
    /// reaches them.
    tables: Tables,
    loaded: Option<&'static Builtin>,
    fitted: Fitted,
}

impl FastState {
    pub(crate) const fn new() -> Self {
        FastState { table: FastTable::new(), tables: Tables::new(), loaded: None, fitted: Fitted::new() }
    }

    /// Chooses trees for a block over `input`, and writes its header.
    pub(crate) fn begin_block(&mut self, tier: Tier, input: &[u8], bits: &mut BitWriter<'_>) {
        let (trees, sampled) = choose(input);
        if sampled >= MISFIT && input.len() >= MIN_FITTED && !is_incompressible(input) {
            self.loaded = None;
            let FastState { fitted, tables, .. } = self;
            if dispatch(tier, Fit { fitted, tables, input, bits_per_64: sampled }) {
                return self.fitted.begin(bits);
            }
        }
        if !self.loaded.is_some_and(|loaded| core::ptr::eq(loaded, trees)) {
            self.tables.clone_from(&trees.tables);
            self.loaded = Some(trees);
        }
        trees.begin(bits);
    }

    pub(crate) fn end_block(&self, bits: &mut BitWriter<'_>) {
        end_block(&self.tables, bits);
    }
}

/// Codes bytes from `start` until `end` or slightly past it, or until incompressible data. Bits
/// that do not fit the output are only counted; the caller decides whether to keep the block.
pub(crate) struct Fast<'a, 'b, 'o> {
    pub(crate) work: &'a mut FastState,
    pub(crate) call: &'a mut RebasedBuffer<'b>,
    pub(crate) bits: &'a mut BitWriter<'o>,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) run: LiteralRun,
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
            let (at, incompressible) = self.body::<I>(at);
            if incompressible { at } else { self.tail(at) }
        }
    }
}

impl Fast<'_, '_, '_> {
    fn first_literal(&mut self) -> usize {
        insert_first::<Small, _>(&mut self.work.table, self.call);
        self.put(self.work.tables.literal(u32::from(self.call.buffer[0])));
        1
    }

    fn put(&mut self, bits: Bits) {
        self.bits.put_or_count(bits.value(), bits.len());
    }

    /// Codes everything but the last bytes. Returns the position reached, and whether it stopped at
    /// incompressible data.
    #[inline(always)]
    unsafe fn body<I: Isa>(&mut self, mut at: usize) -> (usize, bool) {
        let end = self.call.buffer.len().saturating_sub(LOOKAHEAD).min(self.end);
        while at < end {
            let here = self.call.rebased_position(at, &mut self.work.table);
            let run_start = here.saturating_sub(at - self.run.start);
            let stop = (here + (end - at)).min(MAX_REBASED as usize);
            // SAFETY: as the caller vouches.
            let here = unsafe {
                if self.bits.pos + SLACK < self.bits.out.len() {
                    // A byte of input takes at most 12 bits.
                    let capacity = (self.bits.out.len() - SLACK - self.bits.pos) / 2;
                    self.stretch::<I>(here, run_start, stop.min(here + capacity + 1))
                } else {
                    self.probe_buffered::<I>(here, run_start)
                }
            };
            at = self.call.offset_of(here);
            if self.run.literal_run_is_incompressible(self.call.buffer, at) {
                return (at, true);
            }
        }
        (at, false)
    }

    /// Codes one probe through a local buffer, because the output has no slack left.
    #[inline(never)]
    unsafe fn probe_buffered<I: Isa>(&mut self, here: usize, run_start: usize) -> usize {
        let mut place = [0u8; 2 * SLACK];
        let mut bits = BitWriter { out: &mut place, pos: 0, acc: self.bits.acc, len: self.bits.len };
        let mut inner = Fast {
            work: &mut *self.work,
            call: &mut *self.call,
            bits: &mut bits,
            start: 0,
            end: 0,
            run: LiteralRun::new(0),
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

    /// Runs [`segment`](Self::segment) with the [`Reach`] of position `here`, and stops early where
    /// that changes.
    #[inline(always)]
    unsafe fn stretch<I: Isa>(&mut self, here: usize, run_start: usize, stop: usize) -> usize {
        // SAFETY: as the caller vouches.
        unsafe {
            match Stretch::at(here, self.call) {
                Stretch::Fresh(end) => self.segment::<I, Fresh>(here, run_start, stop.min(end)),
                Stretch::Near(end) => self.segment::<I, Near>(here, run_start, stop.min(end)),
                Stretch::Far => self.segment::<I, Far>(here, run_start, stop),
            }
        }
    }

    /// Codes from rebased position `here` until `stop` or slightly past it, or until a literal run
    /// gets long. The current run began at `run_start`. The output must not depend on `stop`.
    #[inline(always)]
    unsafe fn segment<I: Isa, R: Reach>(
        &mut self,
        mut here: usize,
        mut run_start: usize,
        stop: usize,
    ) -> usize {
        let checked = here + self.run.checked.saturating_sub(self.call.offset_of(here));
        let (origin, lowest, end) =
            (self.call.origin(), keep_in_register(self.call.lowest()), self.call.end());
        let FastState { table: PositionTable { slots, .. }, tables, .. } = &mut *self.work;
        let start = self.bits.out.as_mut_ptr();
        let mut out =
            BitBuffer { next: start.wrapping_add(self.bits.pos), acc: self.bits.acc, len: self.bits.len };
        // SAFETY: `stop` leaves the lookahead within the buffer and the slack in the output.
        unsafe {
            while here < stop {
                let probe = Probe::<Small>::new::<R>(slots, origin, here, lowest);
                let literals = Literals::new(probe.literals(), tables);
                if probe.has_match(origin) {
                    let found = probe.best::<I>(origin, here, end);
                    out.put(literals.before(found.literals_before).then(tables.length(found.length)));
                    out.store();
                    let (value, len) = tables.distance(found.distance);
                    out.put_bits(value, len);
                    out.store();
                    here = found.end;
                    run_start = here;
                    if here >= stop {
                        // No probe follows, so few bytes may be left to read.
                        insert_inside_last::<Small>(slots, origin, here, end);
                        break;
                    }
                    insert_inside::<Small>(slots, origin, here);
                } else {
                    out.put(literals.all());
                    out.store();
                    here += 4;
                    if here - run_start > SKIP_AFTER {
                        here = skip_literals(&mut out, tables, origin, here, here - run_start, end);
                        if here - run_start > LONG_RUN && here > checked {
                            break;
                        }
                    }
                }
            }
            self.bits.pos = out.next.offset_from(start) as usize;
        }
        (self.bits.acc, self.bits.len) = (out.acc, out.len);
        self.run.start = self.call.offset_of(run_start);
        here
    }

    /// Codes the last bytes, one position at a time.
    unsafe fn tail(&mut self, mut at: usize) -> usize {
        let (origin, lowest, end) = (self.call.origin(), self.call.lowest(), self.call.end());
        while at < self.end {
            let here = end - (self.call.buffer.len() - at);
            // SAFETY: `here` is in the buffer.
            let found = unsafe { probe_one::<Small>(&mut self.work.table.slots, origin, here, lowest, end) };
            if found.length == 0 {
                self.put(self.work.tables.literal(u32::from(self.call.buffer[at])));
            } else {
                self.put(self.work.tables.length(found.length));
                let (value, len) = self.work.tables.distance(found.distance);
                self.bits.put_or_count(value, len);
            }
            at += found.end - here;
        }
        at
    }
}

/// Emits literals without probing: the longer the literal run `run`, the more.
///
/// # Safety
/// The bytes up to position `end` must be readable, and the slack must be writable.
#[inline(always)]
unsafe fn skip_literals(
    out: &mut BitBuffer,
    tables: &Tables,
    origin: *const u8,
    mut here: usize,
    run: usize,
    end: usize,
) -> usize {
    let skip_end = (here + 2 * (run / SKIP_AFTER).min(16)).min(end - 1);
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
