//! The state of a store behind its lock: memory for bytes and tables, vacant slots, reference
//! counts, and CLOCK eviction. Readers take the lock only to read a dictionary from its source, to
//! get memory for tables, or to reclaim a retired slot after its last reader.

use std::sync::Arc;

use crate::id::Id;
use crate::source::{Source, Sources};
use crate::store::clock::{Clock, reserve_one};
use crate::store::hash_index::HashIndex;
use crate::store::slots::Slots;
use crate::sys::{Allocation, Arena, Eviction, NewContent, Slot};

/// Largest number of slots that are visited, to evict their tables, for one allocation. It bounds
/// the time that the lock is held.
const MAX_STEPS: usize = 64;

pub(crate) struct Memory {
    pub(crate) raw: Arena,
    pub(crate) tables: Arena,
    /// Slots whose tables are present or being built.
    pub(crate) clock: Clock,
    /// Slots that can be filled again.
    vacant: Vec<u32>,
    /// Slots that were retired but not reclaimed yet.
    retired: Vec<u32>,
    /// Reference count of each slot.
    references: Vec<u32>,
    pub(crate) sources: Sources,
    /// Sources whose last dictionary is gone, to be dropped after the lock is released.
    pub(crate) unused_sources: Vec<Arc<dyn Source>>,
    by_hash: HashIndex,
    pub(crate) dictionaries: usize,
    pub(crate) evictions: u64,
}

impl Memory {
    pub(crate) fn new(raw: Arena, tables: Arena) -> Self {
        Memory {
            raw,
            tables,
            clock: Clock::default(),
            vacant: Vec::new(),
            retired: Vec::new(),
            references: Vec::new(),
            sources: Sources::default(),
            unused_sources: Vec::new(),
            by_hash: HashIndex::default(),
            dictionaries: 0,
            evictions: 0,
        }
    }

    /// Puts a dictionary into a slot. If there are no more slots, frees its memory and returns
    /// `None`.
    pub(crate) fn fill(&mut self, slots: &Slots, mut content: NewContent, hash: u64) -> Option<Id> {
        loop {
            let index = match self.vacant.pop() {
                Some(index) => index,
                None => {
                    // `u32::MAX` is the empty mark of the lists.
                    let Some(index) = u32::try_from(self.references.len()).ok().filter(|&at| at < u32::MAX)
                    else {
                        if let NewContent::Bytes(allocation, _) = content {
                            self.raw.free(allocation);
                        }
                        return None;
                    };
                    reserve_one(&mut self.references);
                    self.references.push(0);
                    index
                }
            };
            let source = match content {
                NewContent::Source { source, .. } => Some(source),
                NewContent::Bytes(..) => None,
            };
            match slots.make(index).fill(content, hash) {
                Ok(generation) => {
                    if let Some(source) = source {
                        self.sources.retain(source);
                    }
                    self.references[index as usize] = 1;
                    self.dictionaries += 1;
                    self.by_hash.add(index, hash_in(slots));
                    return Some(Id::new(index, generation));
                }
                // This slot's generations are used up: it stays empty.
                Err(back) => content = back,
            }
        }
    }

    /// Reserves list capacity for `more` dictionaries.
    pub(crate) fn reserve(&mut self, slots: &Slots, more: usize) {
        self.references.reserve(more);
        self.by_hash.reserve(more, hash_in(slots));
    }

    /// Returns the number of bytes of the lists.
    pub(crate) fn list_bytes(&self) -> usize {
        let numbers = self.vacant.capacity() + self.retired.capacity() + self.references.capacity();
        4 * numbers + self.by_hash.memory() + self.clock.memory()
    }

    /// Finds a dictionary with these bytes in the store's own memory, and increments its reference
    /// count.
    pub(crate) fn retain_equal(&mut self, slots: &Slots, bytes: &[u8], hash: u64) -> Option<Id> {
        let same = |&index: &u32| {
            let Some(slot) = slots.get(index).filter(|slot| slot.hash() == hash) else { return false };
            // No other thread retires a slot while this one holds the lock, so this pin is never
            // the last one of a retired slot, and needs no reap.
            let pin = slot.pin(slot.generation(), None);
            pin.is_some_and(|pin| pin.is_owned() && pin.bytes() == bytes)
        };
        let index = self.by_hash.find(hash).find(same)?;
        let id = Id::new(index, slots.get(index)?.generation());
        self.retain(id)?;
        Some(id)
    }

    /// Finds a dictionary with this hash whose bytes belong to a source, or were not read yet, and
    /// increments its reference count.
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

    /// Returns unused memory to the system. Returns the number of bytes unmapped.
    pub(crate) fn trim(&mut self) -> usize {
        self.vacant.shrink_to_fit();
        self.retired.shrink_to_fit();
        self.raw.trim() + self.tables.trim()
    }

    /// Finds the slot of a dictionary with this hash.
    pub(crate) fn find(&self, slots: &Slots, hash: u64) -> Option<u32> {
        self.by_hash.find(hash).find(|&slot| hash_in(slots)(slot) == hash)
    }

    /// Increments the reference count of a present dictionary.
    pub(crate) fn retain(&mut self, id: Id) -> Option<()> {
        let references = &mut self.references[id.index() as usize];
        *references = references.checked_add(1)?;
        Some(())
    }

    /// Decrements the reference count, and retires the dictionary at zero. Returns whether it did.
    pub(crate) fn release(&mut self, slots: &Slots, id: Id) -> bool {
        let references = &mut self.references[id.index() as usize];
        *references = references.saturating_sub(1);
        if *references > 0 || !slots.get(id.index()).is_some_and(|slot| slot.retire(id.generation())) {
            return false;
        }
        self.dictionaries -= 1;
        self.by_hash.remove(id.index(), hash_in(slots));
        self.retired.push(id.index());
        self.reap(slots);
        true
    }

    /// Reclaims the retired slots that have no readers.
    pub(crate) fn reap(&mut self, slots: &Slots) {
        let mut retired = std::mem::take(&mut self.retired);
        retired.retain(|&index| {
            let Some(content) = slots.get(index).and_then(Slot::reclaim) else { return true };
            if let Some(raw) = content.raw {
                self.raw.free_raw(raw);
            }
            if let Some(tables) = content.tables {
                self.tables.free_raw(tables);
            }
            if let Some(source) = content.source {
                self.unused_sources.extend(self.sources.release(source));
            }
            self.clock.remove(index);
            self.vacant.push(index);
            false
        });
        self.retired = retired;
    }

    /// Frees memory for tables that were not built.
    pub(crate) fn free_tables(&mut self, index: u32, allocation: Allocation) {
        self.clock.remove(index);
        self.tables.free(allocation);
    }

    /// Allocates memory for the tables of the dictionary in slot `index`, after evicting tables of
    /// other dictionaries if necessary.
    pub(crate) fn allocate_tables(&mut self, slots: &Slots, index: u32, len: usize) -> Option<Allocation> {
        if !self.retired.is_empty() {
            self.reap(slots);
        }
        let mut steps = MAX_STEPS;
        loop {
            if let Some(allocation) = self.tables.allocate(len) {
                self.clock.add(index);
                return Some(allocation);
            }
            // Two rounds are needed, because the first may only clear reference bits.
            if steps == 0 || MAX_STEPS - steps >= 2 * self.clock.len() {
                return None;
            }
            steps -= 1;
            let candidate = self.clock.step()?;
            if let Some(Eviction::Freed(allocation)) = slots.get(candidate).map(Slot::evict) {
                self.evictions += 1;
                self.clock.remove(candidate);
                if let Some(allocation) = allocation {
                    self.tables.free_raw(allocation);
                }
            }
        }
    }
}

/// Returns the hash of the dictionary in a slot.
fn hash_in(slots: &Slots) -> impl Fn(u32) -> u64 {
    |index| slots.get(index).map_or(0, Slot::hash)
}
