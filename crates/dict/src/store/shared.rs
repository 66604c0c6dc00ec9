//! State that the clones of a store share: slots that are read without a lock, and the lock of
//! everything else.

use std::ops::{Deref, DerefMut};
use std::sync::{PoisonError, TryLockError};

use linerate_core::{Error, Kind, Result};
use linerate_zstd::{Dictionary, Digest};

use crate::files::fields::hash;
use crate::id::Id;
use crate::prefetch::prefetch;
use crate::store::memory::Memory;
use crate::store::slots::Slots;
use crate::sys::sync::{AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering, fence};
use crate::sys::{Allocation, Arena, Pin, Reap};

/// Length of the shortest dictionary that libzstd does not ignore, in bytes.
const MIN_LEN: usize = 8;

/// Number of locks that serialize reads from sources. A slot uses the one with its index modulo
/// this number.
const LOAD_LOCKS: usize = 16;

pub(crate) const UNKNOWN: Error =
    Error::new(Kind::BadArgument, 0, "the store has no dictionary with this ID");
pub(crate) const FULL: Error = Error::new(Kind::Limit, 0, "the store has no memory for another dictionary");

pub(crate) const WRONG_HASH: Error =
    Error::new(Kind::Corrupt, 0, "the dictionary has a different hash than expected");

/// Validates a dictionary and returns its digest.
pub(crate) fn validate(bytes: &[u8]) -> Result<Digest> {
    if bytes.len() < MIN_LEN {
        return Err(Error::new(Kind::BadArgument, 0, "a dictionary has fewer than 8 bytes"));
    }
    if u32::try_from(bytes.len()).is_err() {
        return Err(Error::new(Kind::Limit, 0, "a dictionary has 4 GiB or more"));
    }
    Dictionary::measure(bytes)
}

/// Computes the hash that identifies dictionaries: XXH3, 64 bits, seed 0, over all bytes.
pub fn content_hash(dictionary: &[u8]) -> u64 {
    hash(dictionary)
}

pub(crate) struct Shared {
    pub(crate) slots: Slots,
    memory: Mutex<Memory>,
    /// Set by the last reader of a retired dictionary, and cleared under the lock by the thread
    /// that reaps.
    reap_pending: AtomicBool,
    /// Serializes reads of a dictionary from its source, so that it is read once.
    load_locks: [Mutex<()>; LOAD_LOCKS],
    /// Number of times that tables were built and kept.
    pub(crate) digests: AtomicU64,
}

impl Shared {
    /// Creates an empty store. `raw` is memory for the bytes of dictionaries, `tables` for their
    /// tables.
    pub(crate) fn new(raw: Arena, tables: Arena) -> Self {
        Shared {
            slots: Slots::new(),
            memory: Mutex::new(Memory::new(raw, tables)),
            reap_pending: AtomicBool::new(false),
            load_locks: std::array::from_fn(|_| Mutex::new(())),
            digests: AtomicU64::new(0),
        }
    }

    /// Takes the lock. Poisoning is ignored, because no code that runs under the lock leaves an
    /// inconsistent state when it panics.
    pub(crate) fn lock(&self) -> Locked<'_> {
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

    /// Reaps if a reader asked for it. If the lock is taken again meanwhile, its holder reaps
    /// instead.
    ///
    /// The fences order setting the flag before trying the lock, and releasing the lock before
    /// reading the flag: either the reader gets the lock, or its holder sees the flag.
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
    pub(crate) fn allocate(&self, len: usize) -> Result<Allocation> {
        let mut memory = self.lock();
        memory.reap(&self.slots);
        memory.raw.allocate(len).ok_or(FULL)
    }

    pub(crate) fn check(&self, id: Id) -> Result<()> {
        let slot = self.slots.get(id.index()).ok_or(UNKNOWN)?;
        if slot.has(id.generation()) { Ok(()) } else { Err(UNKNOWN) }
    }

    /// Pins a dictionary, without building its tables. Returns `None` for [`Id::NONE`].
    pub(crate) fn pin(&self, id: Id) -> Result<Option<Pin<'_>>> {
        if id == Id::NONE {
            return Ok(None);
        }
        let slot = self.slots.get(id.index()).ok_or(UNKNOWN)?;
        slot.pin(id.generation(), Some(self)).map(Some).ok_or(UNKNOWN)
    }

    /// Pins a dictionary. Reads it from its source if that was not done yet, and builds its tables
    /// if memory for them is available without waiting for the lock.
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

    /// Reads the dictionary from its source, unless it was read already.
    pub(crate) fn load(&self, id: Id, pin: &Pin<'_>) -> Result<()> {
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

impl Reap for Shared {
    /// Reclaims the slots of retired dictionaries that have no readers. The last reader calls this.
    /// It does not wait for the lock, which its own thread may hold; if the lock is held, its
    /// holder reaps when it releases it.
    #[cold]
    fn reap(&self) {
        // These are read-modify-write operations, so that the thread that clears the flag sees the
        // last pins of all readers that have set it.
        self.reap_pending.swap(true, Ordering::AcqRel);
        self.reap_if_pending();
    }
}

/// The held lock of a store. When it is released, sources that became unused are dropped, and
/// pending reaps are done.
pub(crate) struct Locked<'a> {
    shared: &'a Shared,
    /// `None` after the release.
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
