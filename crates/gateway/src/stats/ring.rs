//! A bounded buffer between decoders and the thread that collects: nobody waits for a decoder, and no decoder waits.
//!
//! It is several vectors of fixed capacity, each behind a lock that decoders only try to take. A decoder begins at
//! the vector of its thread; where that is full or taken it tries the others, then drops the record and counts it.

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use linerate_core::lock;

/// Vectors; more threads than this share them.
const PARTS: usize = 8;

/// Counts threads.
static THREADS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// Number of the thread, once it has one.
    static THREAD: Cell<Option<u32>> = const { Cell::new(None) };
}

/// A vector on cache lines of its own.
#[repr(align(128))]
struct Part<T>(Mutex<Vec<T>>);

/// A bounded buffer of `T` for many writers and one reader.
pub(super) struct Ring<T> {
    parts: [Part<T>; PARTS],
    dropped: AtomicU64,
}

impl<T> Ring<T> {
    /// Allocates room for at least `capacity` items.
    pub(super) fn new(capacity: usize) -> Self {
        let each = capacity.div_ceil(PARTS).max(1);
        let part = |_| Part(Mutex::new(Vec::with_capacity(each)));
        Ring { parts: std::array::from_fn(part), dropped: AtomicU64::new(0) }
    }

    /// Adds an item, or drops and counts it if there is no room. Returns whether the reader should come soon.
    pub(super) fn push(&self, item: T) -> bool {
        let first = thread_number() as usize;
        for i in 0..PARTS {
            let Ok(mut part) = self.parts[(first + i) % PARTS].0.try_lock() else { continue };
            if part.len() < part.capacity() {
                part.push(item);
                return part.len() == part.capacity() / 2;
            }
        }
        self.dropped.fetch_add(1, Ordering::Relaxed);
        false
    }

    /// Takes what is there, in order within each thread, and hands it to `each`. `spare` is an empty vector of the
    /// caller, which changes places with those of the ring.
    pub(super) fn drain(&self, spare: &mut Vec<T>, mut each: impl FnMut(T)) {
        for part in &self.parts {
            let mut taken = lock(&part.0);
            if taken.is_empty() {
                continue;
            }
            spare.reserve_exact(taken.capacity());
            std::mem::swap(&mut *taken, spare);
            drop(taken);
            spare.drain(..).for_each(&mut each);
        }
    }

    /// Items dropped.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

fn thread_number() -> u32 {
    THREAD.with(|number| {
        let known = number.get().unwrap_or_else(|| THREADS.fetch_add(1, Ordering::Relaxed));
        number.set(Some(known));
        known
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_ring_drops_and_counts() {
        let ring = Ring::new(2 * PARTS);
        let soon = (0..3 * PARTS).filter(|i| ring.push(*i)).count();
        assert_eq!((soon, ring.dropped()), (PARTS, PARTS as u64));
        let (mut spare, mut seen) = (Vec::new(), Vec::new());
        ring.drain(&mut spare, |i| seen.push(i));
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..2 * PARTS));
        ring.drain(&mut spare, |i| panic!("{i} was taken twice"));
        assert_eq!(ring.dropped(), PARTS as u64);
    }

    #[test]
    fn items_of_many_threads_arrive_or_are_counted() {
        const EACH: u64 = 20_000;
        let ring = Ring::new(64);
        let (mut sum, mut count) = (0, 0);
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..4).map(|_| scope.spawn(|| (0..EACH).for_each(|i| _ = ring.push(i)))).collect();
            let mut spare = Vec::new();
            loop {
                let done = threads.iter().all(std::thread::ScopedJoinHandle::is_finished);
                ring.drain(&mut spare, |i| (sum, count) = (sum + i, count + 1));
                if done {
                    break;
                }
            }
        });
        assert_eq!(count + ring.dropped(), 4 * EACH);
        assert!(sum <= 4 * (EACH - 1) * EACH / 2 && count > 0);
    }

    #[test]
    fn writer_that_finds_all_parts_taken_does_not_wait() {
        let ring = Ring::new(PARTS);
        let taken: Vec<_> = ring.parts.iter().map(|part| part.0.lock().unwrap()).collect();
        assert!(!ring.push(1));
        drop(taken);
        assert_eq!(ring.dropped(), 1);
    }
}
