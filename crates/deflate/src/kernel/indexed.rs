//! The match finder of sessions below level 4: the newest candidate in the message itself, and two
//! in an index of the history.
//!
//! The search only reads the index. So several sessions can share one, as they share a
//! dictionary's, and a message that does not fit its output leaves it unchanged.

use core::hint::select_unpredictable;

use linerate_core::prefetch_line;

use super::history::{FETCH_STEP, History, MAX_FETCHED};
use super::isa::{Isa, read32};
use super::lazy::{Finder, Found};
use super::matcher::{MAX_MATCH, MIN_MATCH};
use super::search::{extend, opaque};

/// Maximum number of slots of the index of a window or of a dictionary.
pub(crate) const MAX_SLOTS: usize = 1 << 12;

/// Returns the number of slots of the index for a window of `window` bytes. Both are powers of two.
pub(crate) fn index_slots(window: usize) -> usize {
    window.clamp(256, MAX_SLOTS)
}

/// Base-2 logarithm of 64, the size of a block. Positions in even and in odd blocks go to different
/// slots of a bucket. So a bucket holds the newest position and an older one, and inserting a
/// position takes one store and no shift.
const BLOCK_BITS: u32 = 6;

#[inline(always)]
pub(super) fn hash(word: u32, shift: u32) -> usize {
    (word.wrapping_mul(0x9E37_79B1) >> shift) as usize
}

/// Returns the shift of a hash for a table of `len` slots, a power of two of at least 2.
pub(super) fn shift_for(len: usize) -> u32 {
    debug_assert!(len.is_power_of_two() && len > 1);
    32 - len.ilog2()
}

/// Inserts the positions of `text` into `index`, except the last three, which have fewer than 4
/// bytes. The first byte has the position number `first`. The number of slots must be a power of
/// two.
pub(crate) fn index_positions(index: &mut [u16], text: &[u8], first: u16) {
    let mut numbers = Numbers::of(index);
    let mut number = first;
    for bytes in text.windows(MIN_MATCH) {
        numbers.enter(number, u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        number = number.wrapping_add(1);
    }
}

/// Inserts the positions of `history` into `index`, like [`index_positions`].
pub(crate) fn index_history(index: &mut [u16], history: &History<'_>) {
    let mut numbers = Numbers::of(index);
    history.for_each(|number, word| numbers.enter(number, word));
}

/// An index that takes positions.
struct Numbers<'a> {
    index: &'a mut [u16],
    shift: u32,
}

impl<'a> Numbers<'a> {
    fn of(index: &'a mut [u16]) -> Self {
        let shift = shift_for(index.len());
        Numbers { index, shift }
    }

    #[inline(always)]
    fn enter(&mut self, number: u16, word: u32) {
        let slot = hash(word, self.shift) & !1 | usize::from(number >> BLOCK_BITS & 1);
        // SAFETY: the hash is below the length.
        unsafe { *self.index.get_unchecked_mut(slot) = number };
    }
}

/// The match finder for a message of at most 65,536 bytes and its history.
pub(crate) struct Indexed<'a> {
    /// The newest offset of each hash in the message. The table is cleared for each message.
    recent: &'a mut [u16],
    recent_shift: u32,
    /// The position numbers of two positions in the history, for each hash.
    index: &'a [u16],
    index_shift: u32,
    history: History<'a>,
    /// Largest distance of a match.
    window: usize,
}

impl<'a> Indexed<'a> {
    /// Begins a message after `history`. `index` has the positions of the history.
    pub(crate) fn begin(
        recent: &'a mut [u16],
        index: &'a [u16],
        history: History<'a>,
        window: usize,
    ) -> Self {
        recent.fill(0);
        let (recent_shift, index_shift) = (shift_for(recent.len()), shift_for(index.len()));
        Indexed { recent, recent_shift, index, index_shift, history, window }
    }
}

impl Indexed<'_> {
    /// Prefetches the candidates in the history for every [`FETCH_STEP`]th position of a short
    /// message, or the whole history if its window is small.
    pub(crate) fn fetch(&self, buffer: &[u8]) {
        if buffer.len() > MAX_FETCHED || self.history.len() == 0 {
            return;
        }
        if self.window <= 2 * self.index.len() {
            return self.history.fetch();
        }
        for bytes in buffer.windows(MIN_MATCH).step_by(FETCH_STEP) {
            let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            let bucket = hash(word, self.index_shift) & !1;
            for number in &self.index[bucket..bucket + 2] {
                prefetch_line(self.history.at(usize::from(self.history.end().wrapping_sub(*number))) as usize);
            }
        }
    }
}

/// The candidates whose first 4 bytes equal the 4 bytes at a position; 0 stands for no candidate.
struct Hits {
    /// Distance of the candidate in the message, from the position.
    recent: usize,
    /// Distances of the two candidates in the history, from the beginning of the message.
    older: [usize; 2],
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
        // SAFETY: 4 bytes at `at`, as the caller vouches; a hash is below the length of its table.
        unsafe {
            let word = read32(buffer.as_ptr().add(at));
            *self.recent.get_unchecked_mut(hash(word, self.recent_shift)) = at as u16;
        }
    }

    #[inline(always)]
    unsafe fn find<I: Isa, const FAR: bool>(&mut self, buffer: &[u8], at: usize, shorter: usize) -> Found {
        let origin = buffer.as_ptr();
        // A candidate must be at least 4 bytes before the message, because a match in the history
        // ends where the message begins.
        let reach = self.history.len().min(self.window.saturating_sub(at)).saturating_sub(MIN_MATCH - 1);
        // SAFETY: as above; the offsets used are below `at`, and 4 bytes are readable anywhere in
        // the history.
        unsafe {
            let word = read32(origin.add(at));
            let slot = self.recent.get_unchecked_mut(hash(word, self.recent_shift));
            let recent = usize::from(*slot);
            *slot = at as u16;
            let bucket = hash(word, self.index_shift) & !1;
            // Which of the three candidates matches is unpredictable, so one branch tests all.
            let usable = recent < at && at - recent <= self.window;
            let hit = usable & (read32(origin.add(select_unpredictable(usable, recent, 0))) == word);
            let recent = opaque(u32::from(hit)) as usize * at.wrapping_sub(recent);
            let older = |way: usize| {
                let number = *self.index.get_unchecked(bucket + way);
                let back = usize::from(self.history.end().wrapping_sub(number));
                let usable = back.wrapping_sub(MIN_MATCH) < reach;
                let hit = usable & (read32(self.history.at(back)) == word);
                opaque(u32::from(hit)) as usize * back
            };
            let hits = Hits { recent, older: [older(0), older(1)] };
            if opaque((hits.recent | hits.older[0] | hits.older[1]) as u32) == 0 {
                return Found::NONE;
            }
            self.longest::<I>(buffer, at, &hits, shorter)
        }
    }
}

impl Indexed<'_> {
    /// Returns the longest of the matches if it is longer than `shorter`. Among equals of less than
    /// 16 bytes it is the nearest.
    ///
    /// # Safety
    /// The CPU must support the tier that `I` is for.
    #[inline(always)]
    unsafe fn longest<I: Isa>(&self, buffer: &[u8], at: usize, hits: &Hits, shorter: usize) -> Found {
        let &Hits { recent, older } = hits;
        let (origin, history) = (buffer.as_ptr(), &self.history);
        let here = origin.wrapping_add(at);
        if at + 16 <= buffer.len() {
            // SAFETY: the 16 bytes at `at` are in the buffer, and candidates are before it or in
            // the history.
            let score = |from: *const u8, most: usize, distance: usize| unsafe {
                (I::common16(here, from).min(most) << 17) + (0x1_ffff - distance)
            };
            // Without a candidate the length is 0.
            let recent = score(here.wrapping_sub(recent), if recent == 0 { 0 } else { 16 }, recent);
            let older = older.map(|back| score(history.at(back), back, at + back));
            let best = recent.max(older[0]).max(older[1]);
            let length = best >> 17;
            if length < 16 {
                return if length > shorter {
                    Found { length, distance: 0x1_ffff - (best & 0x1_ffff) }
                } else {
                    Found::NONE
                };
            }
        }
        let mut best = Found { length: shorter.max(MIN_MATCH - 1), distance: 0 };
        let most = MAX_MATCH.min(buffer.len() - at);
        if recent != 0 {
            // SAFETY: the candidate is before `at`.
            let length = unsafe { extend(origin, at, recent, buffer.len(), MIN_MATCH) };
            if length > best.length {
                best = Found { length, distance: recent };
            }
        }
        for back in older {
            if back != 0 {
                // SAFETY: the candidate is in the history.
                let length = unsafe { history.extend(here, back, MIN_MATCH, most) };
                if length > best.length {
                    best = Found { length, distance: at + back };
                }
            }
        }
        if best.distance == 0 { Found::NONE } else { best }
    }
}
