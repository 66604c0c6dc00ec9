//! Array of slots that grows without moving them, so that readers need no lock: segments whose lengths double
//! every 8 segments.

use std::sync::OnceLock;

use crate::kernel::Slot;

/// Added to an index, so that the first segment has 8 slots.
const FIRST: u64 = 64;
/// Segments of equal length between two powers of two, so that at most an eighth of the slots is unused.
const ALIKE: u64 = 8;
/// Segments for all 32-bit indexes.
const SEGMENTS: usize = 27 * ALIKE as usize;

pub(crate) struct Slots {
    segments: Box<[OnceLock<Box<[Slot]>>; SEGMENTS]>,
}

/// Slots in a segment.
fn len(segment: usize) -> u64 {
    (FIRST / ALIKE) << (segment as u64 / ALIKE)
}

/// Returns the segment of slot `index`, and its position there.
fn place(index: u32) -> (usize, usize) {
    let shifted = u64::from(index) + FIRST;
    let octave = shifted.ilog2() - FIRST.ilog2();
    let len = (FIRST / ALIKE) << octave;
    let part = shifted / len - ALIKE;
    ((u64::from(octave) * ALIKE + part) as usize, (shifted % len) as usize)
}

impl Slots {
    pub(crate) fn new() -> Self {
        Slots { segments: Box::new([const { OnceLock::new() }; SEGMENTS]) }
    }

    /// Returns the slot, if its segment exists.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<&Slot> {
        let (segment, at) = place(index);
        Some(&self.segments[segment].get()?[at])
    }

    /// Returns the slot; allocates its segment if necessary.
    pub(crate) fn make(&self, index: u32) -> &Slot {
        let (segment, at) = place(index);
        let all = || (0..len(segment)).map(|_| Slot::vacant()).collect();
        &self.segments[segment].get_or_init(all)[at]
    }

    /// Bytes of all slots and of the segment list.
    pub(crate) fn memory(&self) -> usize {
        let slots: usize =
            self.segments.iter().filter_map(OnceLock::get).map(|segment| size_of_val(&segment[..])).sum();
        slots + size_of_val(&*self.segments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_has_a_place_of_its_own() {
        let mut next = (0, 0);
        for index in 0..50_000 {
            assert_eq!(place(index), next);
            next.1 += 1;
            if next.1 as u64 == len(next.0) {
                next = (next.0 + 1, 0);
            }
        }
        let last = place(u32::MAX);
        assert!(last.0 < SEGMENTS && (last.1 as u64) < len(last.0));
    }
}
