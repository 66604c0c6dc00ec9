//! Tables of the objects behind handles. A handle has the number of a slot and the generation of
//! that slot. Each `free` changes the generation, so release builds, too, detect a freed handle,
//! even if its slot is in use again.
//!
//! A slot counts the calls that use it. A call that needs the slot alone fails if another call uses
//! it. So if two threads use a handle at the same time that only one may use, the later call
//! returns an error and does no harm.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use linerate_core::lock;

use crate::error::{Call, linerate_error};

/// The lowest 24 bits of a handle are the index of its slot, the next 8 bits the tag of its table,
/// and the upper 32 bits the generation of the slot.
const INDEX_BITS: u32 = 24;
const TAG_BITS: u32 = 8;
/// Number of slots in a table's first chunk. Each later chunk has as many slots as all chunks
/// before it together, and no slot ever moves.
const FIRST: usize = 64;
const CHUNKS: usize = (INDEX_BITS - FIRST.ilog2() + 1) as usize;
/// The user count of a slot that one call uses alone, and of a vacant slot.
const ALONE: u32 = u32::MAX;

struct Slot<T> {
    /// The generation in the upper half, and the number of calls that use the slot in the lower.
    state: AtomicU64,
    /// `None` if the slot is vacant, or after a call has panicked.
    value: UnsafeCell<Option<Box<T>>>,
}

fn state(generation: u32, users: u32) -> u64 {
    u64::from(generation) << 32 | u64::from(users)
}

/// The objects behind handles of one type.
pub(crate) struct Table<T> {
    tag: u8,
    chunks: [OnceLock<Box<[Slot<T>]>>; CHUNKS],
    vacant: Mutex<Vacant>,
}

struct Vacant {
    slots: Vec<u32>,
    /// Number of slots used so far, which have the lowest indices. A chunk is allocated when the
    /// first of its slots is used.
    taken: u32,
}

// SAFETY: `state` counts the calls that use a value: either one alone, or several that only read.
unsafe impl<T: Send + Sync> Sync for Table<T> {}

impl<T: Send + Sync> Table<T> {
    /// Creates an empty table. Each table needs its own tag, so that a handle of one table is not
    /// taken for one of another.
    pub(crate) const fn new(tag: u8) -> Table<T> {
        let vacant = Mutex::new(Vacant { slots: Vec::new(), taken: 0 });
        Table { tag, chunks: [const { OnceLock::new() }; CHUNKS], vacant }
    }

    /// Stores a value and returns its handle. Fails if none of the 2^24 slots is free.
    pub(crate) fn insert(&self, value: T) -> Call<u64> {
        let mut vacant = lock(&self.vacant);
        let index = match vacant.slots.pop() {
            Some(index) => index,
            None if vacant.taken < 1 << INDEX_BITS => {
                vacant.taken += 1;
                vacant.taken - 1
            }
            None => return Err(linerate_error::bad_argument(c"there are too many handles")),
        };
        let slot = self.slot_or_new(index);
        let generation = (slot.state.load(Ordering::Acquire) >> 32) as u32;
        // SAFETY: the slot was vacant, and belongs to this call alone until its handle is known.
        unsafe { *slot.value.get() = Some(Box::new(value)) };
        slot.state.store(state(generation, 0), Ordering::Release);
        Ok(u64::from(generation) << (INDEX_BITS + TAG_BITS)
            | u64::from(self.tag) << INDEX_BITS
            | u64::from(index))
    }

    /// Returns the number of the chunk that holds a slot, and the slot's position in that chunk.
    fn position(index: u32) -> (usize, usize) {
        let index = index as usize;
        let chunk = (index / FIRST + 1).next_power_of_two().ilog2() as usize;
        (chunk, if chunk == 0 { index } else { index - (FIRST << (chunk - 1)) })
    }

    fn slot_or_new(&self, index: u32) -> &Slot<T> {
        let (chunk, at) = Self::position(index);
        let len = if chunk == 0 { FIRST } else { FIRST << (chunk - 1) };
        // The first generation is 1, so that no handle is 0. A slot that never held a value counts
        // as in use.
        let slot = || Slot { state: AtomicU64::new(state(1, ALONE)), value: UnsafeCell::new(None) };
        &self.chunks[chunk].get_or_init(|| (0..len).map(|_| slot()).collect())[at]
    }

    /// Finds the slot of a handle and changes its user count with `change`, which returns an error
    /// to refuse. Fails if the handle was freed or never made, or is of another table.
    fn enter(&self, id: u64, change: impl Fn(u32) -> Call<u32>) -> Call<&Slot<T>> {
        const FREED: linerate_error =
            linerate_error::bad_argument(c"a handle that was freed or never made, or of another kind");
        let generation = (id >> (INDEX_BITS + TAG_BITS)) as u32;
        if (id >> INDEX_BITS) as u8 != self.tag {
            return Err(FREED);
        }
        let (chunk, at) = Self::position(id as u32 & ((1 << INDEX_BITS) - 1));
        let slot = self
            .chunks
            .get(chunk)
            .and_then(|chunk| chunk.get())
            .and_then(|chunk| chunk.get(at))
            .ok_or(FREED)?;
        let mut seen = slot.state.load(Ordering::Relaxed);
        loop {
            if (seen >> 32) as u32 != generation {
                return Err(FREED);
            }
            let next = state(generation, change(seen as u32)?);
            match slot.state.compare_exchange_weak(seen, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Ok(slot),
                Err(now) => seen = now,
            }
        }
    }

    /// Locks a value for one call, until the result is dropped. Fails if another call uses the
    /// value.
    pub(crate) fn lock(&self, id: u64) -> Call<Alone<'_, T>> {
        let slot = self.enter(id, |users| match users {
            0 => Ok(ALONE),
            _ => Err(linerate_error::bad_argument(c"a handle that another thread is using")),
        })?;
        let alone = Alone { slot };
        // SAFETY: the slot is ours alone.
        unsafe { present(&*alone.slot.value.get()) }?;
        Ok(alone)
    }

    /// Shares a value with other calls of `share`, until the result is dropped. Fails if a call has
    /// locked the value.
    pub(crate) fn share(&self, id: u64) -> Call<Shared<'_, T>> {
        let slot = self.enter(id, |users| match users {
            ALONE => Err(linerate_error::bad_argument(c"a handle that another thread is using")),
            users => Ok(users + 1),
        })?;
        let shared = Shared { slot };
        // SAFETY: nobody writes while the slot is shared.
        unsafe { present(&*shared.slot.value.get()) }?;
        Ok(shared)
    }

    /// Drops a value and makes its handle invalid. Fails if a call is using the value.
    pub(crate) fn free(&self, id: u64) -> Call {
        let slot = self.enter(id, |users| match users {
            0 => Ok(ALONE),
            _ => Err(linerate_error::bad_argument(c"a handle that another thread is using")),
        })?;
        // SAFETY: the slot is ours alone.
        let value = unsafe { (*slot.value.get()).take() };
        let generation = (id >> (INDEX_BITS + TAG_BITS)) as u32;
        // A slot whose generations are used up is not used again. It stays marked as in use, so its
        // last handle remains invalid.
        if let Some(next) = generation.checked_add(1) {
            slot.state.store(state(next, ALONE), Ordering::Release);
            let index = id as u32 & ((1 << INDEX_BITS) - 1);
            lock(&self.vacant).slots.push(index);
        }
        drop(value);
        Ok(())
    }

    /// Like [`Table::free`], but does nothing for the handle 0, as C's `free` does for null.
    pub(crate) fn free_unless_zero(&self, id: u64) -> Call {
        if id == 0 { Ok(()) } else { self.free(id) }
    }
}

fn present<T>(value: &Option<Box<T>>) -> Call {
    let missing = linerate_error::internal(c"an earlier call with this handle failed inside the library");
    value.as_ref().map(|_| ()).ok_or(missing)
}

/// A value that one call uses alone.
pub(crate) struct Alone<'t, T> {
    slot: &'t Slot<T>,
}

/// A value that several calls may use.
pub(crate) struct Shared<'t, T> {
    slot: &'t Slot<T>,
}

impl<T> Deref for Alone<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the slot is ours alone.
        unsafe { (*self.slot.value.get()).as_deref() }.expect("checked by `lock`")
    }
}

impl<T> DerefMut for Alone<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the slot is ours alone.
        unsafe { (*self.slot.value.get()).as_deref_mut() }.expect("checked by `lock`")
    }
}

impl<T> Drop for Alone<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // After a panic the value is not used again. It is not dropped either, since that could
            // panic again.
            // SAFETY: the slot is ours alone.
            std::mem::forget(unsafe { (*self.slot.value.get()).take() });
        }
        self.slot.state.fetch_and(u64::from(ALONE) << 32, Ordering::Release);
    }
}

impl<T> Deref for Shared<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: nobody writes while the slot is shared.
        unsafe { (*self.slot.value.get()).as_deref() }.expect("checked by `share`")
    }
}

impl<T> Drop for Shared<'_, T> {
    fn drop(&mut self) {
        self.slot.state.fetch_sub(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_handle_is_found_though_its_slot_is_taken_again() {
        let table = Table::new(3);
        let first = table.insert(1u8).unwrap_or(0);
        assert!(table.free(first).is_ok());
        let second = table.insert(2u8).unwrap_or(0);
        assert_eq!(first as u32, second as u32, "the same slot");
        assert!(table.lock(first).is_err() && table.share(first).is_err() && table.free(first).is_err());
        assert!(table.lock(second).is_ok_and(|value| *value == 2));
    }

    #[test]
    fn a_handle_in_use_is_neither_used_alone_nor_freed() {
        let table = Table::new(3);
        let id = table.insert(1u8).unwrap_or(0);
        let shared = table.share(id);
        assert!(shared.is_ok() && table.share(id).is_ok());
        assert!(table.lock(id).is_err() && table.free(id).is_err());
        drop(shared);
        let alone = table.lock(id);
        assert!(alone.is_ok() && table.share(id).is_err() && table.free(id).is_err());
        drop(alone);
        assert!(table.free(id).is_ok());
    }

    #[test]
    fn handles_of_other_tables_and_any_numbers_are_found() {
        let (table, other) = (Table::new(3), Table::new(4));
        let id = table.insert(1u8).unwrap_or(0);
        assert!(other.insert(1u8).is_ok_and(|of_other| of_other != id));
        assert!(other.lock(id).is_err());
        for number in [0, 1, u64::MAX, 3 << 24, 1 << 32 | 3 << 24 | 64, 1 << 32 | 3 << 24 | 0xff_ffff] {
            assert!(table.lock(number).is_err() && table.free(number).is_err(), "{number:x}");
        }
    }

    #[test]
    fn many_handles_have_slots_of_their_own() {
        let table = Table::new(3);
        let ids: Vec<u64> = (0..1000u32).map(|i| table.insert(i).unwrap_or(0)).collect();
        for (i, id) in ids.iter().enumerate() {
            assert!(table.share(*id).is_ok_and(|value| *value == i as u32), "{i}");
        }
    }

    #[test]
    fn a_value_that_a_panic_has_left_is_only_freed() {
        let table = Table::new(3);
        let id = table.insert(1u8).unwrap_or(0);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _alone = table.lock(id);
            panic!("as intended");
        }));
        assert!(panicked.is_err());
        assert!(
            table.lock(id).is_err_and(|e| e.kind == crate::error::linerate_kind::LINERATE_INTERNAL as i32)
        );
        assert!(table.free(id).is_ok() && table.free(id).is_err());
    }
}
