//! Decodes several segments interleaved.
//!
//! Each code must be read to know where the next one begins, which leaves most of a core idle.
//! Segments are independent of each other, so steps of four segments are interleaved. A step only
//! extracts zigzag values; [`to_samples`] turns a run of them into samples while they are in the
//! cache.

use super::code::{ESCAPE, ESCAPE_BITS, read};
use super::decode_scalar::{Lane, Position};
use super::decode_table::{BITS, Entry, MAX_VALUES, Table};
use super::isa::{Isa, Kernel};
use super::prefix_sum::to_samples;

/// Table lookups per step of a lane: as many as the 64 bits of a load allow.
const LOOKUPS: usize = 64 / BITS as usize;
/// Codes per step without a table: as many as the 64 bits of a load allow.
const CODES: usize = 64 / ESCAPE_BITS as usize;
/// Upper bound of the number of bits that a step consumes: the 64 bits of a load, and one long
/// code.
const STEP_BITS: usize = 64 + ESCAPE_BITS as usize;
/// Maximum number of samples of a step.
const STEP_SAMPLES: usize = LOOKUPS * MAX_VALUES + 1;
/// Upper bound of the number of bits that a load reads after the current bit. A load reads 16
/// bytes, beginning with the word of that bit.
const LOAD_BITS: usize = 160;
/// Maximum number of steps before the values are turned into samples.
const RUN: usize = 256;

/// Maximum number of interleaved segments. More would need more registers than there are.
const ACTIVE: usize = 4;

/// Decodes most of each segment, through a lookup table or, without one, code by code.
///
/// Leaves the last samples of each segment to the caller, see [`Lane::at`]: up to 16, and more in
/// the last 249 bits of a chunk, which are too few for a step. `None` if a code has more than eight
/// zeros.
pub(crate) struct Interleaved<'a, 'b> {
    pub(crate) lanes: &'a mut [Lane<'b>],
    pub(crate) table: Option<&'static Table>,
    pub(crate) k: u32,
    pub(crate) delta: bool,
}

impl Kernel for Interleaved<'_, '_> {
    type Output = Option<()>;

    #[inline(always)]
    unsafe fn run<I: Isa>(mut self) -> Option<()> {
        let mut waiting = 0..self.lanes.len();
        let mut active = [0; ACTIVE];
        let mut n = 0;
        loop {
            // Segments differ in bits per sample, so they end at different times. The next waiting
            // segment replaces one that has ended.
            let mut kept = 0;
            for slot in 0..ACTIVE {
                let going = (slot < n).then_some(active[slot]);
                let mut candidates = going.into_iter().chain(waiting.by_ref());
                if let Some(lane) = candidates.find(|&lane| steps_left(&self.lanes[lane]) > 0) {
                    active[kept] = lane;
                    kept += 1;
                }
            }
            n = kept;
            match n {
                0 => return Some(()),
                1 => self.run_of_steps([active[0]])?,
                2 | 3 => self.run_of_steps([active[0], active[1]])?,
                _ => self.run_of_steps(active)?,
            }
        }
    }
}

impl Interleaved<'_, '_> {
    /// Runs interleaved steps of the lanes with these indices, as many as their buffers allow.
    #[inline(always)]
    fn run_of_steps<const L: usize>(&mut self, active: [usize; L]) -> Option<()> {
        let steps = active.iter().map(|&i| steps_left(&self.lanes[i])).min().unwrap_or(0).min(RUN);
        let mut cursors = active.map(|i| Cursor::of(&mut self.lanes[i]));
        // SAFETY: the buffers suffice for that many steps, as just computed.
        unsafe {
            match self.table {
                Some(table) => {
                    for _ in 0..steps {
                        lookups(&mut cursors, table, self.k)?;
                    }
                }
                None => {
                    let kinds = kinds(self.k);
                    for _ in 0..steps {
                        codes(&mut cursors, &kinds)?;
                    }
                }
            }
        }
        for (cursor, i) in cursors.iter().zip(active) {
            let lane = &mut self.lanes[i];
            let sample = (cursor.out.addr() - lane.out.as_ptr().addr()) / size_of::<i16>();
            let last = to_samples(&mut lane.out[lane.at.sample..sample], lane.at.last, self.delta);
            lane.at = Position { bit: cursor.bit, sample, last };
        }
        Some(())
    }
}

/// Number of steps that stay within the input and the output, whatever the bits are.
#[inline(always)]
fn steps_left(lane: &Lane) -> usize {
    // Storing an entry writes 4 samples, one more than it can have.
    let samples = (lane.out.len() - lane.at.sample).saturating_sub(1) / STEP_SAMPLES;
    let bits = lane.readable.len() * 8;
    samples.min(bits.saturating_sub(lane.at.bit + LOAD_BITS) / STEP_BITS)
}

/// One step of all lanes through the lookup table.
///
/// # Safety
/// The buffers must suffice for a step, see [`steps_left`].
#[inline(always)]
unsafe fn lookups<const L: usize>(cursors: &mut [Cursor; L], table: &Table, k: u32) -> Option<()> {
    // SAFETY: as the caller vouches, here and below.
    let mut windows: [u64; L] = core::array::from_fn(|i| unsafe { cursors[i].load() });
    let mut counts = [0; L];
    // One lookup of each lane in turn, so that other lanes' instructions fill the latency.
    for _ in 0..LOOKUPS {
        for i in 0..L {
            // SAFETY: see above.
            counts[i] = unsafe { cursors[i].take(&mut windows[i], table) };
        }
    }
    for (cursor, count) in cursors.iter_mut().zip(counts) {
        // An entry without a whole code consumes nothing, so all lookups after it find it again.
        if count == 0 {
            // SAFETY: see above.
            unsafe {
                let (z, len) = long((cursor.load() >> 32) as u32, k)?;
                cursor.put(z);
                cursor.bit += len as usize;
            }
        }
    }
    Some(())
}

/// How to read a code with a given number of leading zeros.
#[derive(Clone, Copy)]
struct Kind {
    /// Length of the code in bits.
    len: u32,
    /// Number to add to the code, read without its zeros as an integer whose leading 1 counts as
    /// 2^k, to get z.
    more: u32,
}

/// How to read a code, indexed by its number of zeros. Nine entries are used; 16 make the bounds
/// check unnecessary.
type Kinds = [Kind; 16];

fn kinds(k: u32) -> Kinds {
    core::array::from_fn(|q| match q as u32 {
        q if q < ESCAPE => Kind { len: q + 1 + k, more: q.wrapping_sub(1) << k },
        _ => Kind { len: ESCAPE_BITS, more: 0 },
    })
}

/// One step of all lanes without the table, without branching on the kind of code.
///
/// # Safety
/// The buffers must suffice for a step, see [`steps_left`].
#[inline(always)]
unsafe fn codes<const L: usize>(cursors: &mut [Cursor; L], kinds: &Kinds) -> Option<()> {
    // SAFETY: as the caller vouches, here and below.
    let mut windows: [u64; L] = core::array::from_fn(|i| unsafe { cursors[i].load() });
    let mut zeros = 0;
    for _ in 0..CODES {
        for i in 0..L {
            // SAFETY: see above.
            zeros = zeros.max(unsafe { cursors[i].take_code(&mut windows[i], kinds) });
        }
    }
    (zeros <= ESCAPE).then_some(())
}

/// Position of a lane, in registers.
struct Cursor {
    input: *const u8,
    bit: usize,
    out: *mut i16,
}

impl Cursor {
    #[inline(always)]
    fn of(lane: &mut Lane) -> Self {
        let out = lane.out[lane.at.sample..].as_mut_ptr();
        Cursor { input: lane.readable.as_ptr(), bit: lane.at.bit, out }
    }

    /// The next 64 bits of the stream, highest first.
    ///
    /// # Safety
    /// The buffers must suffice for a step, see [`steps_left`].
    #[inline(always)]
    unsafe fn load(&self) -> u64 {
        // SAFETY: 16 bytes from the word of any bit of a step can be read, see `LOAD_BITS`.
        let words = |i: usize| unsafe {
            let at = self.input.add(self.bit / 32 * 4 + i);
            u64::from_le(at.cast::<u64>().read_unaligned()).rotate_left(32)
        };
        let bit = self.bit % 32;
        words(0) << bit | words(8) >> 1 >> (63 - bit)
    }

    /// Consumes the codes of the table entry for `window`; returns their number.
    ///
    /// # Safety
    /// Four more samples must fit in the output.
    #[inline(always)]
    unsafe fn take(&mut self, window: &mut u64, table: &Table) -> u8 {
        // The shift leaves 12 bits, so the compiler omits the bounds check.
        let entry = &table[(*window >> (64 - BITS)) as usize];
        // SAFETY: as the caller vouches. An entry has the size of four samples, and holds up to
        // three.
        unsafe {
            self.out.cast::<Entry>().write_unaligned(*entry);
            self.out = self.out.add(usize::from(entry.count));
        }
        *window <<= entry.used & 63;
        self.bit += usize::from(entry.used);
        entry.count
    }

    /// Consumes the first code of `window`; returns its number of zeros. With more than eight the
    /// code is invalid and its value meaningless.
    ///
    /// # Safety
    /// One more sample must fit in the output.
    #[inline(always)]
    unsafe fn take_code(&mut self, window: &mut u64, kinds: &Kinds) -> u32 {
        let q = (*window | 1).leading_zeros();
        // The shift leaves the code at the low end: its one, then k bits, or 16 for an escape. The
        // one is worth 2^k, so adding (q - 1) 2^k gives z. An escape is cut to its low 16 bits.
        let Kind { len, more } = kinds[(q % 16) as usize];
        let z = ((*window >> (64 - len)) as u32).wrapping_add(more) as u16;
        *window <<= len;
        self.bit += len as usize;
        // SAFETY: as the caller vouches.
        unsafe { self.put(z) };
        q
    }

    /// Writes one zigzag value.
    ///
    /// # Safety
    /// As for [`Cursor::take_code`].
    #[inline(always)]
    unsafe fn put(&mut self, z: u16) {
        // SAFETY: as the caller vouches.
        unsafe {
            *self.out = z as i16;
            self.out = self.out.add(1);
        }
    }
}

/// Reads a code longer than a table index. Not inlined, because it is rare where the table is used.
#[cold]
#[inline(never)]
fn long(window: u32, k: u32) -> Option<(u16, u32)> {
    read(window, k)
}
