//! The dictionary store: dictionaries by ID, with reference counts, shared by threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use linerate_core::{Error, Kind, Result};
use linerate_zstd::{Dictionary, Digest};
use twox_hash::XxHash3_64;

use crate::id::Id;
use crate::kernel::{Arena, Filling, Pin, fetch};
use crate::memory::Memory;
use crate::slots::Slots;
use crate::source::Source;
use crate::stats::Stats;

/// libzstd ignores shorter dictionaries.
const SHORTEST: usize = 8;

/// Locks that serialize reads from sources; a slot uses the one of its index modulo this.
const READING: usize = 16;

const UNKNOWN: Error = Error::new(Kind::BadArgument, 0, "the store has no dictionary with this ID");
const FULL: Error = Error::new(Kind::Limit, 0, "the store has no memory for another dictionary");

const OTHER: Error = Error::new(Kind::Corrupt, 0, "the dictionary has a different hash than expected");

/// Validates a dictionary and returns its digest.
fn measure(bytes: &[u8]) -> Result<Digest> {
    if bytes.len() < SHORTEST {
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
    /// Serializes reads of a dictionary from its source, so that it is read once.
    reading: [Mutex<()>; READING],
    digests: AtomicU64,
}

impl Store {
    /// Creates an empty store with the default options.
    pub fn new() -> Self {
        Self::with_options(StoreOptions::new())
    }

    /// Creates an empty store.
    pub fn with_options(settings: StoreOptions) -> Self {
        let raw = Arena::new(settings.raw_limit, settings.huge_pages);
        let tables = Arena::new(settings.table_budget, settings.huge_pages);
        let memory = Mutex::new(Memory::new(raw, tables));
        let reading = [const { Mutex::new(()) }; READING];
        Store {
            shared: Arc::new(Shared { slots: Slots::new(), memory, reading, digests: AtomicU64::new(0) }),
        }
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
            return Err(OTHER);
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
        let mut ids = Vec::new();
        let mut memory = shared.lock();
        let source = memory.sources.add(source).ok_or(FULL)?;
        // Held while the source's dictionaries are added.
        memory.sources.retain(source);
        let mut dictionaries = dictionaries.into_iter();
        // A size hint is not trusted.
        memory.reserve(&shared.slots, dictionaries.size_hint().0.min(1 << 20));
        let all_taken = dictionaries.all(|(index, hash)| {
            let id = memory.fill(&shared.slots, Filling::Source { source, index }, hash);
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
        if let Some(id) = self.shared.lock().share(slots, bytes, hash) {
            return Ok(id);
        }
        if let Some(id) = self.share_registered(bytes, hash) {
            return Ok(id);
        }
        let digest = measure(bytes)?;
        let mut memory = self.shared.lock();
        let mut room = memory.raw.take(bytes.len()).ok_or(FULL)?;
        drop(memory);
        room.bytes_mut().copy_from_slice(bytes);
        let mut memory = self.shared.lock();
        memory.reap(slots);
        // Another thread may have inserted it meanwhile.
        if let Some(id) = memory.share(slots, bytes, hash) {
            memory.raw.cancel(room);
            return Ok(id);
        }
        memory.fill(slots, Filling::Bytes(room, digest), hash).ok_or(FULL)
    }

    /// Finds a registered dictionary with these bytes and increments its reference count. Reads it for that,
    /// without the lock; this happens only if a source has the same hash.
    fn share_registered(&self, bytes: &[u8], hash: u64) -> Option<Id> {
        let id = self.shared.lock().retain_registered(&self.shared.slots, hash)?;
        let same = self.shared.pin(id).ok().flatten().is_some_and(|pin| {
            // A dictionary that cannot be read, or differs from its hash, is not shared.
            self.shared.read(id, &pin).is_ok() && pin.bytes() == bytes
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
        let dropped = memory.release(&self.shared.slots, id);
        let ended = std::mem::take(&mut memory.ended);
        drop(memory);
        drop(ended);
        Ok(dropped)
    }

    /// Returns unused memory to the system, including chunks that are otherwise kept for later insertions.
    /// Returns the bytes by which [`mapped_bytes`](Stats::mapped_bytes) decreased.
    pub fn trim(&self) -> usize {
        self.shared.lock().trim()
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
        self.shared.read(id, &pin)?;
        Ok(pin.bytes().to_vec())
    }

    /// Returns the current sizes and counts.
    pub fn stats(&self) -> Stats {
        let memory = self.shared.lock();
        Stats {
            dictionaries: memory.dictionaries,
            raw_bytes: memory.raw.used(),
            digested: memory.ring.len(),
            table_bytes: memory.tables.used(),
            slot_bytes: self.shared.slots.memory() + memory.lists(),
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
    /// Nothing that is done under the lock leaves a half-made state when it panics.
    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Empties the slots of dropped dictionaries that nobody reads any more: the last reader does. It does
    /// not wait for the lock, which its own thread may hold; then whoever inserts or releases next does it.
    #[cold]
    pub(crate) fn reap(&self) {
        let Ok(mut memory) = self.memory.try_lock() else { return };
        memory.reap(&self.slots);
        let ended = std::mem::take(&mut memory.ended);
        drop(memory);
        drop(ended);
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
    pub(crate) fn announce(&self, id: Id) {
        if let Some(slot) = self.slots.get(id.index()) {
            fetch(slot);
        }
    }

    #[cold]
    fn prepare(&self, id: Id, pin: &Pin<'_>) -> Result<()> {
        self.read(id, pin)?;
        self.digest(id.index(), pin);
        Ok(())
    }

    /// Reads the dictionary from its source, if it was not read yet.
    fn read(&self, id: Id, pin: &Pin<'_>) -> Result<()> {
        if pin.is_read() {
            return Ok(());
        }
        let turn = &self.reading[id.index() as usize % READING];
        let turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
        let check =
            |bytes: &[u8]| if content_hash(bytes) == pin.hash() { measure(bytes) } else { Err(OTHER) };
        let unused = pin.read(
            |source| self.lock().sources.get(source).cloned().ok_or(UNKNOWN),
            check,
            |len| self.lock().raw.take(len).ok_or(FULL),
        )?;
        drop(turn);
        let ended = unused.and_then(|source| self.lock().sources.release(source));
        drop(ended);
        Ok(())
    }

    fn digest(&self, index: u32, pin: &Pin<'_>) {
        let made = pin.make_tables(|len| {
            let mut memory = match self.memory.try_lock() {
                Ok(memory) => memory,
                Err(TryLockError::Poisoned(memory)) => memory.into_inner(),
                Err(TryLockError::WouldBlock) => return None,
            };
            memory.table_room(&self.slots, index, len)
        });
        match made {
            Ok(true) => _ = self.digests.fetch_add(1, Ordering::Relaxed),
            Ok(false) => {}
            Err(room) => self.lock().cancel_tables(index, room),
        }
    }
}
