//! The dictionary store: dictionaries by ID, with reference counts, shared by threads.
//!
//! | module | content |
//! |---|---|
//! | [`shared`] | what clones share: pins without a lock, reading from sources, building tables, reaping |
//! | [`memory`] | the state behind the lock: arenas, vacant slots, reference counts, table eviction |
//! | [`clock`] | CLOCK eviction order of the slots that have tables |
//! | [`slots`], [`hash_index`] | array of slots that grows without moving them; index from content hash to slot |
//! | `model` | loom model of the slots and of reclamation (`cfg(loom)`, tests only) |

pub(crate) mod clock;
pub(crate) mod hash_index;
pub(crate) mod memory;
#[cfg(all(loom, test))]
mod model;
pub(crate) mod shared;
pub(crate) mod slots;

use std::sync::Arc;

use linerate_core::{Error, Kind, Result};

use crate::id::Id;
use crate::source::Source;
use crate::stats::Stats;
use crate::store::shared::{FULL, Shared, UNKNOWN, WRONG_HASH, content_hash, validate};
use crate::sys::sync::Ordering;
use crate::sys::{Arena, NewContent};

/// Options of a [`Store`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreOptions {
    /// Memory limit for decoding tables, in bytes. Default: unlimited. At the limit, tables that
    /// were not used lately are evicted (CLOCK). If none can be, tables are built for one block at
    /// a time.
    pub table_budget: usize,
    /// Memory limit for dictionary bytes, without those borrowed from a source. Default: unlimited.
    /// Beyond it, insertion fails with [`Kind::Limit`].
    pub raw_limit: usize,
    /// Whether to request huge pages. Default: true.
    pub huge_pages: bool,
}

impl StoreOptions {
    /// Returns the default options.
    pub const fn new() -> Self {
        StoreOptions { table_budget: usize::MAX, raw_limit: usize::MAX, huge_pages: true }
    }

    /// Sets the memory limit for decoding tables, in bytes.
    #[must_use]
    pub const fn table_budget(self, bytes: usize) -> Self {
        StoreOptions { table_budget: bytes, ..self }
    }

    /// Sets the memory limit for dictionary bytes. The size of each dictionary is rounded up to 64.
    #[must_use]
    pub const fn raw_limit(self, bytes: usize) -> Self {
        StoreOptions { raw_limit: bytes, ..self }
    }

    /// Sets whether to request huge pages.
    #[must_use]
    pub const fn huge_pages(self, huge_pages: bool) -> Self {
        StoreOptions { huge_pages, ..self }
    }
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Dictionaries by ID.
///
/// A dictionary is inserted once and never changes. Its decoding tables are built when a block
/// first uses it, and may be evicted. Clones share one store; a decoder keeps its store alive.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

impl Store {
    /// Creates an empty store with the default options.
    pub fn new() -> Self {
        Self::with_options(StoreOptions::new())
    }

    /// Creates an empty store.
    pub fn with_options(options: StoreOptions) -> Self {
        let raw = Arena::new(options.raw_limit, options.huge_pages);
        let tables = Arena::new(options.table_budget, options.huge_pages);
        Store { shared: Arc::new(Shared::new(raw, tables)) }
    }

    /// Copies a dictionary into the store, with a reference count of 1. It is a trained dictionary
    /// if it begins with the magic number of RFC 8878, section 5, and raw content otherwise. If the
    /// same bytes were inserted or registered before, increments the reference count of that
    /// dictionary and returns its ID. [`release`](Self::release) undoes this.
    ///
    /// # Errors
    /// Returns [`Kind::Truncated`] or [`Kind::Corrupt`] for a damaged trained dictionary,
    /// [`Kind::BadArgument`] for fewer than 8 bytes, and [`Kind::Limit`] for 4 GiB or more, or if
    /// the memory limit is reached.
    pub fn insert(&self, bytes: &[u8]) -> Result<Id> {
        self.add(bytes, content_hash(bytes))
    }

    /// Inserts a dictionary like [`insert`](Self::insert). The dictionary must have the
    /// [`content_hash`](crate::content_hash) `hash`, as recorded in the file of its blocks.
    ///
    /// # Errors
    /// Returns the errors of [`insert`](Self::insert), and [`Kind::Corrupt`] if the hash differs.
    pub fn insert_with_hash(&self, bytes: &[u8], hash: u64) -> Result<Id> {
        if content_hash(bytes) != hash {
            return Err(WRONG_HASH);
        }
        self.add(bytes, hash)
    }

    /// Registers dictionaries of a source, as pairs of index and hash, without reading them. Each
    /// is read when it is first used, and its hash is checked then. Returns their IDs, in the same
    /// order, each new and with a reference count of 1, even if the store has a dictionary of the
    /// same hash.
    ///
    /// # Errors
    /// Returns [`Kind::Limit`] if the store has no slots left for them. Then none is registered.
    pub fn register(
        &self,
        source: Arc<dyn Source>,
        dictionaries: impl IntoIterator<Item = (u32, u64)>,
    ) -> Result<Vec<Id>> {
        let shared = &self.shared;
        // The iterator is consumed before the lock is taken, because it may use the store, or
        // panic.
        let dictionaries: Vec<(u32, u64)> = dictionaries.into_iter().collect();
        let mut ids = Vec::with_capacity(dictionaries.len());
        let mut memory = shared.lock();
        let source = memory.sources.add(source).ok_or(FULL)?;
        // This reference is held while the source's dictionaries are added.
        memory.sources.retain(source);
        memory.reserve(&shared.slots, dictionaries.len());
        let all_taken = dictionaries.into_iter().all(|(index, hash)| {
            let id = memory.fill(&shared.slots, NewContent::Source { source, index }, hash);
            ids.extend(id);
            id.is_some()
        });
        if !all_taken {
            for id in ids.drain(..) {
                memory.release(&shared.slots, id);
            }
        }
        let unused = memory.sources.release(source);
        drop(memory);
        drop(unused);
        if all_taken { Ok(ids) } else { Err(FULL) }
    }

    fn add(&self, bytes: &[u8], hash: u64) -> Result<Id> {
        let slots = &self.shared.slots;
        if let Some(id) = self.shared.lock().retain_equal(slots, bytes, hash) {
            return Ok(id);
        }
        if let Some(id) = self.retain_registered(bytes, hash) {
            return Ok(id);
        }
        let digest = validate(bytes)?;
        let mut allocation = self.shared.allocate(bytes.len())?;
        allocation.bytes_mut().copy_from_slice(bytes);
        let mut memory = self.shared.lock();
        // Another thread may have inserted the dictionary meanwhile.
        if let Some(id) = memory.retain_equal(slots, bytes, hash) {
            memory.raw.free(allocation);
            return Ok(id);
        }
        memory.fill(slots, NewContent::Bytes(allocation, digest), hash).ok_or(FULL)
    }

    /// Finds a registered dictionary with these bytes, and increments its reference count. Reads
    /// the dictionary from its source if necessary, without holding the lock.
    fn retain_registered(&self, bytes: &[u8], hash: u64) -> Option<Id> {
        let id = self.shared.lock().retain_registered(&self.shared.slots, hash)?;
        let same = self.shared.pin(id).ok().flatten().is_some_and(|pin| {
            // A dictionary that cannot be read, or differs from its hash, is not shared.
            self.shared.load(id, &pin).is_ok() && pin.bytes() == bytes
        });
        if !same {
            // The reference just taken keeps the ID valid, so this cannot fail.
            let _ = self.release(id);
        }
        same.then_some(id)
    }

    /// Increments the reference count of a dictionary.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] for an unknown ID, and [`Kind::Limit`] beyond 2^32 - 1
    /// references.
    pub fn retain(&self, id: Id) -> Result<()> {
        let mut memory = self.shared.lock();
        self.shared.check(id)?;
        memory.retain(id).ok_or(Error::new(Kind::Limit, 0, "a dictionary has too many references"))
    }

    /// Decrements the reference count of a dictionary. At zero its ID becomes unknown. Its memory
    /// is freed, and its source dropped if the store has no other dictionary of it, at once or when
    /// the decoders that have the dictionary pinned have finished their blocks. Returns whether the
    /// count reached zero.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] for an unknown ID.
    pub fn release(&self, id: Id) -> Result<bool> {
        let mut memory = self.shared.lock();
        self.shared.check(id)?;
        Ok(memory.release(&self.shared.slots, id))
    }

    /// Returns unused memory to the system, including chunks that are otherwise kept for later
    /// insertions. Returns the number of bytes by which [`mapped_bytes`](Stats::mapped_bytes)
    /// decreased.
    pub fn trim(&self) -> usize {
        let mut memory = self.shared.lock();
        memory.reap(&self.shared.slots);
        memory.trim()
    }

    /// Returns whether the store has a dictionary with this ID.
    pub fn contains(&self, id: Id) -> bool {
        self.shared.check(id).is_ok()
    }

    /// Returns the [`content_hash`](crate::content_hash) of a dictionary. Stored beside blocks, it
    /// detects a wrong dictionary before decoding.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] for an unknown ID.
    pub fn hash(&self, id: Id) -> Result<u64> {
        Ok(self.shared.pin(id)?.ok_or(UNKNOWN)?.hash())
    }

    /// Finds a dictionary with this [`content_hash`](crate::content_hash). Does not change its
    /// reference count; call [`retain`](Self::retain) to keep it.
    pub fn find(&self, hash: u64) -> Option<Id> {
        let memory = self.shared.lock();
        let slot = memory.find(&self.shared.slots, hash)?;
        Some(Id::new(slot, self.shared.slots.get(slot)?.generation()))
    }

    /// Returns a copy of a dictionary's bytes.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] for an unknown ID. At the first use of a registered
    /// dictionary, also returns the errors of its source, [`Kind::Corrupt`] if its hash differs,
    /// and the errors of [`insert`](Self::insert).
    pub fn bytes(&self, id: Id) -> Result<Vec<u8>> {
        let pin = self.shared.pin(id)?.ok_or(UNKNOWN)?;
        self.shared.load(id, &pin)?;
        Ok(pin.bytes().to_vec())
    }

    /// Returns the current sizes and counts.
    pub fn stats(&self) -> Stats {
        let memory = self.shared.lock();
        Stats {
            dictionaries: memory.dictionaries,
            raw_bytes: memory.raw.used(),
            digested: memory.clock.len(),
            table_bytes: memory.tables.used(),
            slot_bytes: self.shared.slots.memory() + memory.list_bytes(),
            mapped_bytes: memory.raw.mapped() + memory.tables.mapped(),
            huge_pages: memory.raw.huge_pages().or(memory.tables.huge_pages()),
            digests: self.shared.digests.load(Ordering::Relaxed),
            evictions: memory.evictions,
        }
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }
}

impl Default for Store {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Store").field(&self.stats()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    struct Zeros;

    impl Source for Zeros {
        fn read(&self, _: u32) -> Result<Cow<'_, [u8]>> {
            Ok(Cow::Borrowed(&[0; 64]))
        }
    }

    /// Drops the last pin of a retired dictionary while the lock is held.
    fn release_while_locked(store: &Store, id: Id) {
        let pin = store.shared().pin(id).unwrap().unwrap();
        store.shared().load(id, &pin).unwrap();
        assert!(store.release(id).unwrap());
        let lock = store.shared().lock();
        drop(pin);
        drop(lock);
    }

    #[test]
    fn last_reader_that_finds_the_lock_taken_still_frees_memory_and_source() {
        let store = Store::with_options(StoreOptions::new().raw_limit(4096).huge_pages(false));
        for byte in 1..4 {
            let id = store.insert(&[byte; 4096]).unwrap();
            release_while_locked(&store, id);
            assert_eq!(store.stats().raw_bytes, 0);
        }
        let source = Arc::new(Zeros);
        let ids = store.register(source.clone(), [(0, content_hash(&[0; 64]))]).unwrap();
        assert_eq!(Arc::strong_count(&source), 2);
        release_while_locked(&store, ids[0]);
        assert_eq!(Arc::strong_count(&source), 1);
    }

    #[test]
    fn a_poisoned_lock_does_not_keep_memory_of_retired_dictionaries() {
        let store = Store::new();
        let id = store.insert(b"a dictionary").unwrap();
        let poisoned = catch_unwind(AssertUnwindSafe(|| {
            let _lock = store.shared().lock();
            panic!("poisons the lock");
        }));
        assert!(poisoned.is_err());
        let pin = store.shared().pin(id).unwrap().unwrap();
        assert!(store.release(id).unwrap());
        drop(pin);
        assert_eq!(store.stats().raw_bytes, 0);
    }

    #[test]
    fn iterator_of_register_may_use_the_store_and_panic() {
        let store = Store::new();
        let source = Arc::new(Zeros);
        let hashes = (0..9).map(|i| {
            assert!(store.find(i.into()).is_none());
            if i == 5 { panic!("in the iterator") } else { (i, i.into()) }
        });
        assert!(catch_unwind(AssertUnwindSafe(|| store.register(source.clone(), hashes))).is_err());
        assert_eq!((store.stats().dictionaries, Arc::strong_count(&source)), (0, 1));
    }
}
