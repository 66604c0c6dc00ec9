//! Model of the slots and of reclamation. loom runs two threads in every order that the memory
//! orderings allow, with few preemptions.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p linerate-dict --release --lib model`

use std::sync::Arc;

use linerate_zstd::Dictionary;
use loom::model::Builder;
use loom::sync::Mutex;
use loom::thread;

use crate::store::{Store, StoreOptions};
use crate::sys::{Arena, Eviction, NewContent, Pin, Slot};

/// A trained dictionary, which has tables.
const TRAINED: &[u8] = include_bytes!("../../../../testdata/zstd/tree-11.dict");

/// Tries the orders with at most this many preemptions.
fn explore(preemptions: usize, threads: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(threads);
}

fn content(arena: &mut Arena, bytes: &[u8]) -> NewContent {
    let mut allocation = arena.allocate(bytes.len()).expect("memory");
    allocation.bytes_mut().copy_from_slice(bytes);
    NewContent::Bytes(allocation, Dictionary::measure(bytes).expect("a dictionary"))
}

fn fill(slot: &Slot, arena: &mut Arena, bytes: &[u8]) -> u32 {
    slot.fill(content(arena, bytes), 1).ok().expect("a vacant slot")
}

fn make_tables(pin: &Pin<'_>, arena: &mut Arena) -> bool {
    matches!(pin.make_tables(|len| arena.allocate(len)), Ok(true))
}

#[test]
fn pinned_bytes_stay_when_the_slot_is_retired_and_filled_again() {
    explore(4, || {
        let mut arena = Arena::new(usize::MAX, false);
        let slot = Arc::new(Slot::vacant());
        let first = fill(&slot, &mut arena, &[1; 64]);
        let reader = {
            let slot = slot.clone();
            thread::spawn(move || {
                let Some(pin) = slot.pin(first, None) else { return };
                let bytes = pin.bytes();
                // Another thread may run between these accesses.
                assert!(pin.is_loaded() && bytes == [1; 64]);
                assert_eq!(pin.digested().expect("it needs no tables").content, [1; 64]);
            })
        };
        assert!(slot.retire(first));
        if let Some(reclaimed) = slot.reclaim() {
            arena.free_raw(reclaimed.raw.expect("its bytes"));
            let second = fill(&slot, &mut arena, &[2; 64]);
            assert!(second != first && slot.pin(first, None).is_none());
        }
        reader.join().expect("a reader");
        assert!(slot.reclaim().is_some() || slot.has(first + 1));
    });
}

#[test]
fn tables_in_use_are_not_evicted() {
    explore(3, || {
        let mut arena = Arena::new(usize::MAX, false);
        let slot = Arc::new(Slot::vacant());
        let generation = fill(&slot, &mut arena, TRAINED);
        let pin = slot.pin(generation, None).expect("live");
        assert!(make_tables(&pin, &mut arena));
        let expected = pin.digested().expect("tables").tables.to_vec();
        drop(pin);
        let reader = {
            let slot = slot.clone();
            thread::spawn(move || {
                let pin = slot.pin(generation, None).expect("live");
                let Some(digested) = pin.digested() else { return };
                assert!(pin.is_loaded() && digested.tables == expected);
            })
        };
        for _ in 0..2 {
            if let Eviction::Freed(Some(raw)) = slot.evict() {
                arena.free_raw(raw);
                // The memory has another owner now.
                arena.allocate(4096).expect("memory").bytes_mut().fill(0xaa);
            }
        }
        reader.join().expect("a reader");
    });
}

#[test]
fn tables_are_made_by_one_thread() {
    explore(3, || {
        let arena = Arc::new(Mutex::new(Arena::new(usize::MAX, false)));
        let slot = Arc::new(Slot::vacant());
        let generation = fill(&slot, &mut arena.lock().expect("no panic"), TRAINED);
        let make = {
            let (slot, arena) = (slot.clone(), arena.clone());
            move || {
                let pin = slot.pin(generation, None).expect("live");
                let made = make_tables(&pin, &mut arena.lock().expect("no panic"));
                assert!(!made || pin.digested().is_some());
                made
            }
        };
        let other = thread::spawn(make.clone());
        let made = [make(), other.join().expect("a thread")];
        assert_eq!(made.iter().filter(|made| **made).count(), 1);
        assert!(slot.pin(generation, None).expect("live").digested().is_some());
    });
}

#[test]
fn last_reader_or_the_holder_of_the_lock_reclaims() {
    explore(3, || {
        let store = Store::with_options(StoreOptions::new().huge_pages(false));
        let id = store.insert(&[7; 64]).expect("memory");
        let reader = {
            let store = store.clone();
            thread::spawn(move || drop(store.shared().pin(id)))
        };
        assert_eq!(store.release(id), Ok(true));
        reader.join().expect("a reader");
        let stats = store.stats();
        assert_eq!((stats.dictionaries, stats.raw_bytes), (0, 0));
    });
}
