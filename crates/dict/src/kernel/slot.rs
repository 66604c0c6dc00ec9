//! The place of one dictionary, which readers pin without a lock.
//!
//! Everything hangs on one word: how many readers there are, what is in the slot, and how often it
//! was filled. A reader first counts itself in and then looks at the rest of the word it found; who
//! takes something away does so only by an exchange that finds no reader. So either the reader is
//! seen, or it sees that nothing is there.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, Ordering};

use linerate_zstd::Dictionary;

use super::arena::Room;
use super::digested::Digested;

/// Readers, in the low bits.
const PINS: u64 = (1 << 24) - 1;
/// More readers are refused long before they would run into the flags.
const MOST_PINS: u64 = 1 << 23;
/// There is a dictionary.
const LIVE: u64 = 1 << 24;
/// There was one, which some may still read.
const DROPPED: u64 = 1 << 25;
/// Its tables are there.
const TABLES: u64 = 1 << 26;
/// Someone is making or taking away what is in the slot.
const BUSY: u64 = 1 << 27;
/// The tables were used since the clock came by.
const USED: u64 = 1 << 28;
const FLAGS: u64 = LIVE | DROPPED | TABLES | BUSY | USED;
/// How often the slot was filled, in the high half.
const GENERATION: u32 = 32;

/// The bytes of a dictionary.
struct Raw {
    room: Room,
    /// Bytes that its tables need.
    tables: u32,
}

#[repr(C, align(64))]
pub(crate) struct Slot {
    state: AtomicU64,
    /// Written by who set `BUSY`, read by who has a pin and saw `TABLES`. Goes before `raw`, from
    /// which it borrows.
    digested: UnsafeCell<Option<Digested>>,
    /// Written by who set `BUSY` while not `LIVE`, read by who has a pin.
    raw: UnsafeCell<Option<Raw>>,
}

const _: () = assert!(size_of::<usize>() < 8 || size_of::<Slot>() == 128);

// SAFETY: the fields say who may touch what, and `state` keeps them apart; what they hold may be used
// by any thread.
unsafe impl Sync for Slot {}
// SAFETY: nothing in it belongs to a thread.
unsafe impl Send for Slot {}

/// What became of an eviction.
pub(crate) enum Evicted {
    /// The tables are gone, and this was their room.
    Room(Option<Room>),
    /// The tables were used lately, and have a second chance.
    Spared,
    /// There are none, or someone reads them.
    Unable,
}

impl Slot {
    pub(crate) fn vacant() -> Self {
        Slot { state: AtomicU64::new(0), digested: UnsafeCell::new(None), raw: UnsafeCell::new(None) }
    }

    /// Puts a dictionary whose tables need so many bytes into a vacant slot. Returns how often the
    /// slot was filled by now, or the room if it is not vacant or was filled 2^32 - 1 times.
    pub(crate) fn fill(&self, room: Room, tables: usize) -> Result<u32, Room> {
        let vacant = |s: u64| (s & FLAGS == 0 && s >> GENERATION < u32::MAX.into()).then_some(s | BUSY);
        let Ok(before) = self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, vacant) else {
            return Err(room);
        };
        let raw = Raw { room, tables: tables as u32 };
        // SAFETY: `BUSY` was set by this call, and without `LIVE` nobody else looks inside. The bytes
        // stay until `reclaim`, which takes what borrows from them first.
        let digested = unsafe {
            let raw = (*self.raw.get()).insert(raw);
            let digested = if tables == 0 { Digested::new(raw.room.bytes(), None).ok() } else { None };
            let has_tables = digested.is_some();
            *self.digested.get() = digested;
            has_tables
        };
        let tables = if digested { TABLES } else { 0 };
        let whole = |s: u64| Some(((s & !BUSY) | LIVE | tables) + (1 << GENERATION));
        let _ = self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, whole);
        Ok((before >> GENERATION) as u32 + 1)
    }

    /// Counts a reader in, if the slot still has what it was filled with then.
    #[inline]
    pub(crate) fn pin(&self, generation: u32) -> Option<Pin<'_>> {
        let state = self.state.fetch_add(1, Ordering::AcqRel);
        if state >> GENERATION != generation.into() || state & LIVE == 0 || state & PINS >= MOST_PINS {
            self.state.fetch_sub(1, Ordering::AcqRel);
            return None;
        }
        if state & (TABLES | USED) == TABLES {
            self.state.fetch_or(USED, Ordering::AcqRel);
        }
        Some(Pin { slot: self })
    }

    /// Whether it has what it was filled with then.
    pub(crate) fn has(&self, generation: u32) -> bool {
        let state = self.state.load(Ordering::Acquire);
        state >> GENERATION == generation.into() && state & LIVE != 0
    }

    /// How often it was filled.
    pub(crate) fn generation(&self) -> u32 {
        (self.state.load(Ordering::Acquire) >> GENERATION) as u32
    }

    /// Lets no more readers in. False if the slot no longer has what it was filled with then.
    pub(crate) fn retire(&self, generation: u32) -> bool {
        let live =
            |s: u64| (s >> GENERATION == generation.into() && s & LIVE != 0).then_some((s & !LIVE) | DROPPED);
        self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, live).is_ok()
    }

    /// Empties a retired slot that nobody reads any more: returns the rooms of the bytes and of the
    /// tables.
    pub(crate) fn reclaim(&self) -> Option<(Room, Option<Room>)> {
        let idle = |s: u64| {
            (s & (PINS | DROPPED | BUSY) == DROPPED).then_some((s & !(DROPPED | TABLES | USED)) | BUSY)
        };
        self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, idle).ok()?;
        // SAFETY: there was no reader, none gets in without `LIVE`, and `BUSY` was set by this call.
        let (digested, raw) = unsafe { ((*self.digested.get()).take(), (*self.raw.get()).take()) };
        let tables = digested.and_then(Digested::into_room);
        self.state.fetch_and(!BUSY, Ordering::AcqRel);
        Some((raw?.room, tables))
    }

    /// Takes the tables away if nobody reads them, unless they were used since the last time.
    pub(crate) fn evict(&self) -> Evicted {
        let state = self.state.load(Ordering::Acquire);
        if state & (TABLES | BUSY) != TABLES || state & PINS != 0 {
            return Evicted::Unable;
        }
        if state & USED != 0 {
            self.state.fetch_and(!USED, Ordering::AcqRel);
            return Evicted::Spared;
        }
        let taken = (state & !TABLES) | BUSY;
        if self.state.compare_exchange(state, taken, Ordering::AcqRel, Ordering::Acquire).is_err() {
            return Evicted::Unable;
        }
        // SAFETY: there was no reader, who comes now sees no `TABLES`, and `BUSY` was set by this call.
        let digested = unsafe { (*self.digested.get()).take() };
        let room = digested.and_then(Digested::into_room);
        self.state.fetch_and(!BUSY, Ordering::AcqRel);
        Evicted::Room(room)
    }
}

/// A reader of a slot: while it lives, the dictionary's bytes stay, and its tables once they are
/// there.
pub(crate) struct Pin<'a> {
    slot: &'a Slot,
}

impl Pin<'_> {
    /// The bytes of the dictionary.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: a slot that was live when it was pinned keeps its bytes while it is.
        unsafe { (*self.slot.raw.get()).as_ref() }.map_or(&[], |raw| raw.room.bytes())
    }

    /// The digested dictionary, if its tables are there.
    #[inline]
    pub(crate) fn dictionary(&self) -> Option<&Dictionary<'_>> {
        if self.slot.state.load(Ordering::Acquire) & TABLES == 0 {
            return None;
        }
        // SAFETY: the tables were made before `TABLES` was seen, and are not taken from who has a pin.
        unsafe { (*self.slot.digested.get()).as_ref() }.map(Digested::dictionary)
    }

    /// Makes the tables in the room that is found for so many bytes, if nobody else does. Returns
    /// whether it did.
    pub(crate) fn make_tables(&self, find: impl FnOnce(usize) -> Option<Room>) -> bool {
        let idle = |s: u64| (s & (TABLES | BUSY) == 0).then_some(s | BUSY);
        if self.slot.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, idle).is_err() {
            return false;
        }
        // SAFETY: as in `bytes`.
        let raw = unsafe { (*self.slot.raw.get()).as_ref() };
        let made = raw.is_some_and(|raw| {
            let Some(room) = find(raw.tables as usize) else { return false };
            // Bytes that were measured when they came are sound, and the room is as large as they need.
            // SAFETY: the bytes stay until `reclaim`, which takes what borrows from them first.
            let Ok(digested) = (unsafe { Digested::new(raw.room.bytes(), Some(room)) }) else {
                return false;
            };
            // SAFETY: `BUSY` was set by this call, and without `TABLES` nobody looks.
            unsafe { *self.slot.digested.get() = Some(digested) };
            true
        });
        let tables = if made { TABLES | USED } else { 0 };
        let done = |s: u64| Some((s & !BUSY) | tables);
        let _ = self.slot.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, done);
        made
    }
}

impl Drop for Pin<'_> {
    #[inline]
    fn drop(&mut self) {
        self.slot.state.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::super::arena::Arena;
    use super::*;

    fn room(arena: &mut Arena, byte: u8) -> Room {
        let mut room = arena.take(16).unwrap();
        room.bytes_mut().fill(byte);
        room
    }

    #[test]
    fn what_is_dropped_stays_for_who_reads_it() {
        let mut arena = Arena::new(usize::MAX, false);
        let slot = Slot::vacant();
        let first = slot.fill(room(&mut arena, 1), 0).ok().unwrap();
        let pin = slot.pin(first).unwrap();
        assert!(slot.fill(room(&mut arena, 9), 0).is_err());
        assert!(slot.retire(first) && !slot.retire(first));
        assert!(slot.pin(first).is_none() && slot.reclaim().is_none());
        assert_eq!((pin.bytes(), pin.dictionary().unwrap().content()), (&[1; 16][..], &[1; 16][..]));
        drop(pin);
        let (raw, tables) = slot.reclaim().unwrap();
        assert!(raw.bytes() == [1; 16] && tables.is_none() && slot.reclaim().is_none());
        let second = slot.fill(room(&mut arena, 2), 0).ok().unwrap();
        assert!(second != first && slot.pin(first).is_none());
        assert_eq!(slot.pin(second).unwrap().bytes(), [2; 16]);
    }

    #[test]
    fn evictions_spare_once_and_never_take_what_is_read() {
        let mut arena = Arena::new(usize::MAX, false);
        let slot = Slot::vacant();
        let generation = slot.fill(room(&mut arena, 3), 0).ok().unwrap();
        let pin = slot.pin(generation).unwrap();
        assert!(matches!(slot.evict(), Evicted::Unable));
        drop(pin);
        assert!(matches!(slot.evict(), Evicted::Spared));
        assert!(matches!(slot.evict(), Evicted::Room(None)));
        assert!(matches!(slot.evict(), Evicted::Unable));
        let pin = slot.pin(generation).unwrap();
        assert!(pin.dictionary().is_none());
        assert!(!pin.make_tables(|_| None));
        assert!(pin.make_tables(|_| arena.take(64)) && pin.dictionary().is_some());
        assert!(!pin.make_tables(|_| panic!("they are there")));
    }
}
