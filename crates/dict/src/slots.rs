//! The slots of a store: more are added, none is ever moved, so that readers need no lock.

use std::sync::OnceLock;

use crate::kernel::Slot;

/// Slots in the first segment; each following one is twice as long.
const FIRST: u64 = 64;
/// Segments for all 32-bit indexes.
const SEGMENTS: usize = 27;

pub(crate) struct Slots {
    segments: [OnceLock<Box<[Slot]>>; SEGMENTS],
}

/// Segment of the slot `index`, and its place there.
fn place(index: u32) -> (usize, usize) {
    let shifted = u64::from(index) + FIRST;
    let segment = shifted.ilog2() - FIRST.ilog2();
    (segment as usize, (shifted - (FIRST << segment)) as usize)
}

impl Slots {
    pub(crate) fn new() -> Self {
        Slots { segments: [const { OnceLock::new() }; SEGMENTS] }
    }

    /// The slot, if its segment exists.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<&Slot> {
        let (segment, at) = place(index);
        Some(&self.segments[segment].get()?[at])
    }

    /// The slot; makes its segment if need be.
    pub(crate) fn make(&self, index: u32) -> &Slot {
        let (segment, at) = place(index);
        &self.segments[segment].get_or_init(|| (0..FIRST << segment).map(|_| Slot::vacant()).collect())[at]
    }

    /// Bytes of the slots there are.
    pub(crate) fn memory(&self) -> usize {
        self.segments.iter().filter_map(OnceLock::get).map(|segment| size_of_val(&segment[..])).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_has_a_place_of_its_own() {
        let mut next = (0, 0);
        for index in 0..5000 {
            assert_eq!(place(index), next);
            next.1 += 1;
            if next.1 as u64 == FIRST << next.0 {
                next = (next.0 + 1, 0);
            }
        }
        assert!(place(u32::MAX).0 < SEGMENTS);
    }
}
