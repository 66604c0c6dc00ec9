//! An LRU cache of decoded blocks with a byte budget.

use linerate_core::Result;

use crate::block::grow;

/// The most blocks that are kept, however small: a look-up goes through all of them.
const MAX_BLOCKS: usize = 1024;

/// The first room of a block that is decoded in steps: most blocks fit.
pub(crate) const FIRST_ROOM: usize = 1 << 20;

/// A decoded block, or the first bytes of one.
pub(crate) struct Held {
    block: usize,
    /// What is behind the decoded bytes is of another block.
    bytes: Vec<u8>,
    /// How many of the bytes are decoded.
    filled: usize,
    /// Nobody is likely to want it again: the first to make room.
    spent: bool,
}

impl Held {
    /// The bytes that are decoded.
    pub(crate) fn content(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }

    /// Its first `len` bytes, to be decoded into, for which [`BlockCache::reserve`] has made room.
    pub(crate) fn room(&mut self, len: usize) -> &mut [u8] {
        &mut self.bytes[..len]
    }

    /// Says how many bytes are decoded now.
    pub(crate) fn set_filled(&mut self, filled: usize) {
        self.filled = filled;
    }

    /// Says whether the block makes room before all others.
    pub(crate) fn set_spent(&mut self, spent: bool) {
        self.spent = spent;
    }
}

/// Decoded blocks, the least recently used first. One block is kept whatever the budget is.
pub(crate) struct BlockCache {
    held: Vec<Held>,
    budget: u64,
}

impl BlockCache {
    pub(crate) fn new(budget: u64) -> BlockCache {
        BlockCache { held: Vec::new(), budget }
    }

    pub(crate) fn budget(&self) -> u64 {
        self.budget
    }

    /// Gives up blocks that do not fit the new budget.
    pub(crate) fn set_budget(&mut self, budget: u64) {
        self.budget = budget;
        while self.bytes() > budget && !self.held.is_empty() {
            self.held.remove(0);
        }
    }

    /// Whether the most recently used block is that one, and spent.
    pub(crate) fn is_spent(&self, block: usize) -> bool {
        self.held.last().is_some_and(|held| held.block == block && held.spent)
    }

    /// How many bytes of a block are decoded, which becomes the most recently used.
    pub(crate) fn find(&mut self, block: usize) -> Option<usize> {
        let at = self.held.iter().rposition(|held| held.block == block)?;
        self.held[at..].rotate_left(1);
        Some(self.newest().filled)
    }

    /// Makes a block that is not held the most recently used, with nothing decoded yet. `room` is how
    /// many bytes it may come to.
    pub(crate) fn begin(&mut self, block: usize, room: usize) {
        let spent = self.held.iter().position(|held| held.spent);
        let mut free = spent.map(|at| self.held.remove(at).bytes);
        while self.held.len() >= MAX_BLOCKS
            || (free.is_none() && !self.held.is_empty() && self.bytes() + room as u64 > self.budget)
        {
            free = Some(self.held.remove(0).bytes);
        }
        // A buffer that is far too large would take the room of others.
        let bytes = free.filter(|bytes| bytes.capacity() / 2 <= room.max(FIRST_ROOM)).unwrap_or_default();
        self.held.push(Held { block, bytes, filled: 0, spent: false });
    }

    /// The block that was found or begun last.
    pub(crate) fn newest(&mut self) -> &mut Held {
        self.held.last_mut().expect("a block was found or begun before")
    }

    /// Makes room for the first `len` bytes of the newest block, of `most` that it may come to. What
    /// is decoded stays. `at` is that of an error.
    pub(crate) fn reserve(&mut self, len: usize, most: usize, at: u64) -> Result<()> {
        let newest = self.newest();
        if newest.bytes.len() >= len {
            return Ok(());
        }
        // Doubled, so that steps copy each byte at most twice.
        let room = len.max(2 * newest.filled).max(FIRST_ROOM.min(most)).min(most.max(len));
        if newest.filled == 0 || newest.bytes.capacity() >= room {
            grow(&mut newest.bytes, room, at)?;
        } else {
            let mut larger = Vec::new();
            grow(&mut larger, room, at)?;
            larger[..newest.filled].copy_from_slice(newest.content());
            newest.bytes = larger;
        }
        while self.held.len() > 1 && self.bytes() > self.budget {
            self.held.remove(0);
        }
        Ok(())
    }

    /// Bytes of all buffers.
    fn bytes(&self) -> u64 {
        self.held.iter().map(|held| held.bytes.capacity() as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes `len` bytes, each the number of the block.
    fn fill(cache: &mut BlockCache, block: usize, len: usize) {
        if cache.find(block).is_none() {
            cache.begin(block, len);
        }
        cache.reserve(len, len, 0).unwrap();
        cache.newest().room(len).fill(block as u8);
        cache.newest().set_filled(len);
    }

    fn blocks(cache: &BlockCache) -> Vec<usize> {
        cache.held.iter().map(|held| held.block).collect()
    }

    #[test]
    fn the_least_recently_used_block_makes_room() {
        let mut cache = BlockCache::new(3 << 20);
        (1..=3).for_each(|block| fill(&mut cache, block, 1 << 20));
        assert_eq!(cache.find(1), Some(1 << 20));
        fill(&mut cache, 4, 1 << 20);
        assert_eq!(blocks(&cache), [3, 1, 4]);
        assert_eq!(cache.bytes(), 3 << 20);
        assert_eq!(cache.find(2), None);
        assert_eq!(cache.find(3), Some(1 << 20));
        assert!(cache.newest().content().iter().all(|byte| *byte == 3));
    }

    #[test]
    fn a_spent_block_makes_room_before_older_ones_and_within_the_budget() {
        let mut cache = BlockCache::new(64 << 20);
        (1..=3).for_each(|block| fill(&mut cache, block, 1 << 20));
        cache.newest().set_spent(true);
        fill(&mut cache, 4, 1 << 20);
        assert_eq!(blocks(&cache), [1, 2, 4]);
    }

    #[test]
    fn a_block_larger_than_the_budget_is_kept_alone_and_its_buffer_goes_with_it() {
        let mut cache = BlockCache::new(2 << 20);
        fill(&mut cache, 1, 1 << 20);
        fill(&mut cache, 2, 9 << 20);
        assert_eq!(blocks(&cache), [2]);
        fill(&mut cache, 3, 1 << 20);
        assert_eq!((blocks(&cache), cache.bytes()), (vec![3], 1 << 20));
        cache.set_budget(0);
        assert!(cache.held.is_empty());
    }

    #[test]
    fn what_is_decoded_stays_when_more_room_is_made() {
        let mut cache = BlockCache::new(0);
        cache.begin(7, 5 << 20);
        for len in [10, FIRST_ROOM, FIRST_ROOM + 1, 5 << 20] {
            let filled = cache.newest().filled;
            cache.reserve(len, 5 << 20, 0).unwrap();
            cache.newest().room(len)[filled..].fill(7);
            cache.newest().set_filled(len);
            assert!(cache.newest().content().iter().all(|byte| *byte == 7), "{len}");
        }
    }

    #[test]
    fn tiny_blocks_are_bounded_in_number() {
        let mut cache = BlockCache::new(64 << 20);
        (0..2 * MAX_BLOCKS).for_each(|block| fill(&mut cache, block, 1));
        assert_eq!(cache.held.len(), MAX_BLOCKS);
    }
}
