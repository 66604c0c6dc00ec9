//! State of a store behind its lock: memory for bytes and tables, vacant slots, reference counts, and CLOCK
//! eviction. Readers never take the lock.

use std::sync::Arc;

use crate::hashes::Hashes;
use crate::id::Id;
use crate::kernel::{Arena, Evicted, Filling, Room, Slot};
use crate::ring::Ring;
use crate::slots::Slots;
use crate::source::{Source, Sources};

/// Slots visited at most by one eviction, which bounds the time that the lock is held.
const STEPS: usize = 64;

pub(crate) struct Memory {
    pub(crate) raw: Arena,
    pub(crate) tables: Arena,
    /// Slots whose tables are present or being built.
    pub(crate) ring: Ring,
    /// Slots to be filled again.
    vacant: Vec<u32>,
    /// Slots that were retired but not reclaimed yet.
    dropped: Vec<u32>,
    /// Reference count of each slot.
    users: Vec<u32>,
    pub(crate) sources: Sources,
    /// Sources without dictionaries left, to be dropped after the lock is released.
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

    /// Puts a dictionary into a slot. Frees its memory if there are no more slots.
    pub(crate) fn fill(&mut self, slots: &Slots, mut filling: Filling, hash: u64) -> Option<Id> {
        loop {
            let index = match self.vacant.pop() {
                Some(index) => index,
                None => {
                    // `u32::MAX` is the empty mark of the lists.
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
                // This slot's generations are used up: it stays empty.
                Err(back) => filling = back,
            }
        }
    }

    /// Reserves list capacity for `more` dictionaries.
    pub(crate) fn reserve(&mut self, slots: &Slots, more: usize) {
        self.users.reserve(more);
        self.by_hash.reserve(more, hash_in(slots));
    }

    /// Bytes of the lists.
    pub(crate) fn lists(&self) -> usize {
        let numbers = self.vacant.capacity() + self.dropped.capacity() + self.users.capacity();
        4 * numbers + self.by_hash.memory() + self.ring.memory()
    }

    /// Finds a dictionary with these bytes in the store's own memory, and increments its reference count.
    pub(crate) fn share(&mut self, slots: &Slots, bytes: &[u8], hash: u64) -> Option<Id> {
        let same = |&index: &u32| {
            let Some(slot) = slots.get(index).filter(|slot| slot.hash() == hash) else { return false };
            // Nothing is retired under the lock, so this pin is never the last one of a retired slot and
            // needs no reap.
            let pin = slot.pin(slot.generation(), None);
            pin.is_some_and(|pin| pin.is_owned() && pin.bytes() == bytes)
        };
        let index = self.by_hash.find(hash).find(same)?;
        let id = Id::new(index, slots.get(index)?.generation());
        self.retain(id)?;
        Some(id)
    }

    /// Finds a dictionary with this hash whose bytes belong to a source, or were not read yet, and increments
    /// its reference count.
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

    /// Returns unused memory to the system. Returns the bytes unmapped.
    pub(crate) fn trim(&mut self) -> usize {
        self.vacant.shrink_to_fit();
        self.dropped.shrink_to_fit();
        self.raw.trim() + self.tables.trim()
    }

    /// Finds the slot of a dictionary with this hash.
    pub(crate) fn find(&self, slots: &Slots, hash: u64) -> Option<u32> {
        self.by_hash.find(hash).find(|&slot| hash_in(slots)(slot) == hash)
    }

    /// Increments the reference count of a present dictionary.
    pub(crate) fn retain(&mut self, id: Id) -> Option<()> {
        let users = &mut self.users[id.index() as usize];
        *users = users.checked_add(1)?;
        Some(())
    }

    /// Decrements the reference count; at zero retires the dictionary. Returns whether it did.
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

    /// Reclaims the retired slots that have no readers.
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

    /// Frees memory for tables that were not built.
    pub(crate) fn cancel_tables(&mut self, index: u32, room: Room) {
        self.ring.remove(index);
        self.tables.cancel(room);
    }

    /// Allocates memory for the tables of the dictionary in slot `index`, evicting others if necessary.
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
            // Two rounds: the first may only clear reference bits.
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

/// Returns the hash of the dictionary in a slot.
fn hash_in(slots: &Slots) -> impl Fn(u32) -> u64 {
    |index| slots.get(index).map_or(0, Slot::hash)
}

/// Reserves capacity for one more element, growing by an eighth: long lists are not doubled.
pub(crate) fn make_room<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len() / 8 + 16);
    }
}
