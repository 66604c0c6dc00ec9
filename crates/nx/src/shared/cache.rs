//! A cache of decoded blocks for many threads, files and archives, with one budget in bytes.
//!
//! A block is decoded once, however many threads want it: the first thread decodes, the others
//! wait. The memory of evicted blocks is reused for later blocks.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use linerate_core::{Error, Kind, Result, lock};

use crate::block::lru::{Class, Lru};
use crate::block::memory::grow;

/// Bytes that an entry takes besides its content, at least. Counting them bounds the number of tiny
/// blocks.
const ENTRY: u64 = 256;

/// Returns the bytes that a block of `len` bytes counts in the budget.
pub(super) fn charge(len: u64) -> u64 {
    len.saturating_add(ENTRY)
}

/// A cache of decoded blocks with a byte budget, for any number of
/// [archives](super::SharedArchive), files and threads. Clones share it.
///
/// | evicted | block |
/// |---|---|
/// | first | read to its end as a chunk of a larger file |
/// | then | read, the least recently used first |
/// | last | [prefetched](super::SharedArchive::prefetch) and not read yet; after that, as above |
/// | never | pinned: in use by an [`OpenFile`](super::OpenFile), a read, or [`Pinned`](super::Pinned) |
///
/// The budget counts all blocks, including those being decoded. Only blocks that are pinned or
/// being decoded can exceed it: at most one per open file, one per thread, and the blocks that
/// [`Pinned`](super::Pinned) holds.
#[derive(Clone)]
pub struct SharedCache {
    inner: Arc<Inner>,
}

/// Counters of a [`SharedCache`], and its current content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheCounters {
    /// Reads of blocks that were cached.
    pub hits: u64,
    /// Reads of blocks that were neither cached nor being decoded. Each of these reads decoded a
    /// block, or failed to.
    pub misses: u64,
    /// Reads and prefetches of blocks that another thread was already decoding.
    pub waits: u64,
    /// Blocks decoded by prefetching, including those that failed. They are not counted as misses.
    pub prefetches: u64,
    /// Bytes decoded into the cache.
    pub decoded_bytes: u64,
    /// Blocks evicted, without those of archives that were dropped.
    pub evictions: u64,
    /// Blocks held now.
    pub blocks: u64,
    /// Bytes held now, including blocks being decoded.
    pub bytes: u64,
    /// The most bytes held at any time.
    pub peak_bytes: u64,
}

/// The number of the archive in the cache, and the block.
pub(crate) type Key = (u64, usize);

/// A decoded block. Every clone of its `Arc` pins it.
pub(crate) struct Content {
    bytes: Vec<u8>,
}

impl Content {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The purpose for which a block is requested.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Read,
    Prefetch,
}

struct Inner {
    state: Mutex<CacheState>,
    budget: AtomicU64,
    next_archive: AtomicU64,
    /// Whether pinned blocks keep the cache above its budget.
    is_over: AtomicBool,
}

struct CacheState {
    blocks: Lru<Key, Arc<Content>>,
    decoding: HashMap<Key, Arc<Flight>>,
    /// Bytes of the blocks being decoded.
    reserved: u64,
    counters: CacheCounters,
}

/// A block that one thread is decoding. Other threads may wait for it.
#[derive(Default)]
struct Flight {
    result: Mutex<Option<Result<Arc<Content>>>>,
    landed: Condvar,
}

impl Flight {
    fn wait(&self) -> Result<Arc<Content>> {
        let result = lock(&self.result);
        let result = self.landed.wait_while(result, |result| result.is_none());
        let result = result.unwrap_or_else(PoisonError::into_inner);
        result.clone().expect("waited for")
    }

    fn land(&self, result: Result<Arc<Content>>) {
        *lock(&self.result) = Some(result);
        self.landed.notify_all();
    }
}

/// A thread's decoding of a block. If the thread panics, dropping this ends the [`Flight`], so that
/// no other thread waits for it.
struct Decoding<'c> {
    cache: &'c SharedCache,
    key: Key,
    reserved: u64,
    flight: Arc<Flight>,
    purpose: Purpose,
    landed: bool,
}

impl Decoding<'_> {
    fn land(&mut self, result: Result<Vec<u8>>) -> Result<Arc<Content>> {
        self.landed = true;
        let result = result.map(|bytes| Arc::new(Content { bytes }));
        let mut state = self.cache.state();
        state.reserved -= self.reserved;
        state.decoding.remove(&self.key);
        if let Ok(content) = &result {
            let class = if self.purpose == Purpose::Read { Class::Normal } else { Class::Prefetched };
            let bytes = charge(content.bytes.capacity() as u64);
            state.counters.decoded_bytes += content.bytes.len() as u64;
            state.blocks.insert(self.key, Arc::clone(content), bytes, class);
            state.note_peak();
            self.cache.evict(&mut state, 0);
        }
        drop(state);
        self.flight.land(result.clone());
        result
    }
}

impl Drop for Decoding<'_> {
    fn drop(&mut self) {
        if !self.landed {
            let panicked = Error::new(Kind::Read, 0, "the thread that decoded the block panicked");
            let _ = self.land(Err(panicked));
        }
    }
}

impl SharedCache {
    /// Creates a cache with a budget in bytes. With 0, a block is kept only while it is in use.
    pub fn new(budget: u64) -> SharedCache {
        let state = CacheState {
            blocks: Lru::new(),
            decoding: HashMap::new(),
            reserved: 0,
            counters: CacheCounters::default(),
        };
        let inner = Inner {
            state: Mutex::new(state),
            budget: AtomicU64::new(budget),
            next_archive: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        };
        SharedCache { inner: Arc::new(inner) }
    }

    /// The budget in bytes.
    pub fn budget(&self) -> u64 {
        self.inner.budget.load(Ordering::Relaxed)
    }

    /// Sets the budget in bytes, and evicts what exceeds it.
    pub fn set_budget(&self, budget: u64) {
        self.inner.budget.store(budget, Ordering::Relaxed);
        self.evict(&mut self.state(), 0);
    }

    /// Returns the counters.
    pub fn counters(&self) -> CacheCounters {
        let state = self.state();
        CacheCounters { blocks: state.blocks.len() as u64, bytes: state.bytes(), ..state.counters }
    }

    /// Evicts every block that is not pinned.
    pub fn clear(&self) {
        let mut state = self.state();
        while state.evict_first().is_some() {}
    }

    /// Returns a new number, for the blocks of another archive.
    pub(super) fn add_archive(&self) -> u64 {
        self.inner.next_archive.fetch_add(1, Ordering::Relaxed)
    }

    /// Evicts the blocks of an archive that is no longer read.
    pub(super) fn remove_archive(&self, archive: u64) {
        let mut state = self.state();
        while let Some(key) = state.blocks.first(|key, _| key.0 == archive) {
            state.blocks.remove(&key);
        }
    }

    /// Returns a block if it is cached, and counts a hit.
    pub(super) fn get(&self, key: Key) -> Option<Arc<Content>> {
        self.state().hit(key)
    }

    /// Whether a block is cached or being decoded. Counts nothing.
    pub(super) fn has(&self, key: Key) -> bool {
        let state = self.state();
        state.blocks.peek(&key).is_some() || state.decoding.contains_key(&key)
    }

    /// Returns a block of `len` bytes from the cache, or decodes it with `decode`. If another
    /// thread is already decoding it, waits for that thread. If memory runs out, `at` is the offset
    /// of the error.
    ///
    /// # Errors
    ///
    /// Returns the errors of `decode`, [`Kind::Limit`] if memory runs out, and [`Kind::Read`] if
    /// the thread that decodes panics. All waiting threads get them, and the next request decodes
    /// again. Returns [`Kind::Limit`] for a prefetch that would evict prefetched blocks.
    pub(super) fn get_or_decode(
        &self,
        key: Key,
        (len, at): (usize, u64),
        purpose: Purpose,
        decode: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<Arc<Content>> {
        let mut state = self.state();
        if purpose == Purpose::Read {
            if let Some(content) = state.hit(key) {
                return Ok(content);
            }
        } else if let Some(content) = state.blocks.peek(&key) {
            return Ok(Arc::clone(content));
        }
        if let Some(flight) = state.decoding.get(&key) {
            let flight = Arc::clone(flight);
            state.counters.waits += 1;
            drop(state);
            let result = flight.wait();
            if purpose == Purpose::Read {
                self.state().blocks.touch(&key, Class::Normal);
            }
            return result;
        }
        let reserved = charge(len as u64);
        let unread = state.blocks.prefetched_bytes() + state.reserved;
        match purpose {
            Purpose::Read => state.counters.misses += 1,
            Purpose::Prefetch if unread.saturating_add(reserved) > self.budget() => {
                return Err(Error::new(Kind::Limit, at, "prefetched blocks fill the cache"));
            }
            Purpose::Prefetch => state.counters.prefetches += 1,
        }
        let buffer = self.evict(&mut state, reserved);
        state.reserved += reserved;
        state.note_peak();
        let flight = Arc::new(Flight::default());
        state.decoding.insert(key, Arc::clone(&flight));
        drop(state);
        let mut decoding = Decoding { cache: self, key, reserved, flight, purpose, landed: false };
        // A much larger buffer would take memory that other blocks could use.
        let buffer = buffer.filter(|buffer| (len..=len + len / 8 + 4096).contains(&buffer.capacity()));
        let decoded = decode_into(buffer.unwrap_or_default(), len, at, decode);
        decoding.land(decoded)
    }

    /// Whether a block is cached. Counts nothing.
    #[cfg(any(feature = "tokio", feature = "futures-io"))]
    pub(super) fn holds(&self, key: Key) -> bool {
        self.state().blocks.peek(&key).is_some()
    }

    /// Marks a block as read to its end, so that it is evicted before others.
    pub(super) fn finish(&self, key: Key) {
        self.state().blocks.touch(&key, Class::Finished);
    }

    /// Evicts blocks beyond the budget, after a block was released.
    pub(super) fn release(&self) {
        if self.inner.is_over.load(Ordering::Relaxed) {
            self.evict(&mut self.state(), 0);
        }
    }

    /// Evicts blocks that are not pinned until `needed` more bytes fit the budget. Returns the
    /// buffer of the last evicted block.
    fn evict(&self, state: &mut CacheState, needed: u64) -> Option<Vec<u8>> {
        let budget = self.budget();
        let mut free = None;
        while state.bytes().saturating_add(needed) > budget {
            let Some(content) = state.evict_first() else { break };
            free = Arc::into_inner(content).map(|content| content.bytes);
        }
        let is_over = state.bytes().saturating_add(needed) > budget;
        self.inner.is_over.store(is_over, Ordering::Relaxed);
        free
    }

    fn state(&self) -> MutexGuard<'_, CacheState> {
        lock(&self.inner.state)
    }
}

impl CacheState {
    fn bytes(&self) -> u64 {
        self.blocks.bytes() + self.reserved
    }

    fn note_peak(&mut self) {
        self.counters.peak_bytes = self.counters.peak_bytes.max(self.bytes());
    }

    fn hit(&mut self, key: Key) -> Option<Arc<Content>> {
        let content = Arc::clone(self.blocks.touch(&key, Class::Normal)?);
        self.counters.hits += 1;
        Some(content)
    }

    /// Evicts the first block that is not pinned. The cache's own reference is cloned only under
    /// the lock, so not in the meantime.
    fn evict_first(&mut self) -> Option<Arc<Content>> {
        let first = self.blocks.first(|_, content| Arc::strong_count(content) == 1)?;
        self.counters.evictions += 1;
        self.blocks.remove(&first)
    }
}

fn decode_into(
    mut buffer: Vec<u8>,
    len: usize,
    at: u64,
    decode: impl FnOnce(&mut [u8]) -> Result<()>,
) -> Result<Vec<u8>> {
    grow(&mut buffer, len, at)?;
    decode(&mut buffer)?;
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    const BLOCK: usize = 100_000;
    /// Bytes that a block of that size counts in the budget.
    const EACH: u64 = BLOCK as u64 + ENTRY;

    /// Reads a block whose bytes are all its number.
    fn read(cache: &SharedCache, block: usize, purpose: Purpose) -> Arc<Content> {
        let fill = |out: &mut [u8]| {
            out.fill(block as u8);
            Ok(())
        };
        let content = cache.get_or_decode((0, block), (BLOCK, 0), purpose, fill).unwrap();
        assert!(content.bytes().len() == BLOCK && content.bytes().iter().all(|byte| *byte == block as u8));
        content
    }

    fn held(cache: &SharedCache) -> Vec<usize> {
        cache.state().blocks.keys().into_iter().map(|(_, block)| block).collect()
    }

    #[test]
    fn blocks_are_evicted_by_priority_then_age() {
        let cache = SharedCache::new(4 * EACH);
        read(&cache, 1, Purpose::Prefetch);
        (2..=4).for_each(|block| drop(read(&cache, block, Purpose::Read)));
        cache.finish((0, 4));
        assert_eq!(held(&cache), [4, 2, 3, 1]);
        read(&cache, 5, Purpose::Read);
        assert_eq!(held(&cache), [2, 3, 5, 1], "the finished block went, not the oldest");
        read(&cache, 1, Purpose::Read);
        (6..=8).for_each(|block| drop(read(&cache, block, Purpose::Read)));
        assert_eq!(held(&cache), [1, 6, 7, 8], "once read, a prefetched block is like others");
        let counters = cache.counters();
        assert_eq!((counters.hits, counters.misses, counters.prefetches), (1, 7, 1));
        assert_eq!((counters.evictions, counters.blocks, counters.bytes), (4, 4, 4 * EACH));
        assert_eq!((counters.decoded_bytes, counters.peak_bytes), (8 * BLOCK as u64, 4 * EACH));
    }

    #[test]
    fn pinned_blocks_stay_beyond_the_budget_until_they_are_released() {
        let cache = SharedCache::new(2 * EACH);
        let pinned: Vec<_> = (0..3).map(|block| read(&cache, block, Purpose::Read)).collect();
        read(&cache, 3, Purpose::Read);
        cache.release();
        assert_eq!(cache.counters().bytes, 3 * EACH, "the three that are in use");
        assert!(pinned.iter().enumerate().all(|(i, content)| content.bytes()[0] == i as u8));
        drop(pinned);
        cache.release();
        assert_eq!(cache.counters().bytes, 2 * EACH);
        cache.set_budget(EACH);
        assert_eq!(held(&cache).len(), 1);
        cache.clear();
        assert_eq!((cache.counters().blocks, cache.counters().bytes), (0, 0));
    }

    #[test]
    fn many_threads_decode_a_block_once() {
        let cache = SharedCache::new(10 * EACH);
        let (decoded, barrier) = (AtomicUsize::new(0), Barrier::new(8));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    barrier.wait();
                    let content = cache.get_or_decode((0, 1), (BLOCK, 0), Purpose::Read, |out| {
                        decoded.fetch_add(1, Ordering::Relaxed);
                        std::thread::sleep(std::time::Duration::from_millis(20));
                        out.fill(7);
                        Ok(())
                    });
                    assert!(content.unwrap().bytes().iter().all(|byte| *byte == 7));
                });
            }
        });
        assert_eq!(decoded.into_inner(), 1);
        let counters = cache.counters();
        assert_eq!((counters.misses, counters.hits + counters.waits), (1, 7));
    }

    #[test]
    fn failed_and_panicked_decoding_is_not_cached_and_ends_every_wait() {
        let cache = SharedCache::new(10 * EACH);
        let barrier = Barrier::new(3);
        let failed = Error::new(Kind::Corrupt, 17, "a damaged block");
        std::thread::scope(|scope| {
            let ask = || {
                barrier.wait();
                cache.get_or_decode((0, 1), (BLOCK, 0), Purpose::Read, |_| Err(failed)).err()
            };
            let asked: Vec<_> = (0..3).map(|_| scope.spawn(ask)).collect();
            asked.into_iter().for_each(|asked| assert_eq!(asked.join().unwrap(), Some(failed)));
        });
        assert_eq!(cache.counters().bytes, 0);
        let panicked = std::thread::scope(|scope| {
            let panics =
                || cache.get_or_decode((0, 1), (BLOCK, 0), Purpose::Read, |_| panic!("as a source may"));
            scope.spawn(panics).join().is_err()
        });
        assert!(panicked);
        assert_eq!(cache.counters().bytes, 0);
        read(&cache, 1, Purpose::Read);
    }

    #[test]
    fn prefetching_leaves_what_was_prefetched_before() {
        let cache = SharedCache::new(3 * EACH);
        (0..3).for_each(|block| drop(read(&cache, block, Purpose::Prefetch)));
        let fourth = || cache.get_or_decode((0, 3), (BLOCK, 17), Purpose::Prefetch, |_| Ok(())).map(|_| ());
        let error = fourth().unwrap_err();
        assert_eq!((error.kind, error.offset), (Kind::Limit, 17));
        read(&cache, 0, Purpose::Read);
        assert_eq!(fourth(), Ok(()));
        assert_eq!(held(&cache), [1, 2, 3], "the block that was read went");
    }

    #[test]
    fn blocks_of_a_removed_archive_go_and_others_stay() {
        let cache = SharedCache::new(10 * EACH);
        let (a, b) = (cache.add_archive(), cache.add_archive());
        for key in [(a, 1), (b, 1), (a, 2)] {
            cache.get_or_decode(key, (BLOCK, 0), Purpose::Read, |_| Ok(())).unwrap();
        }
        cache.remove_archive(a);
        assert!(!cache.has((a, 1)) && !cache.has((a, 2)) && cache.has((b, 1)));
        assert_eq!(cache.counters().bytes, EACH);
    }
}
