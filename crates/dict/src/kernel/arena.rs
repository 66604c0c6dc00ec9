//! Rooms of any size in chunks of mapped memory.

use core::ptr::NonNull;
use core::slice::from_raw_parts_mut;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::mapping::{HUGE, Mapping};
use crate::ranges::{Range, Ranges};
use crate::stats::HugePages;

/// Rooms begin at multiples of a cache line.
const UNIT: usize = 64;
/// Address space asked for at a time. What is not used of it takes no memory.
const CHUNK: usize = 16 * HUGE;

/// Memory of an arena that one owner has. It keeps its chunk mapped, and must go back to its arena
/// to be used again.
pub(crate) struct Room {
    chunk: Arc<Mapping>,
    /// Of the first byte, in the chunk.
    at: usize,
    /// Bytes asked for.
    len: u32,
}

impl Room {
    /// Bytes asked for.
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    fn start(&self) -> NonNull<u8> {
        // SAFETY: the arena gave a place within the mapping.
        unsafe { self.chunk.start().add(self.at) }
    }

    #[cfg(test)]
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: as in `bytes_mut`.
        unsafe { core::slice::from_raw_parts(self.start().as_ptr(), self.len()) }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the range is within the mapping, which this keeps alive, and only this room has it:
        // an arena gives a range to one room at a time. The memory was zeroed when it was mapped.
        unsafe { from_raw_parts_mut(self.start().as_ptr(), self.len()) }
    }

    /// What is kept of it where a word and a half must do. The chunk stays mapped as long as the
    /// arena is there and does not have it back.
    pub(super) fn leave(self) -> Kept {
        Kept { at: self.start(), len: self.len }
    }
}

/// A room that relies on its arena.
pub(crate) struct Kept {
    pub(super) at: NonNull<u8>,
    pub(super) len: u32,
}

/// Chunks, and which parts of them are free.
pub(crate) struct Arena {
    chunks: Vec<Option<Arc<Mapping>>>,
    /// The chunks by their addresses.
    places: BTreeMap<usize, u32>,
    free: Ranges,
    /// Bytes that may be mapped.
    capacity: usize,
    mapped: usize,
    used: usize,
    huge: bool,
    got: HugePages,
}

impl Arena {
    /// An empty arena that maps at most `capacity` bytes.
    pub(crate) fn new(capacity: usize, huge: bool) -> Self {
        let got = if huge { HugePages::Advised } else { HugePages::Off };
        Arena {
            chunks: Vec::new(),
            places: BTreeMap::new(),
            free: Ranges::default(),
            capacity,
            mapped: 0,
            used: 0,
            huge,
            got,
        }
    }

    /// Room for `len` bytes, if there is or can be.
    pub(crate) fn take(&mut self, len: usize) -> Option<Room> {
        let units = u32::try_from(len.div_ceil(UNIT).max(1)).ok()?;
        let range = match self.free.take(units) {
            Some(range) => range,
            None => {
                self.grow(units as usize * UNIT)?;
                self.free.take(units)?
            }
        };
        let chunk = self.chunks[range.chunk as usize].clone()?;
        self.used += units as usize * UNIT;
        Some(Room { chunk, at: range.at as usize * UNIT, len: u32::try_from(len).ok()? })
    }

    /// Takes back a room that was not used.
    pub(crate) fn cancel(&mut self, room: Room) {
        self.give(room.leave());
    }

    /// Takes a room back.
    pub(crate) fn give(&mut self, kept: Kept) {
        let address = kept.at.as_ptr() as usize;
        let Some((&start, &chunk)) = self.places.range(..=address).next_back() else { return };
        let at = ((address - start) / UNIT) as u32;
        let range = Range { chunk, at, len: kept.len.div_ceil(UNIT as u32).max(1) };
        self.used -= range.len as usize * UNIT;
        self.free.give(range);
        let len = self.chunks[chunk as usize].as_ref().map_or(0, |mapping| mapping.len());
        // A chunk that nobody uses goes back to the system, unless it is the only one.
        if self.mapped > len {
            self.unmap(start, chunk);
        }
    }

    /// Gives back all chunks that nobody uses. Returns their bytes.
    pub(crate) fn trim(&mut self) -> usize {
        let before = self.mapped;
        for (start, chunk) in self.places.clone() {
            self.unmap(start, chunk);
        }
        before - self.mapped
    }

    /// Gives back the chunk at an address if nobody uses it.
    fn unmap(&mut self, start: usize, chunk: u32) {
        let Some(len) = self.chunks[chunk as usize].as_ref().map(|mapping| mapping.len()) else { return };
        if let Some(free) = self.free.first_of(chunk).filter(|free| free.len as usize * UNIT == len) {
            self.free.withdraw(free);
            self.chunks[chunk as usize] = None;
            self.places.remove(&start);
            self.mapped -= len;
        }
    }

    /// Maps a chunk that has at least `len` bytes.
    fn grow(&mut self, len: usize) -> Option<()> {
        let left = self.capacity.saturating_sub(self.mapped) / UNIT * UNIT;
        if len > left {
            return None;
        }
        let len = len.checked_next_multiple_of(CHUNK).map_or(left, |len| len.min(left));
        let mapping = Mapping::new(len, self.huge)?;
        if mapping.huge == HugePages::Refused {
            self.got = HugePages::Refused;
        }
        let at = self.chunks.iter().position(Option::is_none).unwrap_or(self.chunks.len());
        if at == self.chunks.len() {
            self.chunks.push(None);
        }
        self.free.give(Range { chunk: at as u32, at: 0, len: u32::try_from(len / UNIT).ok()? });
        self.mapped += len;
        self.places.insert(mapping.start().as_ptr() as usize, at as u32);
        self.chunks[at] = Some(Arc::new(mapping));
        Some(())
    }

    /// Bytes that rooms have, whole lines.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// Bytes of chunks.
    pub(crate) fn mapped(&self) -> usize {
        self.mapped
    }

    pub(crate) fn huge_pages(&self) -> HugePages {
        self.got
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_are_apart_and_come_back() {
        let mut arena = Arena::new(usize::MAX, true);
        let mut rooms: Vec<Room> = (1..2000).map(|len| arena.take(len * 7).unwrap()).collect();
        for (i, room) in rooms.iter_mut().enumerate() {
            assert_eq!(room.bytes().as_ptr() as usize % UNIT, 0);
            room.bytes_mut().fill(i as u8);
        }
        for (i, room) in rooms.iter().enumerate() {
            assert!(room.bytes().iter().all(|&b| b == i as u8));
        }
        assert!(arena.used() >= rooms.iter().map(Room::len).sum());
        rooms.into_iter().for_each(|room| arena.cancel(room));
        assert_eq!((arena.used(), arena.mapped()), (0, CHUNK));
    }

    #[test]
    fn the_capacity_holds_to_the_byte() {
        let mut arena = Arena::new(1000, false);
        let first = arena.take(900).unwrap();
        assert!(arena.take(64).is_none());
        arena.cancel(first);
        assert_eq!(arena.take(960).unwrap().len(), 960);
        assert!(arena.take(1).is_none());
        assert!(Arena::new(63, false).take(1).is_none());
    }

    #[test]
    fn rooms_outlive_their_arena() {
        let mut arena = Arena::new(usize::MAX, false);
        let mut room = arena.take(100).unwrap();
        drop(arena);
        room.bytes_mut().fill(1);
        assert_eq!(room.bytes(), [1; 100]);
    }

    #[test]
    fn large_rooms_get_chunks_of_their_own_which_go_back() {
        let mut arena = Arena::new(usize::MAX, true);
        let small = arena.take(1).unwrap();
        let large = arena.take(CHUNK + 1).unwrap();
        assert_eq!(arena.mapped(), 3 * CHUNK);
        arena.cancel(large);
        assert_eq!(arena.mapped(), CHUNK);
        assert_eq!((small.bytes(), arena.trim()), (&[0][..], 0));
        arena.cancel(small);
        assert_eq!((arena.mapped(), arena.trim(), arena.mapped()), (CHUNK, CHUNK, 0));
        assert_eq!(arena.take(1).unwrap().bytes(), [0]);
    }
}
