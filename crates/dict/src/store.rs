//! Dictionaries under numbers, shared by threads.

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

/// libzstd takes shorter ones for none at all.
const SHORTEST: usize = 8;

/// Dictionaries that can be read at a time, if their slots differ enough.
const READING: usize = 16;

const UNKNOWN: Error = Error::new(Kind::BadArgument, 0, "the store has no dictionary of this number");
const FULL: Error = Error::new(Kind::Limit, 0, "the store has no memory for another dictionary");

const OTHER: Error = Error::new(Kind::Corrupt, 0, "a dictionary has another hash than it should");

/// The digest of what may become a dictionary of a store.
fn measure(bytes: &[u8]) -> Result<Digest> {
    if bytes.len() < SHORTEST {
        return Err(Error::new(Kind::BadArgument, 0, "a dictionary has fewer than 8 bytes"));
    }
    if u32::try_from(bytes.len()).is_err() {
        return Err(Error::new(Kind::Limit, 0, "a dictionary has 4 GiB or more"));
    }
    Dictionary::measure(bytes)
}

/// The hash by which dictionaries are told apart: XXH3 of 64 bits, with seed 0, of all bytes.
pub fn content_hash(dictionary: &[u8]) -> u64 {
    XxHash3_64::oneshot(dictionary)
}

/// What a [`Store`] may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreOptions {
    /// Bytes for tables; as many as there are unless told. With less than all dictionaries need, the
    /// most used ones have theirs, and for others they are made with each block.
    pub table_budget: usize,
    /// Bytes for dictionaries; as many as there are unless told. What exceeds it is not inserted.
    pub raw_limit: usize,
    /// Whether huge pages are asked for; they are unless told.
    pub huge_pages: bool,
}

impl StoreOptions {
    /// The defaults.
    pub const fn new() -> Self {
        StoreOptions { table_budget: usize::MAX, raw_limit: usize::MAX, huge_pages: true }
    }

    /// With `bytes` for tables.
    #[must_use]
    pub const fn table_budget(self, bytes: usize) -> Self {
        StoreOptions { table_budget: bytes, ..self }
    }

    /// With `bytes` for dictionaries, each rounded up to 64.
    #[must_use]
    pub const fn raw_limit(self, bytes: usize) -> Self {
        StoreOptions { raw_limit: bytes, ..self }
    }

    /// Asking for huge pages, or not.
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

/// Dictionaries under numbers of its own.
///
/// A dictionary is inserted once and never changes. Its tables are made when a block needs them, and
/// may be given up for others. Clones share one store; decoders keep it.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    slots: Slots,
    memory: Mutex<Memory>,
    /// One of these is held by who reads a dictionary from its source, so that nobody reads it twice.
    reading: [Mutex<()>; READING],
    digests: AtomicU64,
}

impl Store {
    /// An empty store with the default settings.
    pub fn new() -> Self {
        Self::with_options(StoreOptions::new())
    }

    /// An empty store.
    pub fn with_options(settings: StoreOptions) -> Self {
        let raw = Arena::new(settings.raw_limit, settings.huge_pages);
        let tables = Arena::new(settings.table_budget, settings.huge_pages);
        let memory = Mutex::new(Memory::new(raw, tables));
        let reading = [const { Mutex::new(()) }; READING];
        Store {
            shared: Arc::new(Shared { slots: Slots::new(), memory, reading, digests: AtomicU64::new(0) }),
        }
    }

    /// Copies a dictionary into the store: a trained one if it begins with their magic number, else
    /// raw content. It has one user, who may [`release`](Self::release) it. If the same bytes were inserted or
    /// registered before, there is no copy: that dictionary has one user more, and this is its number.
    ///
    /// # Errors
    /// [`Kind::Truncated`] or [`Kind::Corrupt`] for a trained one that is damaged,
    /// [`Kind::BadArgument`] for fewer than 8 bytes, [`Kind::Limit`] if there is no memory for it.
    pub fn insert(&self, bytes: &[u8]) -> Result<Id> {
        self.add(bytes, content_hash(bytes))
    }

    /// As [`insert`](Self::insert), of a dictionary that must have this
    /// [`content_hash`](crate::content_hash), as the file of its blocks says.
    ///
    /// # Errors
    /// [`Kind::Corrupt`] for another dictionary.
    pub fn insert_with_hash(&self, bytes: &[u8], hash: u64) -> Result<Id> {
        if content_hash(bytes) != hash {
            return Err(OTHER);
        }
        self.add(bytes, hash)
    }

    /// Takes dictionaries of a source under their hashes, without reading them: each is when it is
    /// first used, and must have its hash then. Returns their numbers, in the same order. Each has one
    /// user.
    ///
    /// # Errors
    /// [`Kind::Limit`] if there is no memory for them. Then none is taken.
    pub fn register(
        &self,
        source: Arc<dyn Source>,
        dictionaries: impl IntoIterator<Item = (u32, u64)>,
    ) -> Result<Vec<Id>> {
        let shared = &self.shared;
        let mut ids = Vec::new();
        let mut memory = shared.lock();
        let source = memory.sources.add(source).ok_or(FULL)?;
        // A user of its own, so that it does not end in between.
        memory.sources.retain(source);
        let mut dictionaries = dictionaries.into_iter();
        // Iterators may promise anything.
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
        // Another thread may have been faster.
        if let Some(id) = memory.share(slots, bytes, hash) {
            memory.raw.cancel(room);
            return Ok(id);
        }
        memory.fill(slots, Filling::Bytes(room, digest), hash).ok_or(FULL)
    }

    /// A dictionary of these bytes that belongs to a source, with one user more. It is read for that, without
    /// the lock: whoever inserts bytes pays for it only if a source names their hash.
    fn share_registered(&self, bytes: &[u8], hash: u64) -> Option<Id> {
        let id = self.shared.lock().retain_registered(&self.shared.slots, hash)?;
        let same = self.shared.pin(id).ok().flatten().is_some_and(|pin| {
            // What cannot be read or is not what its source says is not shared.
            self.shared.read(id, &pin).is_ok() && pin.bytes() == bytes
        });
        if !same {
            // It has a user since it was found, so this cannot fail.
            let _ = self.release(id);
        }
        same.then_some(id)
    }

    /// One more user of a dictionary.
    ///
    /// # Errors
    /// [`Kind::BadArgument`] for an unknown number, [`Kind::Limit`] for 2^32 users.
    pub fn retain(&self, id: Id) -> Result<()> {
        let mut memory = self.shared.lock();
        self.shared.check(id)?;
        memory.retain(id).ok_or(Error::new(Kind::Limit, 0, "a dictionary has too many users"))
    }

    /// One user of a dictionary less. Without any it is dropped: its number is unknown from now on,
    /// and who decodes with it at this moment ends undisturbed. Its memory serves others, and its source
    /// ends, as soon as nobody reads it. Returns whether it was dropped.
    ///
    /// # Errors
    /// [`Kind::BadArgument`] for an unknown number.
    pub fn release(&self, id: Id) -> Result<bool> {
        let mut memory = self.shared.lock();
        self.shared.check(id)?;
        let dropped = memory.release(&self.shared.slots, id);
        let ended = std::mem::take(&mut memory.ended);
        drop(memory);
        drop(ended);
        Ok(dropped)
    }

    /// Gives memory that nothing in the store uses back to the system, of which some is kept for what comes
    /// next. Returns how many bytes of [`mapped_bytes`](Stats::mapped_bytes) that were.
    pub fn trim(&self) -> usize {
        self.shared.lock().trim()
    }

    /// Whether the number is that of a dictionary.
    pub fn contains(&self, id: Id) -> bool {
        self.shared.check(id).is_ok()
    }

    /// The [`content_hash`](crate::content_hash) of a dictionary. Who keeps it beside blocks can tell
    /// another dictionary before decoding with it.
    ///
    /// # Errors
    /// [`Kind::BadArgument`] for an unknown number.
    pub fn hash(&self, id: Id) -> Result<u64> {
        Ok(self.shared.pin(id)?.ok_or(UNKNOWN)?.hash())
    }

    /// A dictionary that has this hash, if there is one. It gets no user by that:
    /// [`retain`](Self::retain) it to keep it.
    pub fn find(&self, hash: u64) -> Option<Id> {
        let memory = self.shared.lock();
        let slot = memory.find(&self.shared.slots, hash)?;
        Some(Id::new(slot, self.shared.slots.get(slot)?.generation()))
    }

    /// A copy of a dictionary.
    ///
    /// # Errors
    /// [`Kind::BadArgument`] for an unknown number. For a dictionary that is first used, those of
    /// its source, [`Kind::Corrupt`] if it is not the one that was registered, and those of
    /// [`insert`](Self::insert).
    pub fn bytes(&self, id: Id) -> Result<Vec<u8>> {
        let pin = self.shared.pin(id)?.ok_or(UNKNOWN)?;
        self.shared.read(id, &pin)?;
        Ok(pin.bytes().to_vec())
    }

    /// What it holds.
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

    /// Pins a dictionary, without making its tables. None for [`Id::NONE`].
    pub(crate) fn pin(&self, id: Id) -> Result<Option<Pin<'_>>> {
        if id == Id::NONE {
            return Ok(None);
        }
        let slot = self.slots.get(id.index()).ok_or(UNKNOWN)?;
        slot.pin(id.generation(), Some(self)).map(Some).ok_or(UNKNOWN)
    }

    /// Pins a dictionary and makes its tables, if there is room for them that nobody has to wait for.
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

    /// Asks for the slot of a dictionary that will be opened soon.
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

    /// Reads the dictionary from its source, if that was not done yet.
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
