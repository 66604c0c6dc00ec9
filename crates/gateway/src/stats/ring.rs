//! A bounded buffer between decoders and the thread that collects: nobody waits for a decoder, and no decoder waits.
//!
//! It has ring buffers of one writer and one reader (Lamport 1983), each leased to one thread until that ends or writes to
//! another buffer. A thread whose ring is full, or that has none since there are more threads than rings, writes to a
//! common ring behind a lock that it only tries to take; if that fails, it drops the item and counts it.
//!
//! A writer of its own ring uses no locked instruction: after a message these would wait until all that was written of it
//! is in the cache.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Threads with a ring of their own.
const RINGS: usize = 8;

/// What is buffered.
pub(super) type Item = [u64; 4];

/// Which rings are leased.
type Leased = Arc<[AtomicBool; RINGS]>;

/// The lease of a thread, which ends with it.
struct Lease {
    leased: Leased,
    index: usize,
}

impl Drop for Lease {
    fn drop(&mut self) {
        MINE.set((0, 0));
        // The next writer goes on where this one has stopped.
        self.leased[self.index].store(false, Ordering::Release);
    }
}

thread_local! {
    static LEASE: Cell<Option<Lease>> = const { Cell::new(None) };
    /// The same, without a destructor that would be asked for at each access: the buffer's [`Buffer::id`], and the index.
    static MINE: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// A ring buffer of one writer and one reader, who have different cache lines.
#[repr(align(128))]
struct Ring {
    /// Items written since the beginning.
    written: AtomicUsize,
    /// As many as a power of two.
    slots: Box<[[AtomicU64; 4]]>,
    taken: Taken,
}

/// Items taken since the beginning.
#[repr(align(128))]
struct Taken(AtomicUsize);

impl Ring {
    fn new(capacity: usize) -> Self {
        let slots = (0..capacity.next_power_of_two()).map(|_| Default::default()).collect();
        Ring { written: AtomicUsize::new(0), slots, taken: Taken(AtomicUsize::new(0)) }
    }

    /// Adds an item; returns how many there are then, or `None` if there is no room. One thread at a time calls this.
    fn push(&self, item: &Item) -> Option<usize> {
        let written = self.written.load(Ordering::Relaxed);
        // Pairs with the release in `drain`: what is overwritten was read.
        let waiting = written.wrapping_sub(self.taken.0.load(Ordering::Acquire));
        if waiting == self.slots.len() {
            return None;
        }
        let slot = &self.slots[written & (self.slots.len() - 1)];
        slot.iter().zip(item).for_each(|(word, &value)| word.store(value, Ordering::Relaxed));
        self.written.store(written.wrapping_add(1), Ordering::Release);
        Some(waiting + 1)
    }

    /// Takes what is there. One thread at a time calls this.
    fn drain(&self, mut each: impl FnMut(Item)) {
        let mut taken = self.taken.0.load(Ordering::Relaxed);
        let written = self.written.load(Ordering::Acquire);
        while taken != written {
            let slot = &self.slots[taken & (self.slots.len() - 1)];
            each(std::array::from_fn(|i| slot[i].load(Ordering::Relaxed)));
            taken = taken.wrapping_add(1);
            self.taken.0.store(taken, Ordering::Release);
        }
    }
}

/// A bounded buffer for many writers and one reader.
pub(super) struct Buffer {
    rings: [Ring; RINGS],
    leased: Leased,
    common: Mutex<Ring>,
    dropped: AtomicU64,
}

impl Buffer {
    /// Allocates room for at least `capacity` items that no thread has for itself, and as many in rings of threads.
    pub(super) fn new(capacity: usize) -> Self {
        Buffer {
            rings: std::array::from_fn(|_| Ring::new(capacity.div_ceil(RINGS))),
            leased: Arc::default(),
            common: Mutex::new(Ring::new(capacity)),
            dropped: AtomicU64::new(0),
        }
    }

    /// Identifies the buffer among those of leases, which keep this address in use.
    fn id(&self) -> usize {
        Arc::as_ptr(&self.leased).addr()
    }

    /// Adds an item, or drops and counts it if there is no room. Returns whether the reader should come soon.
    pub(super) fn push(&self, item: &Item) -> bool {
        let (id, index) = MINE.get();
        let mine = if id == self.id() { Some(index) } else { self.lease() };
        let Some(ring) = mine.map(|index| &self.rings[index]) else { return self.push_common(item) };
        match ring.push(item) {
            Some(waiting) => waiting == ring.slots.len().div_ceil(2),
            None => self.push_common(item),
        }
    }

    /// Leases a ring to this thread, if one is free; ends its lease of another buffer's.
    #[cold]
    fn lease(&self) -> Option<usize> {
        // Fails only while the thread ends.
        LEASE.try_with(|lease| drop(lease.take())).ok()?;
        let free = |leased: &AtomicBool| {
            !leased.load(Ordering::Relaxed)
                && leased.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
        };
        let index = self.leased.iter().position(free)?;
        LEASE.set(Some(Lease { leased: Arc::clone(&self.leased), index }));
        MINE.set((self.id(), index));
        Some(index)
    }

    #[cold]
    fn push_common(&self, item: &Item) -> bool {
        if let Ok(ring) = self.common.try_lock()
            && let Some(waiting) = ring.push(item)
        {
            return waiting == ring.slots.len().div_ceil(2);
        }
        self.dropped.fetch_add(1, Ordering::Relaxed);
        false
    }

    /// Takes what is there, in order within each thread, and hands it to `each`. One thread at a time calls this.
    pub(super) fn drain(&self, mut each: impl FnMut(Item)) {
        self.rings.iter().for_each(|ring| ring.drain(&mut each));
        linerate_core::lock(&self.common).drain(each);
    }

    /// Items dropped.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drained(buffer: &Buffer) -> Vec<u64> {
        let mut seen = Vec::new();
        buffer.drain(|item| {
            assert_eq!(item, [item[0]; 4]);
            seen.push(item[0]);
        });
        seen
    }

    #[test]
    fn full_buffer_drops_and_counts() {
        let buffer = Buffer::new(4 * RINGS);
        // The ring of this thread, then the common one.
        let soon = (0..100).filter(|&i| buffer.push(&[i; 4])).collect::<Vec<_>>();
        assert_eq!((soon, buffer.dropped()), (vec![1, 3 + 2 * RINGS as u64], 100 - 4 - 4 * RINGS as u64));
        assert!(drained(&buffer).into_iter().eq(0..4 + 4 * RINGS as u64));
        assert!(drained(&buffer).is_empty());
        assert!(!buffer.push(&[7; 4]));
        assert_eq!(drained(&buffer), [7]);
    }

    #[test]
    fn items_of_many_threads_arrive_in_order_or_are_counted() {
        const EACH: u64 = if cfg!(miri) { 300 } else { 20_000 };
        let buffer = Buffer::new(64);
        let mut next = [0; 2 * RINGS];
        let mut count = 0;
        std::thread::scope(|scope| {
            let write = |thread: u64| {
                let buffer = &buffer;
                scope.spawn(move || (0..EACH).for_each(|i| _ = buffer.push(&[thread << 32 | i; 4])))
            };
            let threads: Vec<_> = (0..next.len() as u64).map(write).collect();
            loop {
                let done = threads.iter().all(std::thread::ScopedJoinHandle::is_finished);
                for item in drained(&buffer) {
                    let (thread, i) = ((item >> 32) as usize, item & u64::from(u32::MAX));
                    assert!(i >= next[thread], "{i} of {thread} comes after {}", next[thread]);
                    (next[thread], count) = (i + 1, count + 1);
                }
                if done {
                    break;
                }
            }
        });
        assert_eq!(count + buffer.dropped(), EACH * next.len() as u64);
        assert!(count > 0);
    }

    #[test]
    fn threads_that_end_leave_their_rings_to_others() {
        let buffer = Buffer::new(RINGS);
        for i in 0..3 * RINGS as u64 {
            std::thread::scope(|scope| scope.spawn(|| buffer.push(&[i; 4])).join()).unwrap();
            assert!(buffer.leased.iter().all(|leased| !leased.load(Ordering::Relaxed)));
            assert_eq!(drained(&buffer), [i]);
        }
        // A thread has one lease.
        let other = Buffer::new(RINGS);
        for _ in 0..3 {
            for (one, another) in [(&buffer, &other), (&other, &buffer)] {
                one.push(&[1; 4]);
                assert!(one.leased[0].load(Ordering::Relaxed) && !another.leased[0].load(Ordering::Relaxed));
            }
        }
        assert_eq!((drained(&buffer), drained(&other)), (vec![1; 3], vec![1; 3]));
    }

    #[test]
    fn writer_that_finds_the_common_ring_taken_does_not_wait() {
        let buffer = Buffer::new(1);
        buffer.push(&[1; 4]);
        let common = buffer.common.lock().unwrap();
        assert!(!buffer.push(&[2; 4]));
        drop(common);
        assert_eq!((drained(&buffer), buffer.dropped()), (vec![1], 1));
    }
}
