//! Hash chains (RFC 1951, section 4). A head holds the newest position of a hash, and each position
//! holds the gap to the previous position with the same hash. A search follows the gaps for at most
//! [`Search::max_chain`] candidates.
//!
//! Positions are numbers modulo 2^16. An old position may look like a near one; that does no harm,
//! because the bytes of every candidate are compared. The heads are cleared at some position, and
//! every position from there is inserted in order. So the matches depend only on the bytes since
//! then: those of a call, or the messages of a session that keeps its tables. The last three
//! positions of a message are left out, because their 4 bytes end in the next message.
//!
//! Chains link positions with the same hash of 4 bytes. In long calls at level 7 they link those
//! with the same hash of 5 bytes, beside one head for each hash of 4. In text that leaves a third
//! of the candidates, so a chain reaches further back.

#[cfg(feature = "alloc")]
use linerate_core::CACHE_LINE;
use linerate_core::prefetch_line;

use super::history::History;
#[cfg(feature = "alloc")]
use super::history::{FETCH_STEP, MAX_FETCHED};
use super::isa::{Isa, read32, read64};
use super::lazy::{Finder, Found};
use super::matcher::{MAX_DISTANCE, MAX_MATCH, MIN_MATCH};
use super::search::extend;
use crate::levels::{GOOD_LENGTH, Search};

/// Maximum number of bits of a chain's hash.
const MAX_BITS: u32 = 16;
/// Number of bits of the hash of 4 bytes beside chains of 5. With 15 bits, `ooffice` of Silesia
/// gets 0.13 % larger.
const BITS_4: u32 = 16;
/// Maximum number of bits of the hash of 3 bytes.
const MAX_BITS_3: u32 = 15;
/// Number of common literals from which matches of 3 bytes pay. If fewer are common, as in text,
/// each has such a short code that three cost no more than a match, and the match hides a longer
/// one that begins a byte later.
const MANY_LITERALS: usize = 80;
/// Largest distance of a match of 3 bytes. Where many literals are common, their codes are long, so
/// such matches pay even at this distance.
const MAX_DISTANCE_OF_3: usize = 8 << 10;
/// Smallest position number that offset 0 of the buffer may have. The 2^16 positions before it then
/// have numbers that are not negative.
const MIN_BASE: usize = 1 << 16;
/// Maximum number of hash bits of the table of newest positions that a message of a session
/// borrows.
#[cfg(feature = "alloc")]
const MAX_RECENT: u32 = 13;

/// The tables: the newest position of each hash, and for each position the gap to the previous one
/// in its chain.
pub(crate) struct ChainTables {
    heads: [u16; 1 << MAX_BITS],
    gaps: [u16; MAX_DISTANCE],
    heads_3: [u16; 1 << MAX_BITS_3],
    /// The newest position of each hash of 4 bytes, used if chains link hashes of 5 bytes.
    heads_4: [u16; 1 << BITS_4],
}

impl ChainTables {
    pub(crate) const fn new() -> Self {
        ChainTables {
            heads: [0; 1 << MAX_BITS],
            gaps: [0; MAX_DISTANCE],
            heads_3: [0; 1 << MAX_BITS_3],
            heads_4: [0; 1 << BITS_4],
        }
    }

    /// Lends the heads, the gaps, and the heads of 3-byte hashes. The heads are no larger than
    /// `len` bytes of input need; the gaps are lent whole.
    fn fitting(&mut self, len: usize) -> (&mut [u16], &mut [u16], &mut [u16]) {
        let bits = (len.max(1).ilog2() + 1).clamp(8, MAX_BITS);
        (&mut self.heads[..1 << bits], &mut self.gaps, &mut self.heads_3[..1 << bits.min(MAX_BITS_3)])
    }

    /// Lends a table for the positions of `len` bytes, of at most 2^13 slots, and another of
    /// `slots` slots.
    #[cfg(feature = "alloc")]
    pub(crate) fn split(&mut self, len: usize, slots: usize) -> (&mut [u16], &mut [u16]) {
        let recent = 1 << (len.max(1).ilog2() + 1).clamp(8, MAX_RECENT);
        (&mut self.heads[..recent], &mut self.gaps[..slots])
    }
}

/// Returns the number of slots of the tables that a session keeps for a window: a head and a gap
/// for each position, and heads of 3 bytes, up to 2^13.
#[cfg(feature = "alloc")]
pub(crate) fn chain_slots(window: usize) -> usize {
    2 * window + heads_3(window)
}

#[cfg(feature = "alloc")]
fn heads_3(window: usize) -> usize {
    window.min(1 << MAX_RECENT)
}

/// The match finder over hash chains. The number of slots of each table is a power of two; with
/// `FULL` it is the maximum, and so a constant. `TWICE` is [`Finder::LOOKS_TWICE`]. With both,
/// chains link hashes of 5 bytes. With `RING` there may be a history before the buffer.
pub(crate) struct Chains<'a, const FULL: bool, const TWICE: bool, const RING: bool> {
    heads: &'a mut [u16],
    gaps: &'a mut [u16],
    heads_3: &'a mut [u16],
    /// The newest position of each hash of 4 bytes. Empty if chains link hashes of 4 bytes.
    heads_4: &'a mut [u16],
    /// The position number of offset 0 of the buffer.
    base: usize,
    shift: u32,
    shift_3: u32,
    /// The bytes before offset 0. Empty unless `RING`.
    history: History<'a>,
    /// Largest distance of a match.
    window: usize,
    /// Largest distance of a match of 3 bytes (zlib's `TOO_FAR`); 0 to take none.
    window_3: usize,
    search: Search,
}

/// The state of a search along a chain.
struct Walk {
    /// The 4 bytes to match.
    word: u32,
    /// Position number of the candidate to try next.
    candidate: usize,
    /// How many candidates to try, at least 1.
    candidates: u32,
    best: Found,
    /// The length to exceed, at least 3.
    length: usize,
    /// The last 4 bytes of a match that is one byte longer than `length`.
    last: u32,
}

/// Size in bytes from which a search needs full tables.
pub(crate) const FULL_LEN: usize = 1 << (MAX_BITS - 1);

impl<'a, const TWICE: bool> Chains<'a, true, TWICE, false> {
    /// Begins a search in at least [`FULL_LEN`] bytes.
    pub(crate) fn begin_full(tables: &'a mut ChainTables, window: usize, search: Search) -> Self {
        let mut chains =
            Chains::over(&mut tables.heads, &mut tables.gaps, &mut tables.heads_3, window, search);
        if TWICE {
            chains.heads_4 = &mut tables.heads_4;
        }
        chains.clear();
        chains
    }
}

impl<'a, const TWICE: bool> Chains<'a, false, TWICE, false> {
    /// Begins a search in `len` bytes, with tables no larger than these need.
    pub(crate) fn begin(tables: &'a mut ChainTables, len: usize, window: usize, search: Search) -> Self {
        let (heads, gaps, heads_3) = tables.fitting(len);
        let mut chains = Chains::over(heads, gaps, heads_3, window, search);
        chains.clear();
        chains
    }
}

#[cfg(feature = "alloc")]
impl<'a, const TWICE: bool> Chains<'a, false, TWICE, true> {
    /// Begins a search in a message of `len` bytes, and inserts the `history` before it.
    pub(crate) fn begin_after(
        tables: &'a mut ChainTables,
        history: History<'a>,
        len: usize,
        window: usize,
        search: Search,
    ) -> Self {
        let (heads, gaps, heads_3) = tables.fitting(history.len() + len);
        let mut chains = Chains::over(heads, gaps, heads_3, window, search).after(history);
        chains.clear();
        chains.enter_history();
        chains
    }

    /// Continues after `history` with the tables of a session, which have its positions. `tables`
    /// has [`chain_slots`]`(window)` slots.
    pub(crate) fn resume(tables: &'a mut [u16], history: History<'a>, window: usize, search: Search) -> Self {
        let (heads, rest) = tables.split_at_mut(window);
        let (gaps, heads_3) = rest.split_at_mut(window);
        Chains::over(heads, gaps, heads_3, window, search).after(history)
    }

    fn after(self, history: History<'a>) -> Self {
        // The history is shorter than 2^16.
        Chains { base: 2 * MIN_BASE + usize::from(history.end()), history, ..self }
    }

    /// Prefetches the heads of the chains of a short message, and the first candidates.
    pub(crate) fn fetch(&mut self, buffer: &[u8]) {
        if buffer.len() > MAX_FETCHED || self.history.len() == 0 {
            return;
        }
        let words = self.heads.len() + self.gaps.len() + self.heads_3.len();
        // True if the tables have fewer cache lines than the message has positions.
        if words / (CACHE_LINE / 2) < buffer.len() {
            for words in [&*self.heads, &*self.gaps, &*self.heads_3] {
                for line in words.chunks(CACHE_LINE / 2) {
                    prefetch_line(line.as_ptr() as usize);
                }
            }
            return self.history.fetch();
        }
        let word = |bytes: &[u8]| u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        let words = || buffer.windows(MIN_MATCH);
        for bytes in words() {
            prefetch_line(&raw const *self.head(word(bytes)) as usize);
        }
        for bytes in words().step_by(FETCH_STEP) {
            let number = *self.head(word(bytes));
            prefetch_line(&raw const *self.gap(number.into()) as usize);
            prefetch_line(self.history.readable(number.into(), 1) as usize);
        }
    }

    /// Inserts the positions of the history, except the last three, which have fewer than 4 bytes.
    pub(crate) fn enter_history(&mut self) {
        let history = self.history;
        history.for_each(|number, word| self.enter(usize::from(number), word.into()));
    }
}

impl<'a, const FULL: bool, const TWICE: bool, const RING: bool> Chains<'a, FULL, TWICE, RING> {
    /// Whether chains link hashes of 5 bytes.
    const FIVE: bool = FULL && TWICE;

    fn over(
        heads: &'a mut [u16],
        gaps: &'a mut [u16],
        heads_3: &'a mut [u16],
        window: usize,
        search: Search,
    ) -> Self {
        assert!([heads.len(), gaps.len(), heads_3.len()].iter().all(|len| len.is_power_of_two() && *len > 1));
        let (shift, shift_3) = (32 - heads.len().ilog2(), 32 - heads_3.len().ilog2());
        assert!(!FULL || (shift, shift_3, gaps.len()) == (32 - MAX_BITS, 32 - MAX_BITS_3, MAX_DISTANCE));
        Chains {
            heads,
            gaps,
            heads_3,
            heads_4: &mut [],
            base: MIN_BASE,
            shift,
            shift_3,
            history: History::NONE,
            window,
            window_3: MAX_DISTANCE_OF_3,
            search,
        }
    }

    /// Forgets all positions.
    pub(crate) fn clear(&mut self) {
        // An empty head holds the position before the first one. 65,536 bytes later it may look
        // near, so its gap, which an earlier call may have left, must end the chain.
        let before = ((self.base - self.history.len()) as u16).wrapping_sub(1);
        *self.gap(usize::from(before)) = u16::MAX;
        self.heads.fill(before);
        self.heads_3.fill(before);
        self.heads_4.fill(before);
    }

    /// Returns the position number of offset 0 of the buffer. The tables hold the low 16 bits of
    /// position numbers.
    #[inline(always)]
    fn base(&self) -> usize {
        if FULL { MIN_BASE } else { self.base }
    }

    /// Returns the bytes at `at` that select a chain: 8 bytes if chains link hashes of 5 bytes,
    /// else 4. If fewer than 8 bytes are left in the buffer, it returns 4 bytes.
    ///
    /// # Safety
    /// `at + MIN_MATCH` must be within `buffer`, or with `FAR` `at + 8`.
    #[inline(always)]
    unsafe fn bytes<const FAR: bool>(buffer: &[u8], at: usize) -> u64 {
        // SAFETY: as checked, or as the caller vouches.
        unsafe {
            let at_bytes = buffer.as_ptr().add(at);
            if Self::FIVE && (FAR || at + 8 <= buffer.len()) {
                read64(at_bytes)
            } else {
                u64::from(read32(at_bytes))
            }
        }
    }

    /// Returns the head of the chain for [`bytes`](Self::bytes).
    #[inline(always)]
    fn head(&mut self, bytes: u64) -> &mut u16 {
        let slot = if Self::FIVE {
            ((bytes << 24).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - MAX_BITS)) as usize
        } else {
            let shift = if FULL { 32 - MAX_BITS } else { self.shift };
            ((bytes as u32).wrapping_mul(0x9E37_79B1) >> shift) as usize
        };
        debug_assert!(slot < self.heads.len());
        // SAFETY: the hash is below the length of the table, which `over` has checked.
        unsafe { self.heads.get_unchecked_mut(slot) }
    }

    /// Returns the head for the first 3 of the 4 bytes of `word`.
    #[inline(always)]
    fn head_3(&mut self, word: u32) -> &mut u16 {
        let shift = if FULL { 32 - MAX_BITS_3 } else { self.shift_3 };
        let slot = ((word << 8).wrapping_mul(0x9E37_79B1) >> shift) as usize;
        debug_assert!(slot < self.heads_3.len());
        // SAFETY: as above.
        unsafe { self.heads_3.get_unchecked_mut(slot) }
    }

    /// Returns the newest position for the hash of 4 bytes, if chains link hashes of 5 bytes.
    #[inline(always)]
    fn head_4(&mut self, word: u32) -> &mut u16 {
        let slot = (word.wrapping_mul(0x9E37_79B1) >> (32 - BITS_4)) as usize;
        debug_assert!(slot < self.heads_4.len());
        // SAFETY: with chains of 5 bytes `begin_full` has lent a table of this size.
        unsafe { self.heads_4.get_unchecked_mut(slot) }
    }

    /// Inserts position `number` with its [`bytes`](Self::bytes) into its chain and `heads_3`, but
    /// not into `heads_4`.
    #[inline(always)]
    fn enter(&mut self, number: usize, bytes: u64) {
        let newest = core::mem::replace(self.head(bytes), number as u16);
        *self.gap(number) = (number as u16).wrapping_sub(newest);
        *self.head_3(bytes as u32) = number as u16;
    }

    /// Follows a chain down to position number `lowest`, in the history or in the buffer. Returns
    /// whether the search has ended before it reached `lowest`.
    ///
    /// # Safety
    /// `longest` bytes, more than `walk.length`, must be readable at `at`. Positions numbered
    /// `lowest` or more must be in the history if `IN_HISTORY`, else in the buffer.
    #[inline(always)]
    unsafe fn follow<const IN_HISTORY: bool>(
        &mut self,
        origin: *const u8,
        at: usize,
        (longest, nice_length): (usize, usize),
        lowest: usize,
        walk: &mut Walk,
    ) -> bool {
        let Walk { word, mut candidate, mut candidates, mut length, mut best, mut last } = *walk;
        let (number, numbered) = (at + self.base(), origin.wrapping_sub(self.base()));
        let is_over = loop {
            let from = if IN_HISTORY {
                // The 4 bytes at `length - 3` must be in the ring.
                self.history.readable(candidate, length + 1)
            } else {
                numbered.wrapping_add(candidate)
            };
            // SAFETY: as the caller vouches.
            unsafe {
                // The last bytes of a longer match are compared first, because most candidates fail
                // there.
                if read32(from.wrapping_add(length - 3)) == last && read32(from) == word {
                    let distance = number - candidate;
                    let found = if IN_HISTORY {
                        // The comparison above may have included bytes outside the history.
                        self.history.extend(origin.wrapping_add(at), distance - at, 0, longest)
                    } else {
                        extend(origin, at, distance, at + longest, MIN_MATCH)
                    };
                    if found > length {
                        (best, length) = (Found { length: found, distance }, found);
                        if found >= nice_length {
                            break true;
                        }
                        last = read32(origin.add(at + length - 3));
                    }
                }
            }
            candidates -= 1;
            if candidates == 0 {
                break true;
            }
            candidate -= usize::from(*self.gap(candidate));
            if candidate < lowest {
                break false;
            }
        };
        *walk = Walk { word, candidate, candidates, length, best, last };
        is_over
    }

    /// Returns the gap from position `number` to the previous one in its chain.
    #[inline(always)]
    fn gap(&mut self, number: usize) -> &mut u16 {
        let slots = if FULL { MAX_DISTANCE } else { self.gaps.len() };
        let slot = number & (slots - 1);
        // SAFETY: the slot is below the length, which is a power of two.
        unsafe { self.gaps.get_unchecked_mut(slot) }
    }
}

impl<const FULL: bool, const TWICE: bool, const RING: bool> Finder for Chains<'_, FULL, TWICE, RING> {
    const INSERTS_ALL: bool = true;
    const LOOKS_TWICE: bool = TWICE;
    type Lent<'s>
        = Chains<'s, FULL, TWICE, RING>
    where
        Self: 's;

    #[inline(always)]
    fn lend(&mut self) -> Chains<'_, FULL, TWICE, RING> {
        Chains { heads: self.heads, gaps: self.gaps, heads_3: self.heads_3, heads_4: self.heads_4, ..*self }
    }

    fn adapt(&mut self, literals: usize) {
        self.window_3 = if literals < MANY_LITERALS { 0 } else { MAX_DISTANCE_OF_3 };
    }

    #[inline(always)]
    unsafe fn insert(&mut self, buffer: &[u8], at: usize) {
        // SAFETY: as the caller vouches: 4 bytes at `at`.
        unsafe {
            self.insert_lightly(buffer, at);
            if Self::FIVE {
                *self.head_4(read32(buffer.as_ptr().add(at))) = (at + self.base()) as u16;
            }
        }
    }

    /// Leaves the position out of `heads_4`.
    #[inline(always)]
    unsafe fn insert_lightly(&mut self, buffer: &[u8], at: usize) {
        // SAFETY: 4 bytes at `at`, as the caller vouches.
        let bytes = unsafe { Self::bytes::<false>(buffer, at) };
        self.enter(at + self.base(), bytes);
    }

    #[inline(always)]
    unsafe fn find<I: Isa, const FAR: bool>(&mut self, buffer: &[u8], at: usize, shorter: usize) -> Found {
        let origin = buffer.as_ptr();
        // SAFETY: 4 bytes at `at`, or 8 with `FAR`, as the caller vouches.
        let bytes = unsafe { Self::bytes::<FAR>(buffer, at) };
        let word = bytes as u32;
        let number = at + self.base();
        let newest = core::mem::replace(self.head(bytes), number as u16);
        let newest_4 = if Self::FIVE { core::mem::replace(self.head_4(word), number as u16) } else { newest };
        let newest_3 = core::mem::replace(self.head_3(word), number as u16);
        let gap = (number as u16).wrapping_sub(newest);
        *self.gap(number) = gap;

        // Prefetches the head of the next position, which the search will read soon.
        let next = if FAR { at + 1 } else { (at + 1).min(buffer.len() - MIN_MATCH) };
        // SAFETY: 4 bytes at `at + 1`, or 8 with `FAR`, or the last 4.
        let next = unsafe { Self::bytes::<FAR>(buffer, next) };
        prefetch_line(&raw const *self.head(next) as usize);
        let reach = self.window.min(if RING { at + self.history.len() } else { at });
        let is_near = |distance: usize| distance.wrapping_sub(1) < reach;
        let distance_3 = usize::from((number as u16).wrapping_sub(newest_3));
        if !is_near(distance_3) {
            // No position in reach begins with the same 3 bytes, so none begins with the same 4.
            return Found::NONE;
        }
        let mut best = Found::NONE;
        if shorter < 3 && distance_3 <= self.window_3 {
            let from = if RING && distance_3 > at {
                self.history.at(distance_3 - at)
            } else {
                origin.wrapping_add(at - distance_3)
            };
            // SAFETY: the candidate is below `at`, or in the history, where 16 bytes can be read.
            let candidate = unsafe { read32(from) };
            let has_3 = !RING || distance_3.wrapping_sub(at + 1) >= 2;
            if has_3 && candidate << 8 == word << 8 {
                best = Found { length: 3, distance: distance_3 };
            }
        }
        let longest = if FAR { MAX_MATCH } else { MAX_MATCH.min(buffer.len() - at) };
        let nice_length = if FAR { self.search.nice_length } else { self.search.nice_length.min(longest) };
        let mut length = shorter.max(MIN_MATCH - 1);
        if Self::FIVE && shorter < MIN_MATCH {
            let distance = usize::from((number as u16).wrapping_sub(newest_4));
            // SAFETY: the candidate is below `at`.
            if is_near(distance) && unsafe { read32(origin.add(at - distance)) } == word {
                (best, length) = (Found { length: MIN_MATCH, distance }, MIN_MATCH);
            }
        }
        // The longer the match to beat, the less effort it is worth to find a better one.
        let candidates = match shorter {
            0 => self.search.max_chain,
            1..GOOD_LENGTH => self.search.max_chain / 2,
            _ => (self.search.max_chain / 4).max(1),
        };
        if is_near(usize::from(gap)) && (FAR || length < longest) {
            // SAFETY: the `length + 1` bytes at `at` are in the buffer, and all candidates are
            // below `at`.
            let last = unsafe { read32(origin.add(at + length - 3)) };
            let candidate = number - usize::from(gap);
            let mut walk = Walk { word, candidate, candidates, length, best, last };
            let lowest = number - reach;
            // SAFETY: as above; candidates at `base` or above are in the buffer, and others are in
            // the history.
            best = unsafe {
                let first = if RING { lowest.max(self.base()) } else { lowest };
                let is_over = walk.candidate >= first
                    && self.follow::<false>(origin, at, (longest, nice_length), first, &mut walk);
                if RING && !is_over && walk.candidate >= lowest {
                    self.follow::<true>(origin, at, (longest, nice_length), lowest, &mut walk);
                }
                walk.best
            };
        }
        best
    }
}
