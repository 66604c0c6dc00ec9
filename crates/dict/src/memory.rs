//! The memory of a store: rooms for bytes and tables, vacant slots, and the clock that finds what to
//! evict. All of it is behind one lock, which readers never take.

use std::sync::Arc;

use crate::hashes::Hashes;
use crate::id::Id;
use crate::kernel::{Arena, Evicted, Filling, Room, Slot};
use crate::ring::Ring;
use crate::slots::Slots;
use crate::source::{Source, Sources};

/// Slots that the clock passes at most to find room once, so that nobody waits long for the lock.
const STEPS: usize = 64;

pub(crate) struct Memory {
    pub(crate) raw: Arena,
    pub(crate) tables: Arena,
    /// Slots whose tables are there, or are being made.
    pub(crate) ring: Ring,
    /// Slots to be filled again.
    vacant: Vec<u32>,
    /// Slots retired, but not emptied.
    dropped: Vec<u32>,
    /// How often each dictionary was inserted or retained, less released.
    users: Vec<u32>,
    pub(crate) sources: Sources,
    /// Sources that nobody uses any more, to be dropped without the lock.
    pub(crate) ended: Vec<Arc<dyn Source>>,
    by_hash: Hashes,
    pub(crate) dictionaries: usize,
    pub(crate) evictions: u64,
}

impl Memory {
    pub(crate) fn new(raw: Arena, tables: Arena) -> Self {
        Memory {
            raw,
            tables,
            ring: Ring::default(),
            vacant: Vec::new(),
            dropped: Vec::new(),
            users: Vec::new(),
            sources: Sources::default(),
            ended: Vec::new(),
            by_hash: Hashes::default(),
            dictionaries: 0,
            evictions: 0,
        }
    }

    /// Puts a dictionary into a slot. Gives its room back if there is no slot any more.
    pub(crate) fn fill(&mut self, slots: &Slots, mut filling: Filling, hash: u64) -> Option<Id> {
        loop {
            let index = match self.vacant.pop() {
                Some(index) => index,
                None => {
                    // The last number means none to the lists.
                    let Some(index) = u32::try_from(self.users.len()).ok().filter(|&at| at < u32::MAX) else {
                        if let Filling::Bytes(room, _) = filling {
                            self.raw.cancel(room);
                        }
                        return None;
                    };
                    make_room(&mut self.users);
                    self.users.push(0);
                    index
                }
            };
            let source = match filling {
                Filling::Source { source, .. } => Some(source),
                Filling::Bytes(..) => None,
            };
            match slots.make(index).fill(filling, hash) {
                Ok(generation) => {
                    if let Some(source) = source {
                        self.sources.retain(source);
                    }
                    self.users[index as usize] = 1;
                    self.dictionaries += 1;
                    self.by_hash.add(index, hash_in(slots));
                    return Some(Id::new(index, generation));
                }
                // It was filled as often as a number can say: it stays empty.
                Err(back) => filling = back,
            }
        }
    }

    /// Makes room in the lists for so many more dictionaries at once.
    pub(crate) fn reserve(&mut self, slots: &Slots, more: usize) {
        self.users.reserve(more);
        self.by_hash.reserve(more, hash_in(slots));
    }

    /// Bytes that the lists of this take.
    pub(crate) fn lists(&self) -> usize {
        let numbers = self.vacant.capacity() + self.dropped.capacity() + self.users.capacity();
        4 * numbers + self.by_hash.memory() + self.ring.memory()
    }

    /// A dictionary of these bytes that the store has itself, with one user more. Whoever reads it at this
    /// moment is not waited for.
    pub(crate) fn share(&mut self, slots: &Slots, bytes: &[u8], hash: u64) -> Option<Id> {
        let same = |&index: &u32| {
            let Some(slot) = slots.get(index).filter(|slot| slot.hash() == hash) else { return false };
            // Under the lock nobody retires it, so that this pin is not one that the store waits for.
            let pin = slot.pin(slot.generation(), None);
            pin.is_some_and(|pin| pin.is_owned() && pin.bytes() == bytes)
        };
        let index = self.by_hash.find(hash).find(same)?;
        let id = Id::new(index, slots.get(index)?.generation());
        self.retain(id)?;
        Some(id)
    }

    /// A dictionary of this hash whose bytes a source has, or will be asked for, with one user more.
    pub(crate) fn retain_registered(&mut self, slots: &Slots, hash: u64) -> Option<Id> {
        let registered = |&index: &u32| {
            let Some(slot) = slots.get(index).filter(|slot| slot.hash() == hash) else { return false };
            slot.pin(slot.generation(), None).is_some_and(|pin| !pin.is_owned())
        };
        let index = self.by_hash.find(hash).find(registered)?;
        let id = Id::new(index, slots.get(index)?.generation());
        self.retain(id)?;
        Some(id)
    }

    /// Gives back the memory that nothing uses. Returns the bytes of address space.
    pub(crate) fn trim(&mut self) -> usize {
        self.vacant.shrink_to_fit();
        self.dropped.shrink_to_fit();
        self.raw.trim() + self.tables.trim()
    }

    /// The slot of a dictionary with this hash.
    pub(crate) fn find(&self, slots: &Slots, hash: u64) -> Option<u32> {
        self.by_hash.find(hash).find(|&slot| hash_in(slots)(slot) == hash)
    }

    /// One more user of a dictionary that is there.
    pub(crate) fn retain(&mut self, id: Id) -> Option<()> {
        let users = &mut self.users[id.index() as usize];
        *users = users.checked_add(1)?;
        Some(())
    }

    /// One user less; without any, the dictionary is dropped. Returns whether it was.
    pub(crate) fn release(&mut self, slots: &Slots, id: Id) -> bool {
        let users = &mut self.users[id.index() as usize];
        *users = users.saturating_sub(1);
        if *users > 0 || !slots.get(id.index()).is_some_and(|slot| slot.retire(id.generation())) {
            return false;
        }
        self.dictionaries -= 1;
        self.by_hash.remove(id.index(), hash_in(slots));
        self.dropped.push(id.index());
        self.reap(slots);
        true
    }

    /// Empties the slots of dropped dictionaries that nobody reads any more.
    pub(crate) fn reap(&mut self, slots: &Slots) {
        let mut dropped = std::mem::take(&mut self.dropped);
        dropped.retain(|&index| {
            let Some(content) = slots.get(index).and_then(Slot::reclaim) else { return true };
            if let Some(raw) = content.raw {
                self.raw.give(raw);
            }
            if let Some(tables) = content.tables {
                self.tables.give(tables);
            }
            if let Some(source) = content.source {
                self.ended.extend(self.sources.release(source));
            }
            self.ring.remove(index);
            self.vacant.push(index);
            false
        });
        self.dropped = dropped;
    }

    /// Takes back room for tables that were not made.
    pub(crate) fn cancel_tables(&mut self, index: u32, room: Room) {
        self.ring.remove(index);
        self.tables.cancel(room);
    }

    /// Room for the tables of the dictionary in a slot, if need be that of others.
    pub(crate) fn table_room(&mut self, slots: &Slots, index: u32, len: usize) -> Option<Room> {
        if !self.dropped.is_empty() {
            self.reap(slots);
        }
        let mut steps = STEPS;
        loop {
            if let Some(room) = self.tables.take(len) {
                self.ring.add(index);
                return Some(room);
            }
            // Twice round, since the first time may only have taken second chances.
            if steps == 0 || STEPS - steps >= 2 * self.ring.len() {
                return None;
            }
            steps -= 1;
            let candidate = self.ring.step()?;
            if let Some(Evicted::Room(room)) = slots.get(candidate).map(Slot::evict) {
                self.evictions += 1;
                self.ring.remove(candidate);
                if let Some(room) = room {
                    self.tables.give(room);
                }
            }
        }
    }
}

/// The hash of what is in a slot.
fn hash_in(slots: &Slots) -> impl Fn(u32) -> u64 {
    |index| slots.get(index).map_or(0, Slot::hash)
}

/// Room for one more, of which little stays unused: a list of very many is not doubled.
pub(crate) fn make_room<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len() / 8 + 16);
    }
}
