//! An LRU cache of decoded blocks with a byte budget.

use linerate_core::Result;

use crate::block::lru::{Class, Lru};
use crate::block::memory::grow;

/// Maximum number of cached blocks. Bounds the memory that tiny blocks take besides their bytes.
const MAX_BLOCKS: usize = 1024;

/// Initial buffer capacity in bytes of a block that is decoded incrementally. Most blocks fit.
pub(crate) const INITIAL_CAPACITY: usize = 1 << 20;

/// A decoded block, or a prefix of one.
pub(crate) struct CachedBlock {
    /// The buffer. Bytes after the first `filled` are unspecified, for example left over from
    /// another block.
    bytes: Vec<u8>,
    /// Length of the decoded prefix.
    filled: usize,
}

impl CachedBlock {
    /// Returns the decoded bytes.
    pub(crate) fn content(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }

    /// Returns the first `len` bytes of the buffer, to decode into. Call [`BlockCache::reserve`]
    /// before.
    pub(crate) fn buffer_mut(&mut self, len: usize) -> &mut [u8] {
        &mut self.bytes[..len]
    }

    /// Sets the length of the decoded prefix.
    pub(crate) fn set_filled(&mut self, filled: usize) {
        self.filled = filled;
    }

    /// Grows the buffer to at least `len` bytes. The block has at most `max_len` bytes. The decoded
    /// prefix stays.
    fn grow_to(&mut self, len: usize, max_len: usize, at: u64) -> Result<()> {
        // The capacity doubles, so that growing in steps copies a few times the block's length.
        let capacity = len.max(2 * self.filled).max(INITIAL_CAPACITY.min(max_len)).min(max_len.max(len));
        if self.filled == 0 || self.bytes.capacity() >= capacity {
            return grow(&mut self.bytes, capacity, at);
        }
        let mut larger = Vec::new();
        grow(&mut larger, capacity, at)?;
        larger[..self.filled].copy_from_slice(self.content());
        self.bytes = larger;
        Ok(())
    }
}

/// Decoded blocks in LRU order. The newest block is kept whatever the budget, until
/// [`BlockCache::set_budget`] is called.
pub(crate) struct BlockCache {
    held: Lru<usize, CachedBlock>,
    /// The block that was found or inserted last.
    newest: usize,
    budget: u64,
}

impl BlockCache {
    pub(crate) fn new(budget: u64) -> BlockCache {
        BlockCache { held: Lru::new(), newest: 0, budget }
    }

    pub(crate) fn budget(&self) -> u64 {
        self.budget
    }

    /// Sets the budget in bytes, and evicts blocks that exceed it.
    pub(crate) fn set_budget(&mut self, budget: u64) {
        self.budget = budget;
        while self.held.bytes() > budget && self.evict(|_| true).is_some() {}
    }

    /// Whether `block` is the most recently used one and was read to its end.
    pub(crate) fn is_finished(&self, block: usize) -> bool {
        self.newest == block && self.held.class(&block) == Some(Class::Finished)
    }

    /// Looks up a block and makes it the most recently used. Returns the length of its decoded
    /// prefix.
    pub(crate) fn find(&mut self, block: usize) -> Option<usize> {
        // The class does not change until `set_finished` is called.
        let class = self.held.class(&block)?;
        let filled = self.held.touch(&block, class)?.filled;
        self.newest = block;
        Some(filled)
    }

    /// Inserts a block that is not cached, with nothing decoded yet, as the most recently used.
    /// Evicts the first finished block. If there is none, evicts the first block if `capacity`
    /// bytes do not fit the budget or [`MAX_BLOCKS`] are cached. Reuses the buffer of the evicted
    /// block, unless it is much larger than `capacity`. [`BlockCache::reserve`] evicts more.
    pub(crate) fn insert(&mut self, block: usize, capacity: usize) {
        let finished = self.held.first(|_, _| true);
        let finished = finished.filter(|first| self.held.class(first) == Some(Class::Finished));
        let mut free = finished.and_then(|first| self.held.remove(&first));
        while self.held.len() >= MAX_BLOCKS
            || (free.is_none() && self.held.len() > 0 && self.held.bytes() + capacity as u64 > self.budget)
        {
            free = self.evict(|_| true);
        }
        // A much larger buffer would take memory that other blocks could use.
        let free = free.map(|held| held.bytes);
        let bytes =
            free.filter(|bytes| bytes.capacity() / 2 <= capacity.max(INITIAL_CAPACITY)).unwrap_or_default();
        let size = bytes.capacity() as u64;
        self.held.insert(block, CachedBlock { bytes, filled: 0 }, size, Class::Normal);
        self.newest = block;
    }

    /// Returns the most recently used block, which was found or inserted last.
    pub(crate) fn newest(&mut self) -> &mut CachedBlock {
        self.held.peek_mut(&self.newest).expect("a block was found or inserted before")
    }

    /// Sets whether the newest block is finished. Finished blocks are evicted before others.
    pub(crate) fn set_finished(&mut self, finished: bool) {
        let class = if finished { Class::Finished } else { Class::Normal };
        self.held.touch(&self.newest, class);
    }

    /// Grows the buffer of the newest block to at least `len` bytes, and evicts other blocks that
    /// then exceed the budget. The block has at most `max_len` bytes. The decoded prefix stays. An
    /// error has the offset `at`.
    pub(crate) fn reserve(&mut self, len: usize, max_len: usize, at: u64) -> Result<()> {
        let newest = self.newest();
        if newest.bytes.len() >= len {
            return Ok(());
        }
        let grown = newest.grow_to(len, max_len, at);
        let size = newest.bytes.capacity() as u64;
        let newest = self.newest;
        self.held.resize(&newest, size);
        grown?;
        while self.held.bytes() > self.budget && self.evict(|block| block != newest).is_some() {}
        Ok(())
    }

    /// Evicts the first block, in the order of eviction, for which `may_go` returns true.
    fn evict(&mut self, may_go: impl Fn(usize) -> bool) -> Option<CachedBlock> {
        let first = self.held.first(|block, _| may_go(*block))?;
        self.held.remove(&first)
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
        cache.held.keys()
    }

    #[test]
    fn least_recently_used_block_is_evicted() {
        let mut cache = BlockCache::new(3 << 20);
        (1..=3).for_each(|block| fill(&mut cache, block, 1 << 20));
        assert_eq!(cache.find(1), Some(1 << 20));
        fill(&mut cache, 4, 1 << 20);
        assert_eq!(blocks(&cache), [3, 1, 4]);
        assert_eq!(cache.held.bytes(), 3 << 20);
        assert_eq!(cache.find(2), None);
        assert_eq!(cache.find(3), Some(1 << 20));
        assert!(cache.newest().content().iter().all(|byte| *byte == 3));
    }

    #[test]
    fn finished_block_is_evicted_before_older_ones_even_within_the_budget() {
        let mut cache = BlockCache::new(64 << 20);
        (1..=3).for_each(|block| fill(&mut cache, block, 1 << 20));
        cache.set_finished(true);
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
        assert_eq!((blocks(&cache), cache.held.bytes()), (vec![3], 1 << 20));
        cache.set_budget(0);
        assert_eq!(cache.held.len(), 0);
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
