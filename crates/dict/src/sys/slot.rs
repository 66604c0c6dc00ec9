//! A slot holds one dictionary in one cache line. Readers pin it without a lock.
//!
//! The state word has the number of readers (pins), flags for the parts that are present, and the
//! generation, which counts how often the slot was filled. A reader increments the pins first, and
//! then checks the flags and the generation in the value before its increment. To remove a part, a
//! thread does a compare-and-exchange that requires zero pins. Therefore either the reader is
//! counted, or it sees that the part is gone.

use core::ptr::{NonNull, null_mut};
use core::slice::from_raw_parts;
use std::borrow::Cow;
use std::sync::Arc;

use linerate_core::Result;
use linerate_zstd::{Dictionary, Digest, ExpandedHuffman};

use super::arena::{Allocation, RawAllocation};
use super::sync::{AtomicPtr, AtomicU32, AtomicU64, Guarded, Ordering};
use crate::source::Source;

/// Mask of the number of readers, which is in the low bits.
const PINS: u64 = (1 << 24) - 1;
/// Largest number of readers. More are refused, long before the count would overflow into the
/// flags.
const MAX_PINS: u64 = 1 << 23;
/// The slot has a dictionary.
const LIVE: u64 = 1 << 24;
/// The slot's dictionary was retired, and readers may still have it pinned.
const DROPPED: u64 = 1 << 25;
/// The tables are present, or the dictionary needs none.
const TABLES: u64 = 1 << 26;
/// A thread is adding or removing parts of the slot's content.
const BUSY: u64 = 1 << 27;
/// CLOCK reference bit: the tables were used since the hand passed.
const USED: u64 = 1 << 28;
/// The dictionary's bytes are present.
const LOADED: u64 = 1 << 29;
const FLAGS: u64 = LIVE | DROPPED | TABLES | BUSY | USED | LOADED;
/// Lowest bit of the generation, which is the high half of the state word.
const GENERATION: u32 = 32;

/// `owner` of bytes that are in the store's memory.
const STORE: u32 = u32::MAX;

/// Fields are written by the thread that set `BUSY`, before it sets the flag that lets others read
/// them.
#[repr(C, align(64))]
pub(crate) struct Slot {
    state: AtomicU64,
    /// Content hash of the dictionary.
    hash: AtomicU64,
    /// The bytes, if `LOADED`.
    at: AtomicPtr<u8>,
    /// The tables, if `TABLES`; null if there are none.
    tables: AtomicPtr<u8>,
    /// Length of the bytes, if `LOADED`; else the index in the source.
    len: AtomicU32,
    /// Number of the source, or [`STORE`].
    owner: AtomicU32,
    /// Valid if `LOADED`.
    digest: Guarded<Digest>,
}

#[cfg(not(all(loom, test)))]
const _: () = assert!(size_of::<Slot>() == 64);

// SAFETY: `state` orders all accesses to the other fields, as they document. Any thread may read
// the memory that they point to.
unsafe impl Sync for Slot {}
// SAFETY: nothing in it is bound to a thread.
unsafe impl Send for Slot {}

/// Replaces the state by `change(state)`, unless that is `None`. Returns the previous state.
#[allow(deprecated, reason = "`try_update`, the new name, is younger than Rust 1.89")]
fn update(state: &AtomicU64, change: impl FnMut(u64) -> Option<u64>) -> core::result::Result<u64, u64> {
    state.fetch_update(Ordering::AcqRel, Ordering::Acquire, change)
}

/// New content of a slot.
pub(crate) enum NewContent {
    /// The bytes of a dictionary, and its digest.
    Bytes(Allocation, Digest),
    /// A source that the bytes will be read from.
    Source { source: u32, index: u32 },
}

/// The contents of a reclaimed slot, for the store to free.
#[derive(Default)]
pub(crate) struct Reclaimed {
    /// Memory of the bytes, if the store owns them.
    pub(crate) raw: Option<RawAllocation>,
    /// The source, if the bytes belong to it.
    pub(crate) source: Option<u32>,
    pub(crate) tables: Option<RawAllocation>,
}

/// Result of an eviction attempt.
pub(crate) enum Eviction {
    /// The tables were removed; this is their memory.
    Freed(Option<RawAllocation>),
    /// The tables were used recently: the reference bit is cleared.
    Spared,
    /// There are no tables, or they are in use.
    Blocked,
}

/// Reclaims retired slots.
pub(crate) trait Reap: Sync {
    /// Reaps. The last reader of a retired slot calls this.
    fn reap(&self);
}

impl Slot {
    pub(crate) fn vacant() -> Self {
        Slot {
            state: AtomicU64::new(0),
            hash: AtomicU64::new(0),
            at: AtomicPtr::new(null_mut()),
            tables: AtomicPtr::new(null_mut()),
            len: AtomicU32::new(0),
            owner: AtomicU32::new(STORE),
            digest: Guarded::new(Digest::default()),
        }
    }

    /// Puts a dictionary with this hash into a vacant slot. Returns the new generation, or
    /// `content` if the slot is not vacant or its generations are used up.
    pub(crate) fn fill(&self, content: NewContent, hash: u64) -> core::result::Result<u32, NewContent> {
        let vacant = |s: u64| (s & FLAGS == 0 && s >> GENERATION < u32::MAX.into()).then_some(s | BUSY);
        let Ok(before) = update(&self.state, vacant) else {
            return Err(content);
        };
        self.hash.store(hash, Ordering::Relaxed);
        let flags = match content {
            NewContent::Bytes(allocation, digest) => {
                let raw = allocation.into_raw();
                // SAFETY: `BUSY` was set by this call, and without `LIVE` no other thread reads the
                // fields.
                unsafe { self.set_bytes(raw.at, raw.len, STORE, digest) }
            }
            NewContent::Source { source, index } => {
                self.len.store(index, Ordering::Relaxed);
                self.owner.store(source, Ordering::Relaxed);
                0
            }
        };
        let whole = |s: u64| Some(((s & !BUSY) | LIVE | flags) + (1 << GENERATION));
        let _ = update(&self.state, whole);
        Ok((before >> GENERATION) as u32 + 1)
    }

    /// Sets the bytes. Returns the flags to be set.
    ///
    /// # Safety
    /// The caller has set `BUSY`, and `LOADED` is not set. The bytes stay valid until this slot is
    /// reclaimed.
    unsafe fn set_bytes(&self, at: NonNull<u8>, len: u32, owner: u32, digest: Digest) -> u64 {
        self.at.store(at.as_ptr(), Ordering::Relaxed);
        self.tables.store(null_mut(), Ordering::Relaxed);
        self.len.store(len, Ordering::Relaxed);
        self.owner.store(owner, Ordering::Relaxed);
        // SAFETY: the caller guarantees that no other thread reads or writes the digest yet.
        unsafe { self.digest.set(digest) };
        if digest.is_trained() { LOADED } else { LOADED | TABLES }
    }

    /// Pins the slot, if its dictionary is that of `generation`. `reaper` is called when the last
    /// pin of a retired slot is dropped.
    #[inline]
    pub(crate) fn pin<'a>(&'a self, generation: u32, reaper: Option<&'a dyn Reap>) -> Option<Pin<'a>> {
        let state = self.state.fetch_add(1, Ordering::AcqRel);
        let pin = Pin { slot: self, reaper };
        if state >> GENERATION != u64::from(generation) || state & LIVE == 0 || state & PINS >= MAX_PINS {
            return None;
        }
        if state & (TABLES | USED) == TABLES {
            self.state.fetch_or(USED, Ordering::AcqRel);
        }
        Some(pin)
    }

    /// Returns whether the slot has the dictionary of this generation.
    pub(crate) fn has(&self, generation: u32) -> bool {
        let state = self.state.load(Ordering::Acquire);
        state >> GENERATION == u64::from(generation) && state & LIVE != 0
    }

    /// Returns the current generation.
    pub(crate) fn generation(&self) -> u32 {
        (self.state.load(Ordering::Acquire) >> GENERATION) as u32
    }

    /// Returns the hash of the slot's current or last dictionary.
    pub(crate) fn hash(&self) -> u64 {
        self.hash.load(Ordering::Relaxed)
    }

    /// Refuses new readers from now on. Returns false if the slot no longer has this generation.
    pub(crate) fn retire(&self, generation: u32) -> bool {
        let live = |s: u64| {
            (s >> GENERATION == u64::from(generation) && s & LIVE != 0).then_some((s & !LIVE) | DROPPED)
        };
        update(&self.state, live).is_ok()
    }

    /// Empties a retired slot without readers.
    pub(crate) fn reclaim(&self) -> Option<Reclaimed> {
        let idle = |s: u64| {
            (s & (PINS | DROPPED | BUSY) == DROPPED)
                .then_some((s & !(DROPPED | TABLES | USED | LOADED)) | BUSY)
        };
        let state = update(&self.state, idle).ok()?;
        // There are no readers, none can be added without `LIVE`, and this call set `BUSY`.
        let tables = if state & TABLES != 0 { self.take_tables() } else { None };
        let (at, len) = (self.at.load(Ordering::Relaxed), self.len.load(Ordering::Relaxed));
        let content = match self.owner.load(Ordering::Relaxed) {
            STORE => {
                Reclaimed { raw: NonNull::new(at).map(|at| RawAllocation { at, len }), source: None, tables }
            }
            source => Reclaimed { raw: None, source: Some(source), tables },
        };
        self.state.fetch_and(!BUSY, Ordering::AcqRel);
        Some(content)
    }

    /// Removes the tables if there are no readers, unless they were used since the last call.
    pub(crate) fn evict(&self) -> Eviction {
        let state = self.state.load(Ordering::Acquire);
        if state & (TABLES | BUSY) != TABLES || state & PINS != 0 {
            return Eviction::Blocked;
        }
        if state & USED != 0 {
            self.state.fetch_and(!USED, Ordering::AcqRel);
            return Eviction::Spared;
        }
        let taken = (state & !TABLES) | BUSY;
        if self.state.compare_exchange(state, taken, Ordering::AcqRel, Ordering::Acquire).is_err() {
            return Eviction::Blocked;
        }
        // There were no readers, later ones do not see `TABLES`, and this call set `BUSY`.
        let allocation = self.take_tables();
        self.state.fetch_and(!BUSY, Ordering::AcqRel);
        Eviction::Freed(allocation)
    }

    /// Takes the memory of the tables. The caller has set `BUSY`, and no reader uses the tables.
    fn take_tables(&self) -> Option<RawAllocation> {
        let at = NonNull::new(self.tables.swap(null_mut(), Ordering::Relaxed))?;
        // SAFETY: the digest is written only by a thread that set `BUSY` while `LOADED` was not
        // set.
        let len = unsafe { self.digest.get() }.compact_len() as u32;
        Some(RawAllocation { at, len })
    }
}

/// A reader of a slot. While it exists, the dictionary's bytes and tables stay valid once they are
/// present.
pub(crate) struct Pin<'a> {
    slot: &'a Slot,
    reaper: Option<&'a dyn Reap>,
}

impl Pin<'_> {
    /// Returns the content hash.
    pub(crate) fn hash(&self) -> u64 {
        self.slot.hash()
    }

    /// Returns whether the bytes are present.
    pub(crate) fn is_loaded(&self) -> bool {
        self.slot.state.load(Ordering::Acquire) & LOADED != 0
    }

    /// Returns whether the bytes are present, in the store's memory.
    pub(crate) fn is_owned(&self) -> bool {
        self.is_loaded() && self.slot.owner.load(Ordering::Relaxed) == STORE
    }

    /// Returns whether the tables are present.
    #[inline]
    pub(crate) fn has_tables(&self) -> bool {
        self.slot.state.load(Ordering::Acquire) & TABLES != 0
    }

    /// Returns the bytes of the dictionary, which are empty until they are present.
    pub(crate) fn bytes(&self) -> &[u8] {
        if !self.is_loaded() {
            return &[];
        }
        let (at, len) = (self.slot.at.load(Ordering::Relaxed), self.slot.len.load(Ordering::Relaxed));
        // SAFETY: with `LOADED`, a slot that was live when it was pinned keeps its bytes while it
        // is pinned. The store frees them, or drops the source that lends them, only after it has
        // reclaimed the slot.
        unsafe { from_raw_parts(at, len as usize) }
    }

    /// Reads the bytes from their source, which `find` returns for its number, and validates them
    /// with `check`. Bytes that are not borrowed are copied into memory from `allocate`. Returns
    /// the number of the source if this slot no longer uses it. Callers serialize these calls.
    pub(crate) fn load(
        &self,
        find: impl FnOnce(u32) -> Result<Arc<dyn Source>>,
        check: impl FnOnce(&[u8]) -> Result<Digest>,
        allocate: impl FnOnce(usize) -> Result<Allocation>,
    ) -> Result<Option<u32>> {
        let slot = self.slot;
        let (number, index) = (slot.owner.load(Ordering::Relaxed), slot.len.load(Ordering::Relaxed));
        if self.is_loaded() {
            return Ok(None);
        }
        let source = find(number)?;
        let bytes = source.read(index)?;
        let digest = check(&bytes)?;
        let (raw, owner) = match bytes {
            Cow::Borrowed(bytes) => {
                (RawAllocation { at: NonNull::from(bytes).cast(), len: bytes.len() as u32 }, number)
            }
            Cow::Owned(bytes) => {
                let mut allocation = allocate(bytes.len())?;
                allocation.bytes_mut().copy_from_slice(&bytes);
                (allocation.into_raw(), STORE)
            }
        };
        let idle = |s: u64| (s & (LOADED | BUSY) == 0).then_some(s | BUSY);
        if update(&slot.state, idle).is_err() {
            return Ok(None);
        }
        // SAFETY: this call set `BUSY`. The bytes are in the store's memory, or borrowed from the
        // source, which does not change them while it is shared. The store keeps the source, whose
        // number the slot has, until it has reclaimed the slot.
        let flags = unsafe { slot.set_bytes(raw.at, raw.len, owner, digest) };
        let _ = update(&slot.state, |s| Some((s & !BUSY) | flags));
        Ok((owner == STORE).then_some(number))
    }

    /// Returns the digested dictionary, if its tables are present.
    #[inline]
    pub(crate) fn digested(&self) -> Option<Digested<'_>> {
        if !self.has_tables() {
            return None;
        }
        // SAFETY: the digest is not written once `LOADED` is set, and `TABLES` implies `LOADED`.
        let digest = unsafe { self.slot.digest.get() };
        let at = self.slot.tables.load(Ordering::Relaxed);
        let len = if at.is_null() { 0 } else { digest.compact_len() };
        // SAFETY: the tables were built before `TABLES` was set, and their memory is not taken
        // while there are pins.
        let tables = if len == 0 { &[][..] } else { unsafe { from_raw_parts(at, len) } };
        let bytes = self.bytes();
        let content = &bytes[bytes.len().saturating_sub(digest.content_len())..];
        Some(Digested { digest, tables, content })
    }

    /// Builds the tables in memory from `allocate`, unless they are present, another thread builds
    /// them, the bytes are not present, or there is no memory. Returns whether it did. If the bytes
    /// no longer match their digest, returns the memory instead.
    pub(crate) fn make_tables(
        &self,
        allocate: impl FnOnce(usize) -> Option<Allocation>,
    ) -> core::result::Result<bool, Allocation> {
        let idle = |s: u64| (s & (TABLES | BUSY | LOADED) == LOADED).then_some(s | BUSY);
        if update(&self.slot.state, idle).is_err() {
            return Ok(false);
        }
        // SAFETY: the digest is not written once `LOADED` is set.
        let digest = unsafe { self.slot.digest.get() };
        let made = match allocate(digest.compact_len()) {
            None => Ok(false),
            Some(mut allocation) => match Dictionary::compact_into(self.bytes(), allocation.bytes_mut()) {
                Ok(made) if made == digest => {
                    self.slot.tables.store(allocation.into_raw().at.as_ptr(), Ordering::Relaxed);
                    Ok(true)
                }
                _ => Err(allocation),
            },
        };
        let flags = if matches!(made, Ok(true)) { TABLES | USED } else { 0 };
        let done = |s: u64| Some((s & !BUSY) | flags);
        let _ = update(&self.slot.state, done);
        made
    }
}

/// Parts of a digested dictionary, valid as long as its pin.
#[derive(Clone, Copy)]
pub(crate) struct Digested<'a> {
    pub(crate) digest: Digest,
    /// The tables in compact form.
    pub(crate) tables: &'a [u8],
    pub(crate) content: &'a [u8],
}

impl<'a> Digested<'a> {
    /// Returns the dictionary, with a Huffman table that was expanded for it.
    #[inline]
    pub(crate) fn with(&self, codes: &'a ExpandedHuffman) -> Dictionary<'a> {
        // SAFETY: the tables of a slot were built for its digest, in memory of the same alignment.
        unsafe { Dictionary::trusted(self.digest, self.tables, codes, self.content) }
    }
}

impl Drop for Pin<'_> {
    #[inline]
    fn drop(&mut self) {
        let state = self.slot.state.fetch_sub(1, Ordering::AcqRel);
        if state & (PINS | DROPPED) == DROPPED | 1
            && let Some(reaper) = self.reaper
        {
            reaper.reap();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::arena::Arena;
    use super::*;

    fn new_content(arena: &mut Arena, byte: u8) -> NewContent {
        let mut allocation = arena.allocate(16).unwrap();
        allocation.bytes_mut().fill(byte);
        NewContent::Bytes(allocation, Dictionary::measure(&[byte; 16]).unwrap())
    }

    #[test]
    fn a_retired_slot_keeps_its_content_while_pinned() {
        let mut arena = Arena::new(usize::MAX, false);
        let slot = Slot::vacant();
        let first = slot.fill(new_content(&mut arena, 1), 7).ok().unwrap();
        let pin = slot.pin(first, None).unwrap();
        assert!(slot.fill(new_content(&mut arena, 9), 9).is_err());
        assert!(slot.retire(first) && !slot.retire(first));
        assert!(slot.pin(first, None).is_none() && slot.reclaim().is_none());
        assert_eq!((pin.bytes(), pin.digested().unwrap().content), (&[1; 16][..], &[1; 16][..]));
        assert_eq!(pin.hash(), 7);
        drop(pin);
        let content = slot.reclaim().unwrap();
        assert!(content.tables.is_none() && content.source.is_none() && slot.reclaim().is_none());
        arena.free_raw(content.raw.unwrap());
        let second = slot.fill(new_content(&mut arena, 2), 8).ok().unwrap();
        assert!(second != first && slot.pin(first, None).is_none());
        assert_eq!((slot.pin(second, None).unwrap().bytes(), slot.hash()), (&[2; 16][..], 8));
    }

    #[test]
    fn eviction_gives_a_second_chance_and_skips_pinned_slots() {
        let mut arena = Arena::new(usize::MAX, false);
        let slot = Slot::vacant();
        let generation = slot.fill(new_content(&mut arena, 3), 0).ok().unwrap();
        let pin = slot.pin(generation, None).unwrap();
        assert!(matches!(slot.evict(), Eviction::Blocked));
        drop(pin);
        assert!(matches!(slot.evict(), Eviction::Spared));
        assert!(matches!(slot.evict(), Eviction::Freed(None)));
        assert!(matches!(slot.evict(), Eviction::Blocked));
        let pin = slot.pin(generation, None).unwrap();
        assert!(pin.digested().is_none());
        assert!(matches!(pin.make_tables(|_| None), Ok(false)));
        assert!(matches!(pin.make_tables(|_| arena.allocate(64)), Ok(true)) && pin.digested().is_some());
        assert!(matches!(pin.make_tables(|_| panic!("they are there")), Ok(false)));
    }

    #[test]
    fn bytes_of_a_source_are_absent_until_loaded() {
        struct Two([u8; 16]);
        impl Source for Two {
            fn read(&self, index: u32) -> Result<Cow<'_, [u8]>> {
                Ok(if index == 0 { Cow::Borrowed(&self.0) } else { Cow::Owned(self.0.to_vec()) })
            }
        }
        let two: Arc<dyn Source> = Arc::new(Two([5; 16]));
        let mut arena = Arena::new(usize::MAX, false);
        for index in 0..2 {
            let slot = Slot::vacant();
            let generation = slot.fill(NewContent::Source { source: 3, index }, 1).ok().unwrap();
            let pin = slot.pin(generation, None).unwrap();
            assert!(!pin.is_loaded() && pin.bytes().is_empty());
            assert!(pin.digested().is_none() && matches!(pin.make_tables(|_| panic!("no bytes")), Ok(false)));
            let find = |number| if number == 3 { Ok(two.clone()) } else { panic!("of another slot") };
            let rest = pin.load(find, Dictionary::measure, |len| Ok(arena.allocate(len).unwrap()));
            assert_eq!(rest, Ok((index == 1).then_some(3)));
            assert!(pin.is_loaded() && pin.bytes() == [5; 16]);
            assert_eq!(pin.digested().unwrap().content, [5; 16]);
            drop(pin);
            assert!(slot.retire(generation));
            let content = slot.reclaim().unwrap();
            assert_eq!((content.raw.is_some(), content.source), (index == 1, (index == 0).then_some(3)));
        }
    }
}
