//! Arena: allocations of any size in chunks of mapped memory.

use core::ptr::NonNull;
use core::slice::from_raw_parts_mut;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::free_list::{FreeList, Range};
use super::mapping::{HUGE, Mapping};
use crate::stats::HugePages;

/// Alignment and granularity of allocations: a cache line.
const UNIT: usize = 64;
/// Size of a chunk in bytes. A larger allocation gets a multiple of it, and the last chunk before
/// the capacity may be smaller. Unused pages take no memory.
const CHUNK: usize = 16 * HUGE;

/// An allocation. It keeps its chunk mapped, and must be freed by its arena.
pub(crate) struct Allocation {
    chunk: Arc<Mapping>,
    /// Offset in the chunk.
    at: usize,
    /// Number of requested bytes.
    len: u32,
}

impl Allocation {
    /// Returns the number of requested bytes.
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    fn start(&self) -> NonNull<u8> {
        // SAFETY: the arena returned an offset within the mapping.
        unsafe { self.chunk.start().add(self.at) }
    }

    #[cfg(test)]
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: as in `bytes_mut`.
        unsafe { core::slice::from_raw_parts(self.start().as_ptr(), self.len()) }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the range is within the mapping, which this keeps alive, and the arena gives a
        // range to one allocation at a time. The memory was zeroed when it was mapped.
        unsafe { from_raw_parts_mut(self.start().as_ptr(), self.len()) }
    }

    /// Keeps only address and length, for slots, where space is tight. The chunk stays mapped until
    /// the arena frees the allocation or is dropped.
    pub(super) fn into_raw(self) -> RawAllocation {
        RawAllocation { at: self.start(), len: self.len }
    }
}

/// An allocation without a reference to its chunk.
pub(crate) struct RawAllocation {
    pub(super) at: NonNull<u8>,
    pub(super) len: u32,
}

/// Chunks of mapped memory, with a free list.
pub(crate) struct Arena {
    chunks: Vec<Option<Arc<Mapping>>>,
    /// Chunks by start address.
    by_address: BTreeMap<usize, u32>,
    free: FreeList,
    /// Maximum number of mapped bytes.
    capacity: usize,
    mapped: usize,
    used: usize,
    huge: bool,
    granted: HugePages,
}

impl Arena {
    /// Creates an empty arena that maps at most `capacity` bytes.
    pub(crate) fn new(capacity: usize, huge: bool) -> Self {
        let granted = if huge { HugePages::Advised } else { HugePages::Off };
        Arena {
            chunks: Vec::new(),
            by_address: BTreeMap::new(),
            free: FreeList::default(),
            capacity,
            mapped: 0,
            used: 0,
            huge,
            granted,
        }
    }

    /// Allocates `len` bytes, if the capacity and the system allow it.
    pub(crate) fn allocate(&mut self, len: usize) -> Option<Allocation> {
        let units = u32::try_from(len.div_ceil(UNIT).max(1)).ok()?;
        let range = match self.free.allocate(units) {
            Some(range) => range,
            None => {
                self.grow(units as usize * UNIT)?;
                self.free.allocate(units)?
            }
        };
        let chunk = self.chunks[range.chunk as usize].clone()?;
        self.used += units as usize * UNIT;
        Some(Allocation { chunk, at: range.at as usize * UNIT, len: u32::try_from(len).ok()? })
    }

    /// Frees an allocation.
    pub(crate) fn free(&mut self, allocation: Allocation) {
        self.free_raw(allocation.into_raw());
    }

    /// Frees an allocation that is given by address and length.
    pub(crate) fn free_raw(&mut self, raw: RawAllocation) {
        let address = raw.at.as_ptr() as usize;
        let Some((&start, &chunk)) = self.by_address.range(..=address).next_back() else { return };
        let at = ((address - start) / UNIT) as u32;
        let range = Range { chunk, at, len: raw.len.div_ceil(UNIT as u32).max(1) };
        self.used -= range.len as usize * UNIT;
        self.free.free(range);
        let len = self.chunks[chunk as usize].as_ref().map_or(0, |mapping| mapping.len());
        // An unused chunk is unmapped, unless it is the only one.
        if self.mapped > len {
            self.unmap(start, chunk);
        }
    }

    /// Unmaps all unused chunks. Returns the number of bytes unmapped.
    pub(crate) fn trim(&mut self) -> usize {
        let before = self.mapped;
        for (start, chunk) in self.by_address.clone() {
            self.unmap(start, chunk);
        }
        before - self.mapped
    }

    /// Unmaps the chunk at an address if it is unused.
    fn unmap(&mut self, start: usize, chunk: u32) {
        let Some(len) = self.chunks[chunk as usize].as_ref().map(|mapping| mapping.len()) else { return };
        if let Some(free) = self.free.first_in_chunk(chunk).filter(|free| free.len as usize * UNIT == len) {
            self.free.remove(free);
            self.chunks[chunk as usize] = None;
            self.by_address.remove(&start);
            self.mapped -= len;
        }
    }

    /// Maps a chunk of at least `len` bytes.
    fn grow(&mut self, len: usize) -> Option<()> {
        let left = self.capacity.saturating_sub(self.mapped) / UNIT * UNIT;
        if len > left {
            return None;
        }
        let len = len.checked_next_multiple_of(CHUNK).map_or(left, |len| len.min(left));
        let mapping = Mapping::new(len, self.huge)?;
        if mapping.huge == HugePages::Refused {
            self.granted = HugePages::Refused;
        }
        let at = self.chunks.iter().position(Option::is_none).unwrap_or(self.chunks.len());
        if at == self.chunks.len() {
            self.chunks.push(None);
        }
        self.free.free(Range { chunk: at as u32, at: 0, len: u32::try_from(len / UNIT).ok()? });
        self.mapped += len;
        self.by_address.insert(mapping.start().as_ptr() as usize, at as u32);
        self.chunks[at] = Some(Arc::new(mapping));
        Some(())
    }

    /// Returns the number of allocated bytes, rounded up to cache lines.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// Returns the number of mapped bytes.
    pub(crate) fn mapped(&self) -> usize {
        self.mapped
    }

    pub(crate) fn huge_pages(&self) -> HugePages {
        self.granted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_are_disjoint_and_freed() {
        let mut arena = Arena::new(usize::MAX, true);
        let mut allocations: Vec<Allocation> =
            (1..2000).map(|len| arena.allocate(len * 7).unwrap()).collect();
        for (i, allocation) in allocations.iter_mut().enumerate() {
            assert_eq!(allocation.bytes().as_ptr() as usize % UNIT, 0);
            allocation.bytes_mut().fill(i as u8);
        }
        for (i, allocation) in allocations.iter().enumerate() {
            assert!(allocation.bytes().iter().all(|&b| b == i as u8));
        }
        assert!(arena.used() >= allocations.iter().map(Allocation::len).sum());
        allocations.into_iter().for_each(|allocation| arena.free(allocation));
        assert_eq!((arena.used(), arena.mapped()), (0, CHUNK));
    }

    #[test]
    fn the_capacity_is_never_exceeded() {
        let mut arena = Arena::new(1000, false);
        let first = arena.allocate(900).unwrap();
        assert!(arena.allocate(64).is_none());
        arena.free(first);
        assert_eq!(arena.allocate(960).unwrap().len(), 960);
        assert!(arena.allocate(1).is_none());
        assert!(Arena::new(63, false).allocate(1).is_none());
    }

    #[test]
    fn allocations_outlive_their_arena() {
        let mut arena = Arena::new(usize::MAX, false);
        let mut allocation = arena.allocate(100).unwrap();
        drop(arena);
        allocation.bytes_mut().fill(1);
        assert_eq!(allocation.bytes(), [1; 100]);
    }

    #[test]
    fn large_allocations_get_their_own_chunk_which_is_unmapped() {
        let mut arena = Arena::new(usize::MAX, true);
        let small = arena.allocate(1).unwrap();
        let large = arena.allocate(CHUNK + 1).unwrap();
        assert_eq!(arena.mapped(), 3 * CHUNK);
        arena.free(large);
        assert_eq!(arena.mapped(), CHUNK);
        assert_eq!((small.bytes(), arena.trim()), (&[0][..], 0));
        arena.free(small);
        assert_eq!((arena.mapped(), arena.trim(), arena.mapped()), (CHUNK, CHUNK, 0));
        assert_eq!(arena.allocate(1).unwrap().bytes(), [0]);
    }
}
