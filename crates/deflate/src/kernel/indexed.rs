//! The search of a session: the newest candidate in the message itself, and two in an index of the history.
//!
//! The index is only read here. So it may be shared, as that of a dictionary is, and a message that does not fit its
//! output leaves it as it was.

use core::hint::select_unpredictable;

use super::isa::{Isa, read32};
use super::lazy::{Finder, Found};
use super::matcher::MIN_MATCH;
use super::search::{extend, opaque};

/// Most positions in the index of a window or of a dictionary.
pub(crate) const MAX_SLOTS: usize = 1 << 12;

/// Positions in the index of `window` bytes, a power of two.
pub(crate) fn index_slots(window: usize) -> usize {
    window.clamp(256, MAX_SLOTS)
}

/// Positions of even and of odd blocks of 64 bytes go to the two slots of a bucket, so that both the newest and one
/// before it are at hand, for one store and no shift when a position is entered.
const BLOCK_BITS: u32 = 6;

#[inline(always)]
pub(super) fn hash(word: u32, shift: u32) -> usize {
    (word.wrapping_mul(0x9E37_79B1) >> shift) as usize
}

/// The shift of a hash for a table of `len` slots, a power of two from 2 on.
pub(super) fn shift_for(len: usize) -> u32 {
    debug_assert!(len.is_power_of_two() && len > 1);
    32 - len.ilog2()
}

/// Enters the positions of `text` into `index`, the first as number `first`; not the last three, which have no 4
/// bytes yet. The number of slots is a power of two.
pub(crate) fn index_positions(index: &mut [u16], text: &[u8], first: u16) {
    let shift = shift_for(index.len());
    let mut number = first;
    for bytes in text.windows(MIN_MATCH) {
        let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let slot = hash(word, shift) & !1 | usize::from(number >> BLOCK_BITS & 1);
        // SAFETY: the hash has as many bits as the length.
        unsafe { *index.get_unchecked_mut(slot) = number };
        number = number.wrapping_add(1);
    }
}

/// The search over `history` bytes and what follows, at most 65,536 bytes.
pub(crate) struct Indexed<'a> {
    /// Newest offset of each hash since the history; cleared for each message.
    recent: &'a mut [u16],
    recent_shift: u32,
    /// For each hash the numbers of two positions in the history.
    index: &'a [u16],
    index_shift: u32,
    /// The number of offset 0.
    base: u16,
    history: usize,
    /// Largest distance.
    window: usize,
}

impl<'a> Indexed<'a> {
    /// Begins a message after `history` bytes, of which the first has the number `base` in `index`.
    pub(crate) fn begin(
        recent: &'a mut [u16],
        index: &'a [u16],
        base: u16,
        history: usize,
        window: usize,
    ) -> Self {
        recent.fill(0);
        let (recent_shift, index_shift) = (shift_for(recent.len()), shift_for(index.len()));
        Indexed { recent, recent_shift, index, index_shift, base, history, window }
    }
}

impl Finder for Indexed<'_> {
    const INSERTS_ALL: bool = false;
    const LOOKS_TWICE: bool = false;
    type Lent<'s>
        = Indexed<'s>
    where
        Self: 's;

    #[inline(always)]
    fn lend(&mut self) -> Indexed<'_> {
        Indexed { recent: self.recent, ..*self }
    }

    fn adapt(&mut self, _: usize) {}

    #[inline(always)]
    unsafe fn insert(&mut self, buffer: &[u8], at: usize) {
        // SAFETY: 4 bytes at `at`, as the caller vouches; a hash has as many bits as the length.
        unsafe {
            let word = read32(buffer.as_ptr().add(at));
            *self.recent.get_unchecked_mut(hash(word, self.recent_shift)) = at as u16;
        }
    }

    #[inline(always)]
    unsafe fn find<I: Isa, const FAR: bool>(&mut self, buffer: &[u8], at: usize, shorter: usize) -> Found {
        let origin = buffer.as_ptr();
        let lowest = at.saturating_sub(self.window);
        // SAFETY: as above; offsets used are below `at`.
        unsafe {
            let word = read32(origin.add(at));
            let slot = self.recent.get_unchecked_mut(hash(word, self.recent_shift));
            let recent = usize::from(*slot);
            *slot = at as u16;
            let bucket = hash(word, self.index_shift) & !1;
            let older =
                |way: usize| usize::from(self.index.get_unchecked(bucket + way).wrapping_sub(self.base));
            // Which of the three is a match is unpredictable: one branch for all.
            let score = |from: usize, end: usize| {
                let usable = from >= lowest && from < end;
                let from = select_unpredictable(usable, from, 0);
                let hit = opaque(u32::from(usable) & u32::from(read32(origin.add(from)) == word));
                hit as usize * (from + 1)
            };
            let hits = if self.history == 0 {
                [score(recent, at), 0, 0]
            } else {
                [score(recent, at), score(older(0), self.history), score(older(1), self.history)]
            };
            if opaque((hits[0] | hits[1] | hits[2]) as u32) == 0 {
                return Found::NONE;
            }
            longest::<I>(buffer, at, hits, shorter)
        }
    }
}

/// The longest of the matches with the candidates `hits`, each an offset and one, or 0 for none; the nearest of equals.
///
/// # Safety
/// The candidates have 4 bytes in common with `at`; the CPU must support the tier that `I` is for.
#[inline(always)]
unsafe fn longest<I: Isa>(buffer: &[u8], at: usize, hits: [usize; 3], shorter: usize) -> Found {
    let origin = buffer.as_ptr();
    if at + 16 <= buffer.len() {
        let score = |hit: usize| {
            // SAFETY: 16 bytes from `at` on are in the buffer, and candidates are before it.
            let length = unsafe { I::common16(origin.add(at), origin.add(hit.saturating_sub(1))) };
            if hit == 0 { 0 } else { length << 17 | hit }
        };
        let best = score(hits[0]).max(score(hits[1])).max(score(hits[2]));
        let length = best >> 17;
        if length < 16 {
            return if length > shorter {
                Found { length, distance: at + 1 - (best & 0x1_ffff) }
            } else {
                Found::NONE
            };
        }
    }
    let mut best = Found { length: shorter.max(MIN_MATCH - 1), distance: 0 };
    for hit in hits {
        if hit != 0 {
            let distance = at + 1 - hit;
            // SAFETY: as above.
            let length = unsafe { extend(origin, at, distance, buffer.len(), MIN_MATCH) };
            if length > best.length {
                best = Found { length, distance };
            }
        }
    }
    if best.distance == 0 { Found::NONE } else { best }
}
