//! Hash chains: for each position the one before with the same hash, followed to a bounded depth.
//!
//! Positions are offsets modulo 2^16. One that comes from more than a window back may look like a near one; it then is
//! a candidate like others, since bytes are compared. Every position from some beginning on is inserted in order, and
//! the heads are cleared at that beginning, so what is found depends on the call alone.

use linerate_core::prefetch_line;

use super::isa::{Isa, read32};
use super::lazy::{Finder, Found};
use super::matcher::{MAX_DISTANCE, MAX_MATCH, MIN_MATCH};
use super::search::extend;
use crate::levels::Search;

/// Bits of the hash of 4 bytes, at most.
const MAX_BITS: u32 = 15;
/// Bits of the hash of 3 bytes, at most.
const MAX_BITS_3: u32 = 14;
/// Bits of the table that a message of a session borrows, at most.
#[cfg(feature = "alloc")]
const MAX_RECENT: u32 = 13;

/// A match of this length is good enough to look for a better one among a quarter of the candidates.
const GOOD: usize = 8;

/// The tables: newest position of each hash, and for each position the one before.
pub(crate) struct ChainTables {
    heads: [u16; 1 << MAX_BITS],
    before: [u16; MAX_DISTANCE],
    heads_3: [u16; 1 << MAX_BITS_3],
}

impl ChainTables {
    pub(crate) const fn new() -> Self {
        ChainTables { heads: [0; 1 << MAX_BITS], before: [0; MAX_DISTANCE], heads_3: [0; 1 << MAX_BITS_3] }
    }

    /// Lends a table for the positions of `len` bytes, and one of `slots`.
    #[cfg(feature = "alloc")]
    pub(crate) fn split(&mut self, len: usize, slots: usize) -> (&mut [u16], &mut [u16]) {
        let recent = 1 << (len.max(1).ilog2() + 1).clamp(8, MAX_RECENT);
        (&mut self.heads[..recent], &mut self.before[..slots])
    }
}

/// The search in hash chains.
pub(crate) struct Chains<'a> {
    tables: &'a mut ChainTables,
    shift: u32,
    shift_3: u32,
    /// Largest distance.
    window: usize,
    /// Most candidates tried.
    depth: u32,
    /// A match of this length ends the search.
    enough: usize,
    /// Largest distance of a match of 3 bytes.
    reach_3: usize,
}

impl<'a> Chains<'a> {
    /// Begins a search in `len` bytes, with tables no larger than these need.
    pub(crate) fn begin(tables: &'a mut ChainTables, len: usize, window: usize, search: Search) -> Self {
        let Search { depth, enough, reach_3, .. } = search;
        let bits = (len.max(1).ilog2() + 1).clamp(8, MAX_BITS);
        let bits_3 = bits.min(MAX_BITS_3);
        tables.heads[..1 << bits].fill(0);
        tables.heads_3[..1 << bits_3].fill(0);
        // An empty head is position 0, which may not be inserted: it ends its chain.
        tables.before[0] = 0;
        Chains { tables, shift: 32 - bits, shift_3: 32 - bits_3, window, depth, enough, reach_3 }
    }

    #[inline(always)]
    fn slot(&self, word: u32) -> usize {
        (word.wrapping_mul(0x9E37_79B1) >> self.shift) as usize & ((1 << MAX_BITS) - 1)
    }

    #[inline(always)]
    fn slot_3(&self, word: u32) -> usize {
        ((word << 8).wrapping_mul(0x9E37_79B1) >> self.shift_3) as usize & ((1 << MAX_BITS_3) - 1)
    }
}

impl Finder for Chains<'_> {
    const INSERTS_ALL: bool = true;

    #[inline(always)]
    unsafe fn insert(&mut self, buffer: &[u8], at: usize) {
        // SAFETY: 4 bytes at `at`, as the caller vouches.
        let word = unsafe { read32(buffer.as_ptr().add(at)) };
        let slot = self.slot(word);
        self.tables.before[at % MAX_DISTANCE] = self.tables.heads[slot];
        self.tables.heads[slot] = at as u16;
        let slot = self.slot_3(word);
        self.tables.heads_3[slot] = at as u16;
    }

    #[inline(always)]
    unsafe fn find<I: Isa>(&mut self, buffer: &[u8], at: usize, shorter: usize) -> Found {
        let origin = buffer.as_ptr();
        // SAFETY: 4 bytes at `at`, as the caller vouches.
        let word = unsafe { read32(origin.add(at)) };
        let (slot, slot_3) = (self.slot(word), self.slot_3(word));
        let (newest, newest_3) = (self.tables.heads[slot], self.tables.heads_3[slot_3]);
        self.tables.before[at % MAX_DISTANCE] = newest;
        self.tables.heads[slot] = at as u16;
        self.tables.heads_3[slot_3] = at as u16;

        // The slots of the next position, of which the search will ask soon.
        // SAFETY: 4 bytes at `at + 1` or the last 4.
        let next = unsafe { read32(origin.add((at + 1).min(buffer.len() - MIN_MATCH))) };
        prefetch_line(&raw const self.tables.heads[self.slot(next)] as usize);
        let reach = self.window.min(at);
        let longest = MAX_MATCH.min(buffer.len() - at);
        let (mut best, mut length) = (Found::NONE, shorter.max(MIN_MATCH - 1));
        let mut distance = usize::from((at as u16).wrapping_sub(newest));
        let mut nearer = 0;
        // A match to beat is worth less effort the longer it is.
        let depth = match shorter {
            0 => self.depth,
            1..GOOD => self.depth / 2,
            _ => self.depth / 4,
        };
        for _ in 0..depth {
            if distance <= nearer || distance > reach || length >= longest {
                break;
            }
            nearer = distance;
            let from = at - distance;
            // SAFETY: `length + 1` bytes from `at` on are in the buffer, and `from` is below `at`.
            unsafe {
                // First the bytes that a longer match must have: most candidates fail there.
                if read32(origin.add(from + length - 3)) == read32(origin.add(at + length - 3))
                    && read32(origin.add(from)) == word
                {
                    let found = extend(origin, at, distance, buffer.len(), MIN_MATCH);
                    if found > length {
                        (best, length) = (Found { length: found, distance }, found);
                        if found >= self.enough {
                            break;
                        }
                    }
                }
            }
            distance = usize::from((at as u16).wrapping_sub(self.tables.before[from % MAX_DISTANCE]));
        }
        if best.length == 0 && shorter < 3 {
            let distance = usize::from((at as u16).wrapping_sub(newest_3));
            if distance > 0 && distance <= reach.min(self.reach_3) {
                // SAFETY: the candidate is below `at`.
                let candidate = unsafe { read32(origin.add(at - distance)) };
                if candidate << 8 == word << 8 {
                    best = Found { length: 3, distance };
                }
            }
        }
        best
    }
}
