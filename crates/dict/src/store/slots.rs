//! Array of slots that grows without moving them, so that readers need no lock. It consists of
//! segments whose lengths double every 8 segments.

use std::sync::OnceLock;

use crate::sys::Slot;

/// Offset added to an index, so that the first segment has 8 slots.
const BIAS: u64 = 64;
/// Number of segments of equal length between two powers of two. With 8, at most about an eighth of
/// many slots is unused.
const PER_OCTAVE: u64 = 8;
/// Number of segments for all 32-bit indexes.
const SEGMENTS: usize = 27 * PER_OCTAVE as usize;

pub(crate) struct Slots {
    segments: Box<[OnceLock<Box<[Slot]>>; SEGMENTS]>,
}

/// Returns the number of slots in a segment.
fn len(segment: usize) -> u64 {
    (BIAS / PER_OCTAVE) << (segment as u64 / PER_OCTAVE)
}

/// Returns the segment of slot `index`, and its position there.
fn place(index: u32) -> (usize, usize) {
    let shifted = u64::from(index) + BIAS;
    let octave = shifted.ilog2() - BIAS.ilog2();
    let len = (BIAS / PER_OCTAVE) << octave;
    let part = shifted / len - PER_OCTAVE;
    ((u64::from(octave) * PER_OCTAVE + part) as usize, (shifted % len) as usize)
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

    /// Returns the slot, and allocates its segment if necessary.
    pub(crate) fn make(&self, index: u32) -> &Slot {
        let (segment, at) = place(index);
        let all = || (0..len(segment)).map(|_| Slot::vacant()).collect();
        &self.segments[segment].get_or_init(all)[at]
    }

    /// Returns the number of bytes of all slots and of the segment list.
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
    fn indexes_map_to_consecutive_positions() {
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
