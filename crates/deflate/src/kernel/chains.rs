//! Hash chains (RFC 1951, section 4): for each position how far the one before with the same hash is, followed for at most
//! [`Search::max_chain`] candidates.
//!
//! Positions are numbers modulo 2^16. One that comes from more than a window back may look like a near one; it then is
//! a candidate like others, since bytes are compared. Every position from some beginning on is inserted in order, and
//! the heads are cleared at that beginning, so what is found depends on what follows it alone: on a call, or, where
//! a session keeps the tables, on its messages.
//!
//! Chains are of positions with the same 4 bytes; at level 7 in long calls with the same 5, beside one head for each 4. In text
//! that leaves a third of the candidates, so that a chain reaches further back.

use linerate_core::prefetch_line;

use super::isa::{Isa, read32, read64};
use super::lazy::{Finder, Found};
use super::matcher::{MAX_DISTANCE, MAX_MATCH, MIN_MATCH};
use super::search::extend;
use crate::levels::{GOOD_LENGTH, Search};

/// Bits of the hash of a chain, at most.
const MAX_BITS: u32 = 16;
/// Bits of the hash of 4 bytes beside chains of 5. With 15, ooffice is 0.13 % larger.
const BITS_4: u32 = 16;
/// Bits of the hash of 3 bytes, at most.
const MAX_BITS_3: u32 = 15;
/// Common literals from which on matches of 3 bytes pay. Of fewer, as in text, each has so short a code that three cost no
/// more than a match, which moreover hides a longer one that begins a byte later.
const MANY_LITERALS: usize = 80;
/// Where literals are many, their codes are long, so that matches of 3 bytes pay even from here.
const MAX_DISTANCE_OF_3: usize = 8 << 10;
/// The number of offset 0 is at least this, so that none is negative that lies less than 2^16 before.
const MIN_BASE: usize = 1 << 16;
/// Bits of the table that a message of a session borrows, at most.
#[cfg(feature = "alloc")]
const MAX_RECENT: u32 = 13;

/// The tables: newest position of each hash, and for each position the gap to the one before in its chain.
pub(crate) struct ChainTables {
    heads: [u16; 1 << MAX_BITS],
    gaps: [u16; MAX_DISTANCE],
    heads_3: [u16; 1 << MAX_BITS_3],
    /// Beside chains of 5 bytes.
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

    /// Lends a table for the positions of `len` bytes, and one of `slots`.
    #[cfg(feature = "alloc")]
    pub(crate) fn split(&mut self, len: usize, slots: usize) -> (&mut [u16], &mut [u16]) {
        let recent = 1 << (len.max(1).ilog2() + 1).clamp(8, MAX_RECENT);
        (&mut self.heads[..recent], &mut self.gaps[..slots])
    }
}

/// Slots of the tables that a session keeps for a window: for each position a head, a gap, and for
/// the nearest a head of 3 bytes.
#[cfg(feature = "alloc")]
pub(crate) fn chain_slots(window: usize) -> usize {
    2 * window + heads_3(window)
}

#[cfg(feature = "alloc")]
fn heads_3(window: usize) -> usize {
    window.min(1 << MAX_RECENT)
}

/// The search in hash chains. The tables have powers of two of slots; if they are `FULL`, as many as there may be, which
/// makes their sizes constants. `TWICE` is [`Finder::LOOKS_TWICE`]. With both, chains are of 5 bytes.
pub(crate) struct Chains<'a, const FULL: bool, const TWICE: bool> {
    heads: &'a mut [u16],
    gaps: &'a mut [u16],
    heads_3: &'a mut [u16],
    /// Empty beside chains of 4 bytes.
    heads_4: &'a mut [u16],
    /// The number of offset 0.
    base: usize,
    shift: u32,
    shift_3: u32,
    /// Largest distance.
    window: usize,
    /// Largest distance of matches of 3 bytes, as zlib's `TOO_FAR`; 0 to take none.
    window_3: usize,
    search: Search,
}

/// Bytes from which on a search needs full tables.
pub(crate) const FULL_LEN: usize = 1 << (MAX_BITS - 1);

impl<'a, const TWICE: bool> Chains<'a, true, TWICE> {
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

impl<'a, const TWICE: bool> Chains<'a, false, TWICE> {
    /// Begins a search in `len` bytes, with tables no larger than these need.
    pub(crate) fn begin(tables: &'a mut ChainTables, len: usize, window: usize, search: Search) -> Self {
        let bits = (len.max(1).ilog2() + 1).clamp(8, MAX_BITS);
        let heads = &mut tables.heads[..1 << bits];
        let heads_3 = &mut tables.heads_3[..1 << bits.min(MAX_BITS_3)];
        let mut chains = Chains::over(heads, &mut tables.gaps, heads_3, window, search);
        chains.clear();
        chains
    }

    /// Goes on with the tables of a session, of [`chain_slots`]`(window)` slots; offset 0 has the number `base`.
    #[cfg(feature = "alloc")]
    pub(crate) fn resume(tables: &'a mut [u16], base: u16, window: usize, search: Search) -> Self {
        let (heads, rest) = tables.split_at_mut(window);
        let (gaps, heads_3) = rest.split_at_mut(window);
        Chains { base: MIN_BASE + usize::from(base), ..Chains::over(heads, gaps, heads_3, window, search) }
    }
}

impl<'a, const FULL: bool, const TWICE: bool> Chains<'a, FULL, TWICE> {
    /// Whether chains are of 5 bytes.
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
            window,
            window_3: MAX_DISTANCE_OF_3,
            search,
        }
    }

    /// Forgets all positions.
    pub(crate) fn clear(&mut self) {
        // An empty head is the position before offset 0. Where positions begin 65,536 bytes later it may look near: its gap, which
        // an earlier call has left, must end the chain there.
        let before = (self.base as u16).wrapping_sub(1);
        *self.gap(usize::from(before)) = u16::MAX;
        self.heads.fill(before);
        self.heads_3.fill(before);
        self.heads_4.fill(before);
    }

    /// The number of offset 0. The tables hold the low 16 bits of numbers.
    #[inline(always)]
    fn base(&self) -> usize {
        if FULL { MIN_BASE } else { self.base }
    }

    /// The bytes at `at`: 8 of which a chain of 5 bytes needs the first 5, or 4. Fewer than 8 bytes before the end of the buffer 4
    /// have to do.
    ///
    /// # Safety
    /// `at + MIN_MATCH` must be within `buffer`, with `FAR` `at + 8`.
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

    /// The head of the chain of [`bytes`](Self::bytes).
    #[inline(always)]
    fn head(&mut self, bytes: u64) -> &mut u16 {
        let slot = if Self::FIVE {
            ((bytes << 24).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - MAX_BITS)) as usize
        } else {
            let shift = if FULL { 32 - MAX_BITS } else { self.shift };
            ((bytes as u32).wrapping_mul(0x9E37_79B1) >> shift) as usize
        };
        debug_assert!(slot < self.heads.len());
        // SAFETY: the hash has as many bits as the length, which `over` has checked.
        unsafe { self.heads.get_unchecked_mut(slot) }
    }

    /// The head of the first 3 of 4 bytes.
    #[inline(always)]
    fn head_3(&mut self, word: u32) -> &mut u16 {
        let shift = if FULL { 32 - MAX_BITS_3 } else { self.shift_3 };
        let slot = ((word << 8).wrapping_mul(0x9E37_79B1) >> shift) as usize;
        debug_assert!(slot < self.heads_3.len());
        // SAFETY: as above.
        unsafe { self.heads_3.get_unchecked_mut(slot) }
    }

    /// The head of 4 bytes beside chains of 5.
    #[inline(always)]
    fn head_4(&mut self, word: u32) -> &mut u16 {
        let slot = (word.wrapping_mul(0x9E37_79B1) >> (32 - BITS_4)) as usize;
        debug_assert!(slot < self.heads_4.len());
        // SAFETY: beside chains of 5 bytes `begin_full` has lent as many.
        unsafe { self.heads_4.get_unchecked_mut(slot) }
    }

    /// How far before number `number` the one before in its chain is.
    #[inline(always)]
    fn gap(&mut self, number: usize) -> &mut u16 {
        let slots = if FULL { MAX_DISTANCE } else { self.gaps.len() };
        let slot = number & (slots - 1);
        // SAFETY: the length is a power of two.
        unsafe { self.gaps.get_unchecked_mut(slot) }
    }
}

impl<const FULL: bool, const TWICE: bool> Finder for Chains<'_, FULL, TWICE> {
    const INSERTS_ALL: bool = true;
    const LOOKS_TWICE: bool = TWICE;
    type Lent<'s>
        = Chains<'s, FULL, TWICE>
    where
        Self: 's;

    #[inline(always)]
    fn lend(&mut self) -> Chains<'_, FULL, TWICE> {
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

    /// Leaves the head of 4 bytes beside chains of 5 alone.
    #[inline(always)]
    unsafe fn insert_lightly(&mut self, buffer: &[u8], at: usize) {
        // SAFETY: 4 bytes at `at`, as the caller vouches.
        let bytes = unsafe { Self::bytes::<false>(buffer, at) };
        let number = at + self.base();
        let newest = core::mem::replace(self.head(bytes), number as u16);
        *self.gap(number) = (number as u16).wrapping_sub(newest);
        *self.head_3(bytes as u32) = number as u16;
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

        // The slots of the next position, of which the search will ask soon.
        let next = if FAR { at + 1 } else { (at + 1).min(buffer.len() - MIN_MATCH) };
        // SAFETY: 4 bytes at `at + 1`, or 8 with `FAR`, or the last 4.
        let next = unsafe { Self::bytes::<FAR>(buffer, next) };
        prefetch_line(&raw const *self.head(next) as usize);
        let reach = self.window.min(at);
        let is_near = |distance: usize| distance.wrapping_sub(1) < reach;
        let distance_3 = usize::from((number as u16).wrapping_sub(newest_3));
        if !is_near(distance_3) {
            // Nothing begins with the same 3 bytes, let alone 4.
            return Found::NONE;
        }
        let mut best = Found::NONE;
        if shorter < 3 && distance_3 <= self.window_3 {
            // SAFETY: the candidate is below `at`.
            let candidate = unsafe { read32(origin.add(at - distance_3)) };
            if candidate << 8 == word << 8 {
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
        // A match to beat is worth less effort the longer it is.
        let mut candidates = match shorter {
            0 => self.search.max_chain,
            1..GOOD_LENGTH => self.search.max_chain / 2,
            _ => (self.search.max_chain / 4).max(1),
        };
        if is_near(usize::from(gap)) && (FAR || length < longest) {
            // SAFETY: `length + 1` bytes from `at` on are in the buffer, and all candidates are below `at`.
            let mut last = unsafe { read32(origin.add(at + length - 3)) };
            let (numbered, lowest) = (origin.wrapping_sub(self.base()), number - reach);
            let mut candidate = number - usize::from(gap);
            loop {
                let from = numbered.wrapping_add(candidate);
                // SAFETY: as above.
                unsafe {
                    // First the bytes that a longer match must have: most candidates fail there.
                    if read32(from.add(length - 3)) == last && read32(from) == word {
                        let distance = number - candidate;
                        let found = extend(origin, at, distance, at + longest, MIN_MATCH);
                        if found > length {
                            (best, length) = (Found { length: found, distance }, found);
                            if found >= nice_length {
                                break;
                            }
                            last = read32(origin.add(at + length - 3));
                        }
                    }
                }
                candidates -= 1;
                if candidates == 0 {
                    break;
                }
                candidate -= usize::from(*self.gap(candidate));
                if candidate < lowest {
                    break;
                }
            }
        }
        best
    }
}
