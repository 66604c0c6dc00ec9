//! CLOCK eviction (second chance; Corbató 1968): a circular list of the slots that have tables or
//! get them, and a hand. The reference bit is `USED` in each slot.

const ABSENT: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(crate) struct Clock {
    slots: Vec<u32>,
    /// Position of each slot in `slots`, or `ABSENT`.
    positions: Vec<u32>,
    hand: usize,
}

impl Clock {
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns the number of bytes held.
    pub(crate) fn memory(&self) -> usize {
        (self.slots.capacity() + self.positions.capacity()) * size_of::<u32>()
    }

    pub(crate) fn add(&mut self, slot: u32) {
        let index = slot as usize;
        if index >= self.positions.len() {
            if index >= self.positions.capacity() {
                self.positions.reserve_exact(index + index / 8 + 16 - self.positions.len());
            }
            self.positions.resize(index + 1, ABSENT);
        }
        if self.positions[index] == ABSENT {
            self.positions[index] = self.slots.len() as u32;
            reserve_one(&mut self.slots);
            self.slots.push(slot);
        }
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        let Some(place) = self.positions.get_mut(slot as usize).filter(|place| **place != ABSENT) else {
            return;
        };
        let at = std::mem::replace(place, ABSENT) as usize;
        self.slots.swap_remove(at);
        if let Some(&moved) = self.slots.get(at) {
            self.positions[moved as usize] = at as u32;
        }
    }

    /// Returns the slot under the hand, and advances the hand. Returns `None` if there are no
    /// slots.
    pub(crate) fn step(&mut self) -> Option<u32> {
        if self.hand >= self.slots.len() {
            self.hand = 0;
        }
        let slot = self.slots.get(self.hand).copied();
        self.hand += 1;
        slot
    }
}

/// Reserves capacity for one more element. The list grows by an eighth and 16, so that long lists
/// are not doubled.
pub(crate) fn reserve_one<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len() / 8 + 16);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_round_visits_each_slot_once() {
        let mut clock = Clock::default();
        assert_eq!(clock.step(), None);
        for slot in [5, 0, 3, 5, 9] {
            clock.add(slot);
        }
        clock.remove(0);
        clock.remove(0);
        clock.remove(77);
        let mut met: Vec<u32> = (0..3).map(|_| clock.step().unwrap()).collect();
        met.sort_unstable();
        assert_eq!(met, [3, 5, 9]);
        for slot in [9, 3, 5] {
            clock.remove(slot);
        }
        assert_eq!((clock.len(), clock.step()), (0, None));
    }
}
