//! CLOCK eviction (second chance; Corbató 1968): a circular list of the slots that have tables, and a hand.
//! The reference bit is `USED` in each slot.

use crate::memory::make_room;

const NOWHERE: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(crate) struct Ring {
    slots: Vec<u32>,
    /// Position of each slot in `slots`, or `ABSENT`.
    place: Vec<u32>,
    hand: usize,
}

impl Ring {
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Bytes held.
    pub(crate) fn memory(&self) -> usize {
        (self.slots.capacity() + self.place.capacity()) * size_of::<u32>()
    }

    pub(crate) fn add(&mut self, slot: u32) {
        let index = slot as usize;
        if index >= self.place.len() {
            if index >= self.place.capacity() {
                self.place.reserve_exact(index + index / 8 + 16 - self.place.len());
            }
            self.place.resize(index + 1, NOWHERE);
        }
        if self.place[index] == NOWHERE {
            self.place[index] = self.slots.len() as u32;
            make_room(&mut self.slots);
            self.slots.push(slot);
        }
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        let Some(place) = self.place.get_mut(slot as usize).filter(|place| **place != NOWHERE) else {
            return;
        };
        let at = std::mem::replace(place, NOWHERE) as usize;
        self.slots.swap_remove(at);
        if let Some(&moved) = self.slots.get(at) {
            self.place[moved as usize] = at as u32;
        }
    }

    /// Returns the slot under the hand, and advances the hand.
    pub(crate) fn step(&mut self) -> Option<u32> {
        if self.hand >= self.slots.len() {
            self.hand = 0;
        }
        let slot = self.slots.get(self.hand).copied();
        self.hand += 1;
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_meets_each_slot_once() {
        let mut ring = Ring::default();
        assert_eq!(ring.step(), None);
        for slot in [5, 0, 3, 5, 9] {
            ring.add(slot);
        }
        ring.remove(0);
        ring.remove(0);
        ring.remove(77);
        let mut met: Vec<u32> = (0..3).map(|_| ring.step().unwrap()).collect();
        met.sort_unstable();
        assert_eq!(met, [3, 5, 9]);
        for slot in [9, 3, 5] {
            ring.remove(slot);
        }
        assert_eq!((ring.len(), ring.step()), (0, None));
    }
}
