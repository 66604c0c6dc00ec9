//! Index from content hash to slot: open addressing with linear probing and backward-shift
//! deletion. Home positions ascend with the hash. It stores only slot numbers, because the hashes
//! are in the slots.

const EMPTY: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(crate) struct HashIndex {
    /// Each slot is at the home position of its hash or, without a gap between, after it. The end
    /// wraps around to the beginning.
    table: Vec<u32>,
    len: usize,
}

impl HashIndex {
    /// Adds a slot. `hash_of` returns the hash of this and all other added slots.
    pub(crate) fn add(&mut self, slot: u32, hash_of: impl Fn(u32) -> u64) {
        // The maximum load is four fifths.
        if 5 * (self.len + 1) > 4 * self.table.len() {
            self.grow(&hash_of);
        }
        self.place(slot, hash_of(slot));
        self.len += 1;
    }

    /// Removes an added slot, whose hash must still be known.
    pub(crate) fn remove(&mut self, slot: u32, hash_of: impl Fn(u32) -> u64) {
        let Some(mut gap) = self.probe(hash_of(slot)).find(|&at| self.table[at] == slot) else { return };
        self.len -= 1;
        self.table[gap] = EMPTY;
        // Later slots that may be in the gap are shifted back.
        let mut at = gap;
        loop {
            at = self.next(at);
            let moved = self.table[at];
            if moved == EMPTY {
                return;
            }
            let size = self.table.len();
            let from_home = (at + size - self.home(hash_of(moved))) % size;
            if from_home >= (at + size - gap) % size {
                self.table[gap] = moved;
                self.table[at] = EMPTY;
                gap = at;
            }
        }
    }

    /// Iterates over the slots that may have this hash.
    pub(crate) fn find(&self, hash: u64) -> impl Iterator<Item = u32> {
        self.probe(hash).map(|at| self.table[at])
    }

    /// Returns the number of bytes held.
    pub(crate) fn memory(&self) -> usize {
        self.table.capacity() * size_of::<u32>()
    }

    /// Iterates over the positions from the home of a hash to the next gap.
    fn probe(&self, hash: u64) -> impl Iterator<Item = usize> {
        let first = if self.table.is_empty() { None } else { Some(self.home(hash)) };
        let places = core::iter::successors(first, |&at| Some(self.next(at)));
        places.take_while(|&at| self.table[at] != EMPTY)
    }

    fn home(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.table.len() as u128) >> 64) as usize
    }

    fn next(&self, at: usize) -> usize {
        if at + 1 == self.table.len() { 0 } else { at + 1 }
    }

    fn place(&mut self, slot: u32, hash: u64) {
        let mut at = self.home(hash);
        while self.table[at] != EMPTY {
            at = self.next(at);
        }
        self.table[at] = slot;
    }

    fn grow(&mut self, hash_of: impl Fn(u32) -> u64) {
        self.resize((self.table.len() * 9 / 8).max(16), hash_of);
    }

    /// Reserves capacity for `more` slots.
    pub(crate) fn reserve(&mut self, more: usize, hash_of: impl Fn(u32) -> u64) {
        let size = self.len.saturating_add(more).saturating_mul(5) / 4 + 1;
        if size > self.table.len() {
            self.resize(size, hash_of);
        }
    }

    fn resize(&mut self, size: usize, hash_of: impl Fn(u32) -> u64) {
        let old = std::mem::replace(&mut self.table, vec![EMPTY; size]);
        for slot in old.into_iter().filter(|&slot| slot != EMPTY) {
            self.place(slot, hash_of(slot));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_slots_are_found_until_removed() {
        // There are few distinct hashes, for collisions, and homes at both ends of the table.
        let hash_of = |slot: u32| [0, u64::MAX, 1 << 63, 7 << 40, u64::MAX - 9][slot as usize % 5];
        let mut hashes = HashIndex::default();
        let mut there = std::collections::BTreeSet::new();
        assert_eq!(hashes.find(0).count(), 0);
        let mut seed = 1u32;
        for _ in 0..5000 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let slot = (seed >> 16) % 300;
            if there.remove(&slot) {
                hashes.remove(slot, hash_of);
            } else if seed >> 30 != 0 {
                if seed >> 29 & 1 == 0 {
                    hashes.reserve(slot as usize % 40, hash_of);
                }
                hashes.add(slot, hash_of);
                there.insert(slot);
            }
            hashes.remove(300, hash_of);
            let probe = (seed >> 8) % 300;
            assert_eq!(hashes.find(hash_of(probe)).any(|found| found == probe), there.contains(&probe));
            assert_eq!(hashes.table.iter().filter(|&&slot| slot != EMPTY).count(), there.len());
        }
        assert!(hashes.memory() >= 4 * there.len());
    }
}
