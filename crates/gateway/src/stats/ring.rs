//! A bounded buffer between decoders and the thread that collects: the thread waits for no decoder, and no decoder waits
//! for it.
//!
//! It has ring buffers of one writer and one reader (Lamport 1983), each leased to the working memory of one thread until that
//! is dropped or used for another buffer. Where that ring is full, or there are more threads than rings, items go to a
//! common ring behind a lock of the writers, which a writer tries to take [`TRIES`] times; if that fails, it drops the item and
//! counts it. The reader takes no lock: what it does with items may last, and no writer drops any because of it.
//!
//! Items of one thread may be taken in another order than they were written in: those in the common ring come last.
//!
//! Leases are not in thread-local variables: one with a destructor would keep a library from being unloaded while the
//! thread lives.
//!
//! A writer of its own ring uses no locked instruction: after a message these would wait until all that was written of it
//! is in the cache.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Threads with a ring of their own.
const RINGS: usize = 8;

/// How often a writer tries to take the lock of the common ring, about 2 microseconds in all. Another writer holds it for
/// some 20 nanoseconds, unless the system has stopped that thread meanwhile.
const TRIES: usize = 64;

/// What is buffered.
pub(super) type Item = [u64; 4];

/// Which rings are leased.
type Leased = Arc<[AtomicBool; RINGS]>;

/// The lease of a ring, which ends when this is dropped.
pub(crate) struct Lease {
    leased: Leased,
    index: usize,
}

impl Drop for Lease {
    fn drop(&mut self) {
        // The next writer goes on where this one has stopped.
        self.leased[self.index].store(false, Ordering::Release);
    }
}

/// Who writes an item: the holder of the lease of a ring, or somebody without a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Writer(Option<usize>);

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
    common: Ring,
    /// Held while an item is written to `common`.
    common_writer: Mutex<()>,
    dropped: AtomicU64,
}

impl Buffer {
    /// Allocates room for at least `capacity` items that no thread has for itself, and as many in rings of threads.
    pub(super) fn new(capacity: usize) -> Self {
        Buffer {
            rings: std::array::from_fn(|_| Ring::new(capacity.div_ceil(RINGS))),
            leased: Arc::default(),
            common: Ring::new(capacity),
            common_writer: Mutex::new(()),
            dropped: AtomicU64::new(0),
        }
    }

    /// The writer that holds `lease`, which becomes one of this buffer's if a ring is free.
    pub(super) fn writer(&self, lease: &mut Option<Lease>) -> Writer {
        match lease {
            Some(lease) if Arc::ptr_eq(&lease.leased, &self.leased) => Writer(Some(lease.index)),
            _ => self.lease(lease),
        }
    }

    /// Leases a ring, if one is free; ends the lease of another buffer's.
    #[cold]
    fn lease(&self, lease: &mut Option<Lease>) -> Writer {
        let free = |leased: &AtomicBool| {
            !leased.load(Ordering::Relaxed)
                && leased.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
        };
        let index = self.leased.iter().position(free);
        *lease = index.map(|index| Lease { leased: Arc::clone(&self.leased), index });
        Writer(index)
    }

    /// Adds an item, or drops and counts it if there is no room. Returns whether the reader should come soon. The lease of
    /// `writer` must be held, and by one thread at a time.
    pub(super) fn push(&self, Writer(writer): Writer, item: &Item) -> bool {
        let Some(ring) = writer.map(|index| &self.rings[index]) else { return self.push_common(item) };
        match ring.push(item) {
            Some(waiting) => waiting == ring.slots.len().div_ceil(2),
            None => self.push_common(item),
        }
    }

    #[cold]
    fn push_common(&self, item: &Item) -> bool {
        let try_lock = |_| {
            let writer = self.common_writer.try_lock().ok();
            if writer.is_none() {
                std::hint::spin_loop();
            }
            writer
        };
        if let Some(_writer) = (0..TRIES).find_map(try_lock)
            && let Some(waiting) = self.common.push(item)
        {
            return waiting == self.common.slots.len().div_ceil(2);
        }
        self.dropped.fetch_add(1, Ordering::Relaxed);
        false
    }

    /// Takes what is there, in order within each ring, and hands it to `each`. One thread at a time calls this.
    pub(super) fn drain(&self, mut each: impl FnMut(Item)) {
        self.rings.iter().chain([&self.common]).for_each(|ring| ring.drain(&mut each));
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
        let mut lease = None;
        let writer = buffer.writer(&mut lease);
        // The leased ring, then the common one.
        let soon = (0..100).filter(|&i| buffer.push(writer, &[i; 4])).collect::<Vec<_>>();
        assert_eq!((soon, buffer.dropped()), (vec![1, 3 + 2 * RINGS as u64], 100 - 4 - 4 * RINGS as u64));
        assert!(drained(&buffer).into_iter().eq(0..4 + 4 * RINGS as u64));
        assert!(drained(&buffer).is_empty());
        assert!(!buffer.push(writer, &[7; 4]));
        assert_eq!(drained(&buffer), [7]);
    }

    #[test]
    fn items_of_many_threads_arrive_once_or_are_counted() {
        const EACH: usize = if cfg!(miri) { 300 } else { 20_000 };
        const THREADS: usize = 2 * RINGS;
        let buffer = Buffer::new(64);
        let mut seen = vec![false; THREADS * EACH];
        std::thread::scope(|scope| {
            let write = |thread: usize| {
                let items = thread * EACH..(thread + 1) * EACH;
                let buffer = &buffer;
                scope.spawn(move || {
                    let mut lease = None;
                    items.for_each(|item| _ = buffer.push(buffer.writer(&mut lease), &[item as u64; 4]));
                })
            };
            let threads: Vec<_> = (0..THREADS).map(write).collect();
            loop {
                let done = threads.iter().all(std::thread::ScopedJoinHandle::is_finished);
                for item in drained(&buffer) {
                    assert!(!std::mem::replace(&mut seen[item as usize], true), "{item} came twice");
                }
                if done {
                    break;
                }
            }
        });
        let count = seen.iter().filter(|&&seen| seen).count();
        assert_eq!(count as u64 + buffer.dropped(), seen.len() as u64);
        assert!(count > 0);
    }

    #[test]
    fn writers_without_a_ring_drop_nothing_while_the_reader_is_at_an_item() {
        let (buffer, mut lease) = (Buffer::new(4), None);
        // More than the leased ring has room for.
        (0..3).for_each(|i| _ = buffer.push(buffer.writer(&mut lease), &[i; 4]));
        let mut seen = Vec::new();
        buffer.drain(|item| {
            if item[0] == 1 {
                // This one is in the common ring, as those that are written now.
                (3..5).for_each(|i| _ = buffer.push_common(&[i; 4]));
            }
            seen.push(item[0]);
        });
        seen.extend(drained(&buffer));
        assert_eq!((seen, buffer.dropped()), ((0..5).collect(), 0));
    }

    #[test]
    fn dropped_leases_leave_their_rings_to_others() {
        let buffer = Buffer::new(RINGS);
        for i in 0..3 * RINGS as u64 {
            let mut lease = None;
            assert_eq!(buffer.writer(&mut lease), Writer(Some(0)));
            buffer.push(buffer.writer(&mut lease), &[i; 4]);
            assert_eq!(drained(&buffer), [i]);
        }
        let mut leases = [const { None }; RINGS + 1];
        let writers = leases.each_mut().map(|lease| buffer.writer(lease));
        assert!(writers.iter().enumerate().all(|(i, writer)| *writer == Writer((i < RINGS).then_some(i))));
        // One lease is of one buffer.
        let (other, [lease, ..]) = (Buffer::new(RINGS), &mut leases);
        for _ in 0..3 {
            for (one, another) in [(&other, &buffer), (&buffer, &other)] {
                one.push(one.writer(lease), &[1; 4]);
                assert!(one.leased[0].load(Ordering::Relaxed) && !another.leased[0].load(Ordering::Relaxed));
            }
        }
        assert_eq!((drained(&buffer), drained(&other)), (vec![1; 3], vec![1; 3]));
    }

    #[test]
    fn writer_that_finds_the_common_ring_taken_gives_up() {
        let (buffer, mut lease) = (Buffer::new(1), None);
        let writer = buffer.writer(&mut lease);
        buffer.push(writer, &[1; 4]);
        let common = buffer.common_writer.lock().unwrap();
        assert!(!buffer.push(writer, &[2; 4]));
        drop(common);
        assert_eq!((drained(&buffer), buffer.dropped()), (vec![1], 1));
    }
}
