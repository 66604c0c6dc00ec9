//! Decoding several segments in turns.
//!
//! Finding where a code ends is one dependent step after another, which leaves most of a core
//! idle. Segments are independent of each other, so four are decoded in turns.

use super::decode::Lane;
use super::isa::{Isa, Kernel};
use super::spec::{ESCAPE, ESCAPE_BITS, Position, read, unzigzag};
use super::table::{BITS, MOST, Table};

/// Table entries taken per turn of a lane. Two fit in the 33 bits that a load leaves for certain.
const LOOK_UPS: usize = 2;
/// Most bits of a turn: every entry may be replaced by one code of at most 25 bits.
const TURN_BITS: usize = LOOK_UPS * ESCAPE_BITS as usize;
/// Most samples of a turn.
const TURN_SAMPLES: usize = LOOK_UPS * MOST as usize;
/// A load reads 8 bytes from the word of its bit on: at most 31 + 64 bits from that bit.
const LOAD_BITS: usize = 96;

/// Decodes the bulk of `L` segments in turns: with a table its entries, without one code by code.
///
/// Leaves the rest, up to some tens of samples each, to the caller: see [`Lane::at`]. Returns
/// `None` if a code has more than eight zeros.
pub(crate) struct Turns<'a, 'b, const L: usize, const DELTA: bool> {
    pub(crate) lanes: &'a mut [Lane<'b>; L],
    pub(crate) table: Option<&'static Table>,
    pub(crate) k: u32,
}

impl<const L: usize, const DELTA: bool> Kernel for Turns<'_, '_, L, DELTA> {
    type Output = Option<()>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Option<()> {
        let Turns { lanes, table, k } = self;
        // SAFETY: the caller vouches for the CPU.
        let mut ends = unsafe { lanes.each_mut().map(|lane| End::<I>::of(lane)) };
        loop {
            let turns = ends.iter().zip(lanes.iter()).map(|(end, lane)| end.turns_left(lane)).min();
            let turns = turns.unwrap_or(0);
            if turns == 0 {
                break;
            }
            // SAFETY: the room for so many turns was just computed.
            unsafe {
                match table {
                    Some(table) => {
                        for _ in 0..turns {
                            for end in &mut ends {
                                end.look_up::<DELTA>(table, k)?;
                            }
                        }
                    }
                    None => {
                        for _ in 0..turns {
                            for end in &mut ends {
                                end.one_code::<DELTA>(k)?;
                            }
                        }
                    }
                }
            }
        }
        for (end, lane) in ends.iter().zip(lanes) {
            // SAFETY: the CPU is vouched for.
            let last = unsafe { I::lane(end.sum) };
            lane.at = Position { bit: end.bit, sample: end.samples(lane), last };
        }
        Some(())
    }
}

/// Where a lane has come to, in registers.
struct End<I: Isa> {
    input: *const u8,
    bit: usize,
    out: *mut i16,
    /// The last sample.
    sum: I::Four,
}

impl<I: Isa> End<I> {
    /// # Safety
    /// The CPU must support the tier.
    #[inline(always)]
    unsafe fn of(lane: &mut Lane) -> Self {
        // SAFETY: as the caller vouches.
        let sum = unsafe { I::splat(0) };
        End { input: lane.readable.as_ptr(), bit: 0, out: lane.out.as_mut_ptr(), sum }
    }

    /// Samples written.
    #[inline(always)]
    fn samples(&self, lane: &Lane) -> usize {
        (self.out.addr() - lane.out.as_ptr().addr()) / size_of::<i16>()
    }

    /// Turns for which there is room, whatever the bits are.
    #[inline(always)]
    fn turns_left(&self, lane: &Lane) -> usize {
        // An entry writes 4 samples, one more than it may have.
        let samples = (lane.out.len() - self.samples(lane)).saturating_sub(1) / TURN_SAMPLES;
        let bits = lane.readable.len() * 8;
        samples.min(bits.saturating_sub(self.bit + LOAD_BITS) / TURN_BITS)
    }

    /// At least 33 bits of the stream, highest first.
    ///
    /// # Safety
    /// There must be room for a turn.
    #[inline(always)]
    unsafe fn load(&self) -> u64 {
        // SAFETY: 8 bytes from the word of any bit of a turn on can be read, see `LOAD_BITS`.
        let words = unsafe { self.input.add(self.bit / 32 * 4).cast::<u64>().read_unaligned() };
        u64::from_le(words).rotate_left(32) << (self.bit % 32)
    }

    /// A turn with the table.
    ///
    /// # Safety
    /// There must be room for a turn, and the CPU must support the tier.
    #[inline(always)]
    unsafe fn look_up<const DELTA: bool>(&mut self, table: &Table, k: u32) -> Option<()> {
        // SAFETY: as the caller vouches, here and below.
        let mut window = unsafe { self.load() };
        for _ in 0..LOOK_UPS {
            // A shift by 52 leaves an index below 4096, so there is no check.
            let entry = &table[(window >> (64 - BITS)) as usize];
            let count = (*entry >> 8) as u8;
            if count == 0 {
                // SAFETY: see above.
                unsafe {
                    let (y, len) = long((self.load() >> 32) as u32, k)?;
                    self.put::<DELTA>(y);
                    self.bit += len as usize;
                    window = self.load();
                }
                continue;
            }
            let used = *entry as u8;
            window <<= used & 63;
            self.bit += usize::from(used);
            // SAFETY: see above.
            unsafe {
                self.sum = I::emit::<DELTA>(self.sum, entry, self.out);
                self.out = self.out.add(usize::from(count));
            }
        }
        Some(())
    }

    /// A turn of one code, whatever it is, without a branch on its kind.
    ///
    /// # Safety
    /// As for `look_up`.
    #[inline(always)]
    unsafe fn one_code<const DELTA: bool>(&mut self, k: u32) -> Option<()> {
        // SAFETY: as the caller vouches.
        let window = unsafe { self.load() };
        let q = ((window >> 32) as u32).leading_zeros();
        if q > ESCAPE {
            return None;
        }
        // The whole code at the low end: its one, then k bits (or 16). The one is worth 2^k, so
        // q - 1 more of them make z. Of an escape only the low 16 bits count.
        let (len, more) = if q == ESCAPE { (ESCAPE_BITS, 0) } else { (q + 1 + k, q.wrapping_sub(1) << k) };
        let z = ((window >> ((64 - len) & 63)) as u32).wrapping_add(more) as u16;
        self.bit += len as usize;
        // SAFETY: as the caller vouches.
        unsafe { self.put::<DELTA>(unzigzag(z)) };
        Some(())
    }

    /// Writes one sample.
    ///
    /// # Safety
    /// As for `look_up`.
    #[inline(always)]
    unsafe fn put<const DELTA: bool>(&mut self, y: i16) {
        // SAFETY: as the caller vouches.
        unsafe {
            let x = if DELTA { I::lane(self.sum).wrapping_add(y) } else { y };
            *self.out = x;
            self.out = self.out.add(1);
            self.sum = I::splat(x);
        }
    }
}

/// A code that is longer than a window. Not inlined: it is rare where the table is chosen.
#[cold]
#[inline(never)]
fn long(window: u32, k: u32) -> Option<(i16, u32)> {
    read(window, k).map(|(z, len)| (unzigzag(z), len))
}
