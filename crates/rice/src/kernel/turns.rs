//! Decoding several segments in turns.
//!
//! Finding where a code ends is one dependent step after another, which leaves most of a core
//! idle. Segments are independent of each other, so four are decoded in turns. Turns only find the
//! zigzag values; [`undo`] then makes samples of a stretch of them while they are in the cache.

use super::decode::Lane;
use super::isa::{Isa, Kernel};
use super::spec::{ESCAPE, ESCAPE_BITS, Position, read};
use super::table::{BITS, Entry, MOST, Table};
use super::undo::undo;

/// Table entries taken per turn of a lane: as many as fit in the 64 bits of a load.
const LOOK_UPS: usize = 64 / BITS as usize;
/// Codes per turn without a table: as many as fit in them.
const CODES: usize = 64 / ESCAPE_BITS as usize;
/// Most bits of a turn: those of a load, or after fewer of them one code of at most 25 bits.
const TURN_BITS: usize = 64 + ESCAPE_BITS as usize;
/// Most samples of a turn.
const TURN_SAMPLES: usize = LOOK_UPS * MOST + 1;
/// A load reads 16 bytes from the word of its bit on: at most 31 + 128 bits from that bit.
const LOAD_BITS: usize = 160;
/// Most turns before samples are made of what they found.
const STRETCH: usize = 256;

/// Most segments in turns: beyond that, registers are short.
const ACTIVE: usize = 4;

/// Decodes the bulk of segments in turns: with a table its entries, without one code by code.
///
/// Leaves the rest, up to some tens of samples each, to the caller: see [`Lane::at`]. Returns
/// `None` if a code has more than eight zeros.
pub(crate) struct Turns<'a, 'b> {
    pub(crate) lanes: &'a mut [Lane<'b>],
    pub(crate) table: Option<&'static Table>,
    pub(crate) k: u32,
    pub(crate) delta: bool,
}

impl Kernel for Turns<'_, '_> {
    type Output = Option<()>;

    #[inline(always)]
    unsafe fn run<I: Isa>(mut self) -> Option<()> {
        let mut waiting = 0..self.lanes.len();
        let mut active = [0; ACTIVE];
        let mut n = 0;
        loop {
            // Segments differ in bits per sample, and so in how soon they end: the next one takes
            // the place of one that did.
            let mut kept = 0;
            for slot in 0..ACTIVE {
                let going = (slot < n).then_some(active[slot]);
                let mut candidates = going.into_iter().chain(waiting.by_ref());
                if let Some(lane) = candidates.find(|&lane| turns_left(&self.lanes[lane]) > 0) {
                    active[kept] = lane;
                    kept += 1;
                }
            }
            n = kept;
            match n {
                0 => return Some(()),
                1 => self.stretch([active[0]])?,
                2 | 3 => self.stretch([active[0], active[1]])?,
                _ => self.stretch(active)?,
            }
        }
    }
}

impl Turns<'_, '_> {
    /// Takes turns with the lanes of these numbers as long as there is room for them.
    #[inline(always)]
    fn stretch<const L: usize>(&mut self, active: [usize; L]) -> Option<()> {
        let turns = active.iter().map(|&i| turns_left(&self.lanes[i])).min().unwrap_or(0).min(STRETCH);
        let mut ends = active.map(|i| End::of(&mut self.lanes[i]));
        // SAFETY: the room for so many turns was just computed.
        unsafe {
            match self.table {
                Some(table) => {
                    for _ in 0..turns {
                        look_ups(&mut ends, table, self.k)?;
                    }
                }
                None => {
                    let kinds = kinds(self.k);
                    for _ in 0..turns {
                        codes(&mut ends, &kinds)?;
                    }
                }
            }
        }
        for (end, i) in ends.iter().zip(active) {
            let lane = &mut self.lanes[i];
            let sample = (end.out.addr() - lane.out.as_ptr().addr()) / size_of::<i16>();
            let last = undo(&mut lane.out[lane.at.sample..sample], lane.at.last, self.delta);
            lane.at = Position { bit: end.bit, sample, last };
        }
        Some(())
    }
}

/// Turns for which there is room, whatever the bits are.
#[inline(always)]
fn turns_left(lane: &Lane) -> usize {
    // An entry writes 4 samples, one more than it may have.
    let samples = (lane.out.len() - lane.at.sample).saturating_sub(1) / TURN_SAMPLES;
    let bits = lane.readable.len() * 8;
    samples.min(bits.saturating_sub(lane.at.bit + LOAD_BITS) / TURN_BITS)
}

/// A turn of all lanes with the table.
///
/// # Safety
/// There must be room for a turn.
#[inline(always)]
unsafe fn look_ups<const L: usize>(ends: &mut [End; L], table: &Table, k: u32) -> Option<()> {
    // SAFETY: as the caller vouches, here and below.
    let mut windows: [u64; L] = core::array::from_fn(|i| unsafe { ends[i].load() });
    let mut counts = [0; L];
    // Lanes take turns with every entry: what waits for what is a few instructions apart.
    for _ in 0..LOOK_UPS {
        for i in 0..L {
            // SAFETY: see above.
            counts[i] = unsafe { ends[i].take(&mut windows[i], table) };
        }
    }
    for (end, count) in ends.iter_mut().zip(counts) {
        // An entry without a code moves nothing, so those after it are the same.
        if count == 0 {
            // SAFETY: see above.
            unsafe {
                let (z, len) = long((end.load() >> 32) as u32, k)?;
                end.put(z);
                end.bit += len as usize;
            }
        }
    }
    Some(())
}

/// What the zeros of a code tell about it.
#[derive(Clone, Copy)]
struct Kind {
    /// Its bits.
    len: u32,
    /// What its one, taken for 2^k, lacks to make z.
    more: u32,
}

/// By the number of zeros, of which an index must not be out of bounds.
type Kinds = [Kind; 16];

fn kinds(k: u32) -> Kinds {
    core::array::from_fn(|q| match q as u32 {
        q if q < ESCAPE => Kind { len: q + 1 + k, more: q.wrapping_sub(1) << k },
        _ => Kind { len: ESCAPE_BITS, more: 0 },
    })
}

/// A turn of all lanes without it: codes of whatever length, without a branch on their kind.
///
/// # Safety
/// There must be room for a turn.
#[inline(always)]
unsafe fn codes<const L: usize>(ends: &mut [End; L], kinds: &Kinds) -> Option<()> {
    // SAFETY: as the caller vouches, here and below.
    let mut windows: [u64; L] = core::array::from_fn(|i| unsafe { ends[i].load() });
    let mut zeros = 0;
    for _ in 0..CODES {
        for i in 0..L {
            // SAFETY: see above.
            zeros = zeros.max(unsafe { ends[i].take_code(&mut windows[i], kinds) });
        }
    }
    (zeros <= ESCAPE).then_some(())
}

/// Where a lane has come to, in registers.
struct End {
    input: *const u8,
    bit: usize,
    out: *mut i16,
}

impl End {
    #[inline(always)]
    fn of(lane: &mut Lane) -> Self {
        let out = lane.out[lane.at.sample..].as_mut_ptr();
        End { input: lane.readable.as_ptr(), bit: lane.at.bit, out }
    }

    /// The next 64 bits of the stream, highest first.
    ///
    /// # Safety
    /// There must be room for a turn.
    #[inline(always)]
    unsafe fn load(&self) -> u64 {
        // SAFETY: 16 bytes from the word of any bit of a turn on can be read, see `LOAD_BITS`.
        let words = |i: usize| unsafe {
            let at = self.input.add(self.bit / 32 * 4 + i);
            u64::from_le(at.cast::<u64>().read_unaligned()).rotate_left(32)
        };
        let bit = self.bit % 32;
        words(0) << bit | words(8) >> 1 >> (63 - bit)
    }

    /// Takes the entry that `window` selects, and returns how many codes it has.
    ///
    /// # Safety
    /// There must be room for its samples, and one more.
    #[inline(always)]
    unsafe fn take(&mut self, window: &mut u64, table: &Table) -> u8 {
        // The shift leaves an index below the length, so there is no check.
        let entry = &table[(*window >> (64 - BITS)) as usize];
        // SAFETY: as the caller vouches. An entry has the size of four samples, of which up to
        // three are.
        unsafe {
            self.out.cast::<Entry>().write_unaligned(*entry);
            self.out = self.out.add(usize::from(entry.count));
        }
        *window <<= entry.used & 63;
        self.bit += usize::from(entry.used);
        entry.count
    }

    /// Takes the first code of `window`, and returns how many zeros it has: if more than eight, what
    /// was taken has no meaning.
    ///
    /// # Safety
    /// There must be room for a sample.
    #[inline(always)]
    unsafe fn take_code(&mut self, window: &mut u64, kinds: &Kinds) -> u32 {
        let q = (*window | 1).leading_zeros();
        // The whole code at the low end: its one, then k bits (or 16). The one is worth 2^k, so
        // q - 1 more of them make z. Of an escape only the low 16 bits count.
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
    /// As for `look_up`.
    #[inline(always)]
    unsafe fn put(&mut self, z: u16) {
        // SAFETY: as the caller vouches.
        unsafe {
            *self.out = z as i16;
            self.out = self.out.add(1);
        }
    }
}

/// A code that is longer than a window. Not inlined: it is rare where the table is chosen.
#[cold]
#[inline(never)]
fn long(window: u32, k: u32) -> Option<(u16, u32)> {
    read(window, k)
}
