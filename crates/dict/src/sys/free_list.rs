//! Free ranges of an arena's chunks, with best-fit allocation and coalescing.

use std::collections::{BTreeMap, BTreeSet};

/// A part of a chunk, in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) chunk: u32,
    pub(crate) at: u32,
    pub(crate) len: u32,
}

/// The free ranges of all chunks, by position and by length. No two of them are adjacent.
#[derive(Debug, Default)]
pub(crate) struct FreeList {
    by_place: BTreeMap<(u32, u32), u32>,
    by_len: BTreeSet<(u32, u32, u32)>,
}

impl FreeList {
    fn add(&mut self, range: Range) {
        self.by_place.insert((range.chunk, range.at), range.len);
        self.by_len.insert((range.len, range.chunk, range.at));
    }

    /// Removes a free range.
    pub(crate) fn remove(&mut self, range: Range) {
        self.by_place.remove(&(range.chunk, range.at));
        self.by_len.remove(&(range.len, range.chunk, range.at));
    }

    /// Allocates `len` units from the smallest range that is large enough.
    pub(crate) fn allocate(&mut self, len: u32) -> Option<Range> {
        let &(found, chunk, at) = self.by_len.range((len, 0, 0)..).next()?;
        self.remove(Range { chunk, at, len: found });
        if found > len {
            self.add(Range { chunk, at: at + len, len: found - len });
        }
        Some(Range { chunk, at, len })
    }

    /// Frees a range, and returns the coalesced free range that contains it.
    pub(crate) fn free(&mut self, mut range: Range) -> Range {
        let end = range.at + range.len;
        if let Some(&len) = self.by_place.get(&(range.chunk, end)) {
            self.remove(Range { chunk: range.chunk, at: end, len });
            range.len += len;
        }
        let before = self.by_place.range((range.chunk, 0)..(range.chunk, range.at)).next_back();
        if let Some((&(chunk, at), &len)) = before
            && at + len == range.at
        {
            self.remove(Range { chunk, at, len });
            range = Range { chunk, at, len: len + range.len };
        }
        self.add(range);
        range
    }

    /// Returns the free range at the start of a chunk, if any.
    pub(crate) fn first_in_chunk(&self, chunk: u32) -> Option<Range> {
        self.by_place.get(&(chunk, 0)).map(|&len| Range { chunk, at: 0, len })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Randomly allocates and frees. Each unit is free exactly when it is not held.
    #[test]
    fn allocations_are_disjoint_and_freed_ranges_coalesce() {
        const LEN: u32 = 1000;
        let mut free_list = FreeList::default();
        for chunk in 0..3 {
            free_list.free(Range { chunk, at: 0, len: LEN });
        }
        let mut held: Vec<Range> = Vec::new();
        let mut used = vec![false; 3 * LEN as usize];
        let mut seed = 1u32;
        let mut random = |n: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % n
        };
        let units = |r: Range| (r.chunk * LEN + r.at) as usize..(r.chunk * LEN + r.at + r.len) as usize;
        let mut refused = 0;
        for _ in 0..20_000 {
            if random(5) < 3 {
                match free_list.allocate(1 + random(90)) {
                    Some(range) => {
                        assert!(used[units(range)].iter().all(|&u| !u));
                        used[units(range)].fill(true);
                        held.push(range);
                    }
                    None => refused += 1,
                }
            } else if !held.is_empty() {
                let range = held.swap_remove(random(held.len() as u32) as usize);
                used[units(range)].fill(false);
                let joined = free_list.free(range);
                assert!(used[units(joined)].iter().all(|&u| !u));
            }
        }
        assert!(refused > 0);
        for range in held {
            free_list.free(range);
        }
        let whole: Vec<_> = free_list.by_place.iter().map(|(&place, &len)| (place, len)).collect();
        assert_eq!(whole, [((0, 0), LEN), ((1, 0), LEN), ((2, 0), LEN)]);
        assert_eq!(free_list.by_len.len(), 3);
    }
}
