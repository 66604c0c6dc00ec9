//! The dictionary store: dictionaries by ID, with reference counts, shared by threads.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, PoisonError, TryLockError};

use linerate_core::{Error, Kind, Result};
use linerate_zstd::{Dictionary, Digest};
use twox_hash::XxHash3_64;

use crate::id::Id;
use crate::memory::Memory;
use crate::prefetch::prefetch;
use crate::slots::Slots;
use crate::source::Source;
use crate::stats::Stats;
use crate::sys::sync::{AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering, fence};
use crate::sys::{Allocation, Arena, NewContent, Pin};

/// libzstd ignores shorter dictionaries.
const MIN_LEN: usize = 8;

/// Locks that serialize reads from sources; a slot uses the one of its index modulo this.
const LOAD_LOCKS: usize = 16;

const UNKNOWN: Error = Error::new(Kind::BadArgument, 0, "the store has no dictionary with this ID");
const FULL: Error = Error::new(Kind::Limit, 0, "the store has no memory for another dictionary");

const WRONG_HASH: Error = Error::new(Kind::Corrupt, 0, "the dictionary has a different hash than expected");

/// Validates a dictionary and returns its digest.
fn validate(bytes: &[u8]) -> Result<Digest> {
    if bytes.len() < MIN_LEN {
        return Err(Error::new(Kind::BadArgument, 0, "a dictionary has fewer than 8 bytes"));
    }
    if u32::try_from(bytes.len()).is_err() {
        return Err(Error::new(Kind::Limit, 0, "a dictionary has 4 GiB or more"));
    }
    Dictionary::measure(bytes)
}

/// Hash that identifies dictionaries: XXH3, 64 bits, seed 0, over all bytes.
pub fn content_hash(dictionary: &[u8]) -> u64 {
    XxHash3_64::oneshot(dictionary)
}

/// Options of a [`Store`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreOptions {
    /// Memory limit for decoding tables, in bytes. Default: unlimited. When it is reached, CLOCK eviction
    /// keeps those in use, and blocks of other dictionaries build their tables for one decode.
    pub table_budget: usize,
    /// Memory limit for dictionary bytes. Default: unlimited. Beyond it, insertion fails with
    /// [`Kind::Limit`].
    pub raw_limit: usize,
    /// Whether to request huge pages. Default: true.
    pub huge_pages: bool,
}

impl StoreOptions {
    /// Default options.
    pub const fn new() -> Self {
        StoreOptions { table_budget: usize::MAX, raw_limit: usize::MAX, huge_pages: true }
    }

    /// Sets the memory limit for decoding tables, in bytes.
    #[must_use]
    pub const fn table_budget(self, bytes: usize) -> Self {
        StoreOptions { table_budget: bytes, ..self }
    }

    /// Sets the memory limit for dictionary bytes; each dictionary is rounded up to 64.
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
/// A dictionary is inserted once and never changes. Its decoding tables are built when a block first needs
/// them, and may be evicted. Clones share one store; a decoder keeps its store alive.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    slots: Slots,
    memory: Mutex<Memory>,
    /// Set by the last reader of a retired dictionary; cleared by the thread that reaps, under the lock.
    reap_pending: AtomicBool,
    /// Serializes reads of a dictionary from its source, so that it is read once.
    load_locks: [Mutex<()>; LOAD_LOCKS],
    digests: AtomicU64,
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
        let memory = Mutex::new(Memory::new(raw, tables));
        let load_locks = std::array::from_fn(|_| Mutex::new(()));
        let (reap_pending, digests) = (AtomicBool::new(false), AtomicU64::new(0));
        Store { shared: Arc::new(Shared { slots: Slots::new(), memory, reap_pending, load_locks, digests }) }
    }

    /// Copies a dictionary into the store, with a reference count of 1: a trained one if it begins with the
    /// magic number of RFC 8878, section 5, else raw content. If the same bytes were inserted or registered
    /// before, increments the reference count of that dictionary and returns its ID. Undone by
    /// [`release`](Self::release).
    ///
    /// # Errors
    /// [`Kind::Truncated`] or [`Kind::Corrupt`] for a damaged trained dictionary, [`Kind::BadArgument`] for
    /// fewer than 8 bytes, [`Kind::Limit`] if the memory limit is reached.
    pub fn insert(&self, bytes: &[u8]) -> Result<Id> {
        self.add(bytes, content_hash(bytes))
    }

    /// As [`insert`](Self::insert), for a dictionary that must have the [`content_hash`](crate::content_hash)
    /// `hash`, as recorded in the file of its blocks.
    ///
    /// # Errors
    /// As [`insert`](Self::insert), and [`Kind::Corrupt`] if the hash differs.
    pub fn insert_with_hash(&self, bytes: &[u8], hash: u64) -> Result<Id> {
        if content_hash(bytes) != hash {
            return Err(WRONG_HASH);
        }
        self.add(bytes, hash)
    }

    /// Registers dictionaries of a source, as pairs of index and hash, without reading them. Each is read
    /// when it is first used, and its hash checked then. Returns their IDs, in the same order, each with a
    /// reference count of 1.
    ///
    /// # Errors
    /// [`Kind::Limit`] if there is no memory for them. Then none is registered.
    pub fn register(
        &self,
        source: Arc<dyn Source>,
        dictionaries: impl IntoIterator<Item = (u32, u64)>,
    ) -> Result<Vec<Id>> {
        let shared = &self.shared;
        // Before the lock is taken: the iterator may use the store, or panic.
        let dictionaries: Vec<(u32, u64)> = dictionaries.into_iter().collect();
        let mut ids = Vec::with_capacity(dictionaries.len());
        let mut memory = shared.lock();
        let source = memory.sources.add(source).ok_or(FULL)?;
        // Held while the source's dictionaries are added.
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
        // Another thread may have inserted it meanwhile.
        if let Some(id) = memory.retain_equal(slots, bytes, hash) {
            memory.raw.free(allocation);
            return Ok(id);
        }
        memory.fill(slots, NewContent::Bytes(allocation, digest), hash).ok_or(FULL)
    }

    /// Finds a registered dictionary with these bytes and increments its reference count. Reads it for that,
    /// without the lock; this happens only if a source has the same hash.
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
    /// [`Kind::BadArgument`] for an unknown ID, [`Kind::Limit`] beyond 2^32 - 1 references.
    pub fn retain(&self, id: Id) -> Result<()> {
        let mut memory = self.shared.lock();
        self.shared.check(id)?;
        memory.retain(id).ok_or(Error::new(Kind::Limit, 0, "a dictionary has too many references"))
    }

    /// Decrements the reference count of a dictionary. At zero its ID becomes unknown; decoders that have it
    /// pinned finish their block, and the last one frees its memory and, if it was the last of its source,
    /// drops the source. Returns whether the count reached zero.
    ///
    /// # Errors
    /// [`Kind::BadArgument`] for an unknown ID.
    pub fn release(&self, id: Id) -> Result<bool> {
        let mut memory = self.shared.lock();
        self.shared.check(id)?;
        Ok(memory.release(&self.shared.slots, id))
    }

    /// Returns unused memory to the system, including chunks that are otherwise kept for later insertions.
    /// Returns the bytes by which [`mapped_bytes`](Stats::mapped_bytes) decreased.
    pub fn trim(&self) -> usize {
        let mut memory = self.shared.lock();
        memory.reap(&self.shared.slots);
        memory.trim()
    }

    /// Whether the store has a dictionary with this ID.
    pub fn contains(&self, id: Id) -> bool {
        self.shared.check(id).is_ok()
    }

    /// Returns the [`content_hash`](crate::content_hash) of a dictionary. Kept beside blocks, it detects a
    /// wrong dictionary before decoding.
    ///
    /// # Errors
    /// [`Kind::BadArgument`] for an unknown ID.
    pub fn hash(&self, id: Id) -> Result<u64> {
        Ok(self.shared.pin(id)?.ok_or(UNKNOWN)?.hash())
    }

    /// Finds a dictionary by hash. Does not change its reference count: call [`retain`](Self::retain) to keep
    /// it.
    pub fn find(&self, hash: u64) -> Option<Id> {
        let memory = self.shared.lock();
        let slot = memory.find(&self.shared.slots, hash)?;
        Some(Id::new(slot, self.shared.slots.get(slot)?.generation()))
    }

    /// Returns a copy of a dictionary's bytes.
    ///
    /// # Errors
    /// [`Kind::BadArgument`] for an unknown ID. At the first use of a registered dictionary, also the errors
    /// of its source, [`Kind::Corrupt`] if its hash differs, and the errors of [`insert`](Self::insert).
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

impl Shared {
    /// Takes the lock. Poisoning is ignored: no code that runs under the lock leaves an inconsistent state when
    /// it panics.
    fn lock(&self) -> Locked<'_> {
        Locked { shared: self, memory: Some(self.memory.lock().unwrap_or_else(PoisonError::into_inner)) }
    }

    /// Takes the lock if it is free.
    fn try_lock(&self) -> Option<Locked<'_>> {
        let memory = match self.memory.try_lock() {
            Ok(memory) => memory,
            Err(TryLockError::Poisoned(memory)) => memory.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(Locked { shared: self, memory: Some(memory) })
    }

    /// Reclaims the slots of retired dictionaries that have no readers; the last reader calls it. Does not wait
    /// for the lock, which its own thread may hold: then the thread that holds it reaps when it releases it.
    #[cold]
    pub(crate) fn reap(&self) {
        // Read-modify-write operations, so that the thread that clears the flag sees the last pins of all readers
        // that have set it.
        self.reap_pending.swap(true, Ordering::AcqRel);
        self.reap_if_pending();
    }

    /// Reaps if a reader asked for it, unless the lock is taken again: then its holder will.
    ///
    /// The fences order setting the flag before trying the lock, and releasing the lock before reading the flag:
    /// either the reader gets the lock, or its holder sees the flag.
    fn reap_if_pending(&self) {
        loop {
            fence(Ordering::SeqCst);
            if !self.reap_pending.load(Ordering::Relaxed) {
                return;
            }
            fence(Ordering::SeqCst);
            let Some(mut memory) = self.try_lock() else { return };
            self.reap_pending.swap(false, Ordering::AcqRel);
            memory.reap(&self.slots);
            memory.unlock();
        }
    }

    /// Allocates memory for a dictionary's bytes.
    fn allocate(&self, len: usize) -> Result<Allocation> {
        let mut memory = self.lock();
        memory.reap(&self.slots);
        memory.raw.allocate(len).ok_or(FULL)
    }

    fn check(&self, id: Id) -> Result<()> {
        let slot = self.slots.get(id.index()).ok_or(UNKNOWN)?;
        if slot.has(id.generation()) { Ok(()) } else { Err(UNKNOWN) }
    }

    /// Pins a dictionary, without building its tables. `None` for [`Id::NONE`].
    pub(crate) fn pin(&self, id: Id) -> Result<Option<Pin<'_>>> {
        if id == Id::NONE {
            return Ok(None);
        }
        let slot = self.slots.get(id.index()).ok_or(UNKNOWN)?;
        slot.pin(id.generation(), Some(self)).map(Some).ok_or(UNKNOWN)
    }

    /// Pins a dictionary, and builds its tables if memory for them is available without waiting for the lock.
    #[inline]
    pub(crate) fn open(&self, id: Id) -> Result<Option<Pin<'_>>> {
        let pin = self.pin(id)?;
        if let Some(pin) = &pin
            && !pin.has_tables()
        {
            self.prepare(id, pin)?;
        }
        Ok(pin)
    }

    /// Prefetches the slot of a dictionary that will be opened soon.
    #[inline]
    pub(crate) fn prefetch_slot(&self, id: Id) {
        if let Some(slot) = self.slots.get(id.index()) {
            prefetch(slot);
        }
    }

    #[cold]
    fn prepare(&self, id: Id, pin: &Pin<'_>) -> Result<()> {
        self.load(id, pin)?;
        self.digest(id.index(), pin);
        Ok(())
    }

    /// Reads the dictionary from its source, if it was not read yet.
    fn load(&self, id: Id, pin: &Pin<'_>) -> Result<()> {
        if pin.is_loaded() {
            return Ok(());
        }
        let guard = &self.load_locks[id.index() as usize % LOAD_LOCKS];
        let guard = guard.lock().unwrap_or_else(PoisonError::into_inner);
        let check =
            |bytes: &[u8]| if content_hash(bytes) == pin.hash() { validate(bytes) } else { Err(WRONG_HASH) };
        let unused = pin.load(
            |source| self.lock().sources.get(source).cloned().ok_or(UNKNOWN),
            check,
            |len| self.allocate(len),
        )?;
        drop(guard);
        let unused_sources = unused.and_then(|source| self.lock().sources.release(source));
        drop(unused_sources);
        Ok(())
    }

    fn digest(&self, index: u32, pin: &Pin<'_>) {
        let made = pin.make_tables(|len| {
            let mut memory = self.try_lock()?;
            memory.allocate_tables(&self.slots, index, len)
        });
        match made {
            Ok(true) => _ = self.digests.fetch_add(1, Ordering::Relaxed),
            Ok(false) => {}
            Err(allocation) => self.lock().free_tables(index, allocation),
        }
    }
}

/// The lock of a store. When it is released, sources that became unused are dropped, and pending reaps are done.
struct Locked<'a> {
    shared: &'a Shared,
    /// `None` once released.
    memory: Option<MutexGuard<'a, Memory>>,
}

impl Locked<'_> {
    /// Releases the lock, and drops unused sources after that.
    fn unlock(&mut self) {
        if let Some(mut memory) = self.memory.take() {
            let unused_sources = std::mem::take(&mut memory.unused_sources);
            drop(memory);
            drop(unused_sources);
        }
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        if self.memory.is_some() {
            self.unlock();
            self.shared.reap_if_pending();
        }
    }
}

impl Deref for Locked<'_> {
    type Target = Memory;

    fn deref(&self) -> &Memory {
        self.memory.as_ref().expect("locked until it is dropped")
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut Memory {
        self.memory.as_mut().expect("locked until it is dropped")
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
