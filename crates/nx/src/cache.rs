//! An LRU cache of decoded blocks with a byte budget.

use linerate_core::Result;

use crate::block::grow;

/// Maximum number of cached blocks: a lookup is a linear search.
const MAX_BLOCKS: usize = 1024;

/// Initial buffer capacity of a block that is decoded incrementally: most blocks fit.
pub(crate) const INITIAL_CAPACITY: usize = 1 << 20;

/// A decoded block, or a prefix of one.
pub(crate) struct CachedBlock {
    block: usize,
    /// Bytes from `filled` on are left from another block.
    bytes: Vec<u8>,
    /// Length of the decoded prefix.
    filled: usize,
    /// Read to its end, so unlikely to be read again: evicted first.
    finished: bool,
}

impl CachedBlock {
    /// The decoded bytes.
    pub(crate) fn content(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }

    /// The first `len` bytes, to decode into, after [`BlockCache::reserve`].
    pub(crate) fn buffer_mut(&mut self, len: usize) -> &mut [u8] {
        &mut self.bytes[..len]
    }

    /// Sets the length of the decoded prefix.
    pub(crate) fn set_filled(&mut self, filled: usize) {
        self.filled = filled;
    }

    /// Sets whether the block is evicted before all others.
    pub(crate) fn set_finished(&mut self, finished: bool) {
        self.finished = finished;
    }
}

/// Decoded blocks, the least recently used first. One block is kept whatever the budget is.
pub(crate) struct BlockCache {
    held: Vec<CachedBlock>,
    budget: u64,
}

impl BlockCache {
    pub(crate) fn new(budget: u64) -> BlockCache {
        BlockCache { held: Vec::new(), budget }
    }

    pub(crate) fn budget(&self) -> u64 {
        self.budget
    }

    /// Sets the budget in bytes, and evicts what exceeds it.
    pub(crate) fn set_budget(&mut self, budget: u64) {
        self.budget = budget;
        while self.bytes() > budget && !self.held.is_empty() {
            self.held.remove(0);
        }
    }

    /// Whether `block` is the most recently used, and finished.
    pub(crate) fn is_finished(&self, block: usize) -> bool {
        self.held.last().is_some_and(|held| held.block == block && held.finished)
    }

    /// Looks up a block and makes it the most recently used. Returns the length of its decoded prefix.
    pub(crate) fn find(&mut self, block: usize) -> Option<usize> {
        let at = self.held.iter().rposition(|held| held.block == block)?;
        self.held[at..].rotate_left(1);
        Some(self.newest().filled)
    }

    /// Inserts a block that is not cached as the most recently used, with nothing decoded yet, and evicts
    /// others for its `capacity` bytes.
    pub(crate) fn insert(&mut self, block: usize, capacity: usize) {
        let finished = self.held.iter().position(|held| held.finished);
        let mut free = finished.map(|at| self.held.remove(at).bytes);
        while self.held.len() >= MAX_BLOCKS
            || (free.is_none() && !self.held.is_empty() && self.bytes() + capacity as u64 > self.budget)
        {
            free = Some(self.held.remove(0).bytes);
        }
        // A far larger buffer would use up the budget of other blocks.
        let bytes =
            free.filter(|bytes| bytes.capacity() / 2 <= capacity.max(INITIAL_CAPACITY)).unwrap_or_default();
        self.held.push(CachedBlock { block, bytes, filled: 0, finished: false });
    }

    /// The most recently used block: the one found or inserted last.
    pub(crate) fn newest(&mut self) -> &mut CachedBlock {
        self.held.last_mut().expect("a block was found or inserted before")
    }

    /// Grows the buffer of the newest block to at least `len` bytes, out of at most `max_len`. The decoded
    /// prefix stays. `at` is the offset of an error.
    pub(crate) fn reserve(&mut self, len: usize, max_len: usize, at: u64) -> Result<()> {
        let newest = self.newest();
        if newest.bytes.len() >= len {
            return Ok(());
        }
        // Doubled, so that steps copy each byte at most twice.
        let capacity = len.max(2 * newest.filled).max(INITIAL_CAPACITY.min(max_len)).min(max_len.max(len));
        if newest.filled == 0 || newest.bytes.capacity() >= capacity {
            grow(&mut newest.bytes, capacity, at)?;
        } else {
            let mut larger = Vec::new();
            grow(&mut larger, capacity, at)?;
            larger[..newest.filled].copy_from_slice(newest.content());
            newest.bytes = larger;
        }
        while self.held.len() > 1 && self.bytes() > self.budget {
            self.held.remove(0);
        }
        Ok(())
    }

    /// Total capacity of all buffers in bytes.
    fn bytes(&self) -> u64 {
        self.held.iter().map(|held| held.bytes.capacity() as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fills a block with `len` bytes, each the number of the block.
    fn fill(cache: &mut BlockCache, block: usize, len: usize) {
        if cache.find(block).is_none() {
            cache.insert(block, len);
        }
        cache.reserve(len, len, 0).unwrap();
        cache.newest().buffer_mut(len).fill(block as u8);
        cache.newest().set_filled(len);
    }

    fn blocks(cache: &BlockCache) -> Vec<usize> {
        cache.held.iter().map(|held| held.block).collect()
    }

    #[test]
    fn least_recently_used_block_is_evicted() {
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
    fn finished_block_is_evicted_before_older_ones_even_within_the_budget() {
        let mut cache = BlockCache::new(64 << 20);
        (1..=3).for_each(|block| fill(&mut cache, block, 1 << 20));
        cache.newest().set_finished(true);
        fill(&mut cache, 4, 1 << 20);
        assert_eq!(blocks(&cache), [1, 2, 4]);
    }

    #[test]
    fn block_larger_than_the_budget_is_cached_alone_and_its_buffer_is_freed_with_it() {
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
    fn decoded_prefix_survives_growing_the_buffer() {
        let mut cache = BlockCache::new(0);
        cache.insert(7, 5 << 20);
        for len in [10, INITIAL_CAPACITY, INITIAL_CAPACITY + 1, 5 << 20] {
            let filled = cache.newest().filled;
            cache.reserve(len, 5 << 20, 0).unwrap();
            cache.newest().buffer_mut(len)[filled..].fill(7);
            cache.newest().set_filled(len);
            assert!(cache.newest().content().iter().all(|byte| *byte == 7), "{len}");
        }
    }

    #[test]
    fn number_of_tiny_blocks_is_bounded() {
        let mut cache = BlockCache::new(64 << 20);
        (0..2 * MAX_BLOCKS).for_each(|block| fill(&mut cache, block, 1));
        assert_eq!(cache.held.len(), MAX_BLOCKS);
    }
}
