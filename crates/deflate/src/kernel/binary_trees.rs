//! Binary trees of the positions in the window, one for each hash of 4 bytes, for levels 8 and 9. A
//! search finds the nearest match of each length among the candidates that it tries. LZMA's `bt4`
//! and libdeflate's `bt_matchfinder` are of this kind.
//!
//! A tree is ordered by the bytes at its positions, and a parent is newer than its children. A new
//! position becomes the root: the old tree is split, along the path to the place where the new
//! position belongs, into the two subtrees of the root. The positions on that path are the
//! candidates, nearest first.
//!
//! Positions are stored modulo 2^16. Before a child is so old that it would look new, it is
//! overwritten or replaced. Every 32,768 positions a sweep sets the age of older heads to 32,768.

use core::hint::select_unpredictable;
use core::mem::replace;

use linerate_core::prefetch_line;

use super::isa::read32;
use super::matcher::{MAX_DISTANCE, MAX_MATCH, MIN_MATCH};
use super::search::extend;
use super::span::MAX_DEPTH;
use crate::coding::token::distance_symbol;
use crate::levels::Effort;

/// Maximum number of bits of the hashes of 4 and of 3 bytes.
const MAX_BITS: u32 = 16;
/// The age of a position that is not a candidate, because its slot belongs to another one.
const GONE: u16 = MAX_DISTANCE as u16;

/// The tables: the root of each tree, the newest position for each hash of 3 bytes, and the lesser
/// and greater child of each position.
pub(crate) struct TreeTables {
    heads: [u16; 1 << MAX_BITS],
    heads_3: [u16; 1 << MAX_BITS],
    children: [u16; 2 * MAX_DISTANCE],
}

/// A match at a position: length - 3 | distance symbol << 8 | (distance - 1) << 16.
pub(crate) type Match = u32;

/// The match finder over binary trees.
pub(crate) struct BinaryTrees<'a> {
    heads: &'a mut [u16],
    heads_3: &'a mut [u16],
    children: &'a mut [u16; 2 * MAX_DISTANCE],
    shift: u32,
    /// Largest distance of a match.
    window: usize,
    /// Largest distance of a candidate in a tree. The position 32,768 bytes before shares its slot
    /// with the new one.
    reach: usize,
    /// A match of this length or longer ends the search at its position.
    pub(crate) nice_length: usize,
    /// Maximum number of candidates tried at a position.
    max_depth: u32,
}

impl<'a> BinaryTrees<'a> {
    /// Begins a search in `len` bytes, with tables no larger than needed.
    pub(crate) fn begin(tables: &'a mut TreeTables, len: usize, window: usize, effort: Effort) -> Self {
        let bits = (len.max(1).ilog2() + 1).clamp(8, MAX_BITS);
        let TreeTables { heads, heads_3, children } = tables;
        let (heads, heads_3) = (&mut heads[..1 << bits], &mut heads_3[..1 << bits]);
        heads.fill(GONE);
        heads_3.fill(GONE);
        let reach = window.min(MAX_DISTANCE - 1);
        assert!(effort.max_depth <= MAX_DEPTH, "as many matches have room");
        let Effort { nice_length, max_depth, .. } = effort;
        BinaryTrees { heads, heads_3, children, shift: 32 - bits, window, reach, nice_length, max_depth }
    }

    /// Returns the slot of the 4 bytes of `word`, or of 3 bytes if `word` is shifted left by 8
    /// bits.
    #[inline(always)]
    fn hash(&self, word: u32) -> usize {
        (word.wrapping_mul(0x9E37_79B1) >> self.shift) as usize
    }

    /// Inserts the positions of a range, except those near the end that have fewer than 4 bytes.
    pub(crate) fn insert_all(&mut self, buffer: &[u8], start: usize, end: usize) {
        for at in start..end.min((buffer.len() + 1).saturating_sub(MIN_MATCH)) {
            self.insert_one(buffer, at);
        }
    }

    /// Inserts position `at`, which must have 4 bytes. Returns whether a match of at least 4 bytes
    /// begins there.
    #[inline(never)]
    pub(crate) fn insert_one(&mut self, buffer: &[u8], at: usize) -> bool {
        assert!(buffer.len() - at >= MIN_MATCH, "the position has 4 bytes");
        // SAFETY: the position has 4 bytes, and no list is written.
        unsafe { self.insert::<false>(buffer, at, core::ptr::null_mut()).1 >= MIN_MATCH }
    }

    /// Sets the age of heads that are older than [`GONE`] to [`GONE`], before they would look new.
    /// A head that the last sweep set is now 65,536 positions old, which looks like 0.
    #[cold]
    #[inline(never)]
    fn sweep(&mut self, number: u16) {
        for heads in [&mut *self.heads, &mut *self.heads_3] {
            for head in heads {
                let age_less_1 = number.wrapping_sub(*head).wrapping_sub(1);
                *head = number.wrapping_sub(age_less_1.min(GONE - 1)).wrapping_sub(1);
            }
        }
    }

    /// Inserts position `at`. If `WANTED`, writes its matches to `list`, in ascending order of
    /// length and distance. Returns the end of the list, and the greatest length, or 3 if no match
    /// is longer.
    ///
    /// # Safety
    /// `at + MIN_MATCH` must be within `buffer`, which must be the same at every call. Positions
    /// must be inserted in ascending order from 0. `list` must have room for `max_depth` + 2
    /// matches.
    #[inline(always)]
    pub(crate) unsafe fn insert<const WANTED: bool>(
        &mut self,
        buffer: &[u8],
        at: usize,
        mut list: *mut Match,
    ) -> (*mut Match, usize) {
        let number = at as u16;
        if number.is_multiple_of(GONE) {
            self.sweep(number);
        }
        let origin = buffer.as_ptr();
        let longest = MAX_MATCH.min(buffer.len() - at);
        let nice_length = self.nice_length.min(longest);
        let reach = self.reach.min(at);
        let is_near = |distance: usize| distance.wrapping_sub(1) < reach;
        let age = |position: u16| usize::from(number.wrapping_sub(position));
        let mut best = MIN_MATCH - 1;
        // SAFETY: `longest` bytes, at least 4, begin at `at`, and candidates are before it. A hash
        // has as many bits as the tables, and 15 bits of a position select one of 32,768 pairs of
        // children.
        unsafe {
            let word = read32(origin.add(at));
            let (slot, slot_3) = (self.hash(word), self.hash(word << 8));
            let mut distance = age(replace(self.heads.get_unchecked_mut(slot), number));
            let distance_3 = age(replace(self.heads_3.get_unchecked_mut(slot_3), number));
            if WANTED && is_near(distance_3) && read32(origin.add(at - distance_3)) << 8 == word << 8 {
                list = push(list, 3, distance_3);
            }
            let children = self.children.as_mut_ptr();
            let children_of = |position: u16| children.add(2 * usize::from(position & (GONE - 1)));
            // The places where the two subtrees continue, and the lengths that the last position on
            // either side has in common with `at`.
            let (mut less, mut greater) = (children_of(number), children_of(number).add(1));
            let (mut less_length, mut greater_length) = (0, 0);
            let gone = number.wrapping_sub(GONE);
            for _ in 0..self.max_depth {
                if !is_near(distance) {
                    break;
                }
                let candidate = number.wrapping_sub(distance as u16);
                let node = children_of(candidate);
                let length =
                    extend(origin, at, distance, at + longest, usize::min(less_length, greater_length));
                if length > best {
                    best = length;
                    if WANTED {
                        list = push(list, length, distance);
                    }
                    if length >= nice_length {
                        // The new position replaces the candidate.
                        let renew = |child: u16| if is_near(age(child)) { child } else { gone };
                        (*less, *greater) = (renew(*node), renew(*node.add(1)));
                        self.prefetch(buffer, at + 1);
                        return (list, best);
                    }
                }
                // Both outcomes are equally likely.
                let is_less = *origin.add(at - distance + length) < *origin.add(at + length);
                *select_unpredictable(is_less, less, greater) = candidate;
                let next = node.add(usize::from(is_less));
                less = select_unpredictable(is_less, next, less);
                greater = select_unpredictable(is_less, greater, next);
                less_length = select_unpredictable(is_less, length, less_length);
                greater_length = select_unpredictable(is_less, greater_length, length);
                distance = age(*next);
            }
            (*less, *greater) = (gone, gone);
            if distance == MAX_DISTANCE && distance <= self.window.min(at) {
                let length = extend(origin, at, distance, at + longest, 0);
                if length > best {
                    best = length;
                    if WANTED {
                        list = push(list, length, distance);
                    }
                }
            }
        }
        self.prefetch(buffer, at + 1);
        (list, best)
    }

    /// Prefetches the head of position `at`, which the search will read soon.
    #[inline(always)]
    fn prefetch(&self, buffer: &[u8], at: usize) {
        if let Some(&bytes) = buffer.get(at..).and_then(<[u8]>::first_chunk) {
            prefetch_line(&raw const self.heads[self.hash(u32::from_le_bytes(bytes))] as usize);
        }
    }
}

/// Appends a match.
///
/// # Safety
/// `list` must have room.
#[inline(always)]
unsafe fn push(list: *mut Match, length: usize, distance: usize) -> *mut Match {
    let distance = distance as u32;
    let (symbol, _) = distance_symbol(distance);
    // SAFETY: as the caller vouches.
    unsafe {
        *list = (length - 3) as u32 | symbol << 8 | (distance - 1) << 16;
        list.add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use crate::kernel::matcher::MAX_DISTANCE;

    /// Counters, and among them long lines that begin alike. Some recur only after more than 65,536
    /// bytes, so that the trees hold positions of all ages.
    fn records(len: usize) -> Vec<u8> {
        let mut data = Vec::new();
        for i in 0u32.. {
            data.extend_from_slice(format!("key={};", i.wrapping_mul(0x9E37_79B1) >> (i % 32)).as_bytes());
            if i % 20 == 0 {
                let kind = if i % 8_000 == 0 { i / 8_000 % 5 } else { 5 + i / 20 % 2 };
                let rest = "a rest that is longer than a nice match, so that its trees are handed down";
                data.extend_from_slice(format!("a beginning {kind} and {rest} {rest}").as_bytes());
            }
            if data.len() >= len {
                return data;
            }
        }
        unreachable!("the data grows");
    }

    /// Returns the matches of a position as pairs of length and distance.
    fn matches_of(list: &[Match]) -> Vec<(usize, usize)> {
        list.iter().map(|found| ((found & 0xff) as usize + 3, (found >> 16) as usize + 1)).collect()
    }

    fn check(data: &[u8], window: usize, effort: Effort, mut check: impl FnMut(usize, &[(usize, usize)])) {
        let mut tables: alloc::boxed::Box<TreeTables> = crate::sys::zeroed::boxed();
        let mut trees = BinaryTrees::begin(&mut tables, data.len(), window, effort);
        let mut list = [0; 256];
        for at in 0..=data.len() - MIN_MATCH {
            // SAFETY: the position has 4 bytes, and the list room for 256 matches.
            let (end, longest) = unsafe { trees.insert::<true>(data, at, list.as_mut_ptr()) };
            // SAFETY: both point into the list.
            let count = unsafe { end.offset_from(list.as_ptr()) } as usize;
            let found = matches_of(&list[..count]);
            assert!(found.is_sorted_by(|a, b| a.0 < b.0), "{at}: {found:?}");
            for &(length, distance) in &found {
                assert!(distance <= window.min(at), "{at}: {found:?}");
                assert_eq!(data[at..at + length], data[at - distance..][..length], "{at}: {found:?}");
            }
            assert_eq!(longest, found.last().map_or(3, |last| last.0));
            check(at, &found);
        }
    }

    #[test]
    fn every_match_is_valid_across_several_windows() {
        for (window, level) in
            [(MAX_DISTANCE, Level::Optimal), (MAX_DISTANCE, Level::Best), (512, Level::Best)]
        {
            check(&records(300_000), window, level.effort(), |_, _| {});
        }
    }

    #[test]
    fn unused_heads_are_never_candidates() {
        let mut tables: alloc::boxed::Box<TreeTables> = crate::sys::zeroed::boxed();
        let mut trees = BinaryTrees::begin(&mut tables, 1 << 20, MAX_DISTANCE, Level::Best.effort());
        for number in (0..20u32).map(|window| (window * 32_768) as u16) {
            trees.sweep(number);
            assert!(trees.heads.iter().chain(&*trees.heads_3).all(|&head| number.wrapping_sub(head) == GONE));
        }
    }

    #[test]
    fn nearest_match_of_each_length_is_found() {
        let data = records(6_000);
        let effort = Effort { max_depth: 250, ..Level::Best.effort() };
        check(&data, MAX_DISTANCE, effort, |at, found| {
            let mut nearest = Vec::new();
            for distance in 1..=at {
                let common = data[at..].iter().zip(&data[at - distance..]).take(MAX_MATCH);
                let length = common.take_while(|(a, b)| a == b).count();
                if length > nearest.last().map_or(MIN_MATCH - 1, |&(longest, _)| longest) {
                    nearest.push((length, distance));
                }
            }
            let found: Vec<_> = found.iter().copied().filter(|&(length, _)| length >= MIN_MATCH).collect();
            assert_eq!(found, nearest, "{at}");
        });
    }
}
