//! A bounded buffer between the decoders and the collecting thread. Neither side waits for the
//! other.
//!
//! It consists of ring buffers with one writer and one reader each (Lamport 1983). A ring is leased
//! to the scratch of one thread, until that scratch is dropped or used with another buffer. If the
//! ring is full, or if there are more threads than rings, an item goes to a common ring. Writers of
//! the common ring take a lock, which each tries [`TRIES`] times; if that fails, or if the common
//! ring is full, it drops the item and counts it. The reader takes no lock, so a reader that is
//! slow with an item makes no writer drop one while there is room.
//!
//! The reader may get the items of one thread out of order, since it takes those in the common ring
//! last.
//!
//! Leases are not in thread-local variables, because a thread-local variable with a destructor
//! would keep a library from being unloaded while the thread lives.
//!
//! A writer to its own ring uses no locked instruction. After a message such an instruction would
//! wait until everything that decoding wrote has reached the cache.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Number of threads that can have a ring of their own.
const RINGS: usize = 8;

/// How often a writer tries to take the lock of the common ring before it drops the item. All
/// attempts together take about 2 microseconds. Another writer holds the lock for about 20
/// nanoseconds, unless the system suspends its thread meanwhile.
const TRIES: usize = 64;

/// An item of the buffer: the words of a [`Sample`](super::sample::Sample).
pub(super) type Item = [u64; 4];

/// Flags that tell which rings are leased.
type Leased = Arc<[AtomicBool; RINGS]>;

/// The lease of a ring. It ends on drop.
pub(crate) struct Lease {
    leased: Leased,
    index: usize,
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Release: the next holder continues writing where this one stopped.
        self.leased[self.index].store(false, Ordering::Release);
    }
}

/// The writer of an item: the index of the ring that it leases, or `None` if it has no ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Writer(Option<usize>);

/// A ring buffer with one writer and one reader, whose counters are in different cache lines.
#[repr(align(128))]
struct Ring {
    /// Number of items written since the beginning.
    written: AtomicUsize,
    /// The length is a power of two.
    slots: Box<[[AtomicU64; 4]]>,
    taken: Taken,
}

/// Number of items taken since the beginning.
#[repr(align(128))]
struct Taken(AtomicUsize);

impl Ring {
    fn new(capacity: usize) -> Self {
        let slots = (0..capacity.next_power_of_two()).map(|_| Default::default()).collect();
        Ring { written: AtomicUsize::new(0), slots, taken: Taken(AtomicUsize::new(0)) }
    }

    /// Adds an item. Returns the number of items that then wait, or `None` if there is no room.
    /// Only one thread at a time may call this.
    fn push(&self, item: &Item) -> Option<usize> {
        let written = self.written.load(Ordering::Relaxed);
        // Pairs with the release in `drain`, so that a slot is overwritten only after it was read.
        let waiting = written.wrapping_sub(self.taken.0.load(Ordering::Acquire));
        if waiting == self.slots.len() {
            return None;
        }
        let slot = &self.slots[written & (self.slots.len() - 1)];
        slot.iter().zip(item).for_each(|(word, &value)| word.store(value, Ordering::Relaxed));
        self.written.store(written.wrapping_add(1), Ordering::Release);
        Some(waiting + 1)
    }

    /// Takes the items written so far and passes them to `each`. Only one thread at a time may call
    /// this.
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
    /// The lock that a writer holds while it writes an item to `common`.
    common_writer: Mutex<()>,
    dropped: AtomicU64,
}

impl Buffer {
    /// Allocates room for at least `capacity` items in the common ring, and for as many in the
    /// rings of single threads.
    pub(super) fn new(capacity: usize) -> Self {
        Buffer {
            rings: std::array::from_fn(|_| Ring::new(capacity.div_ceil(RINGS))),
            leased: Arc::default(),
            common: Ring::new(capacity),
            common_writer: Mutex::new(()),
            dropped: AtomicU64::new(0),
        }
    }

    /// Returns the writer for `lease`. A `lease` that is empty or of another buffer is replaced by
    /// a lease of this buffer or, if no ring is free, by `None`.
    pub(super) fn writer(&self, lease: &mut Option<Lease>) -> Writer {
        match lease {
            Some(lease) if Arc::ptr_eq(&lease.leased, &self.leased) => Writer(Some(lease.index)),
            _ => self.lease(lease),
        }
    }

    /// Leases a ring, if one is free, and ends the previous lease.
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

    /// Adds an item, or drops and counts it if there is no room or the common ring stays locked.
    /// Returns whether the reader should be woken, since this item makes a ring half full. The
    /// lease of `writer` must be held, by one thread at a time.
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

    /// Takes the items written so far, in order within each ring, and passes them to `each`. Only
    /// one thread at a time may call this.
    pub(super) fn drain(&self, mut each: impl FnMut(Item)) {
        self.rings.iter().chain([&self.common]).for_each(|ring| ring.drain(&mut each));
    }

    /// Number of items dropped.
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
        // These are more than the leased ring has room for.
        (0..3).for_each(|i| _ = buffer.push(buffer.writer(&mut lease), &[i; 4]));
        let mut seen = Vec::new();
        buffer.drain(|item| {
            if item[0] == 1 {
                // Item 1 is in the common ring, to which these are added while the reader has it.
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
        // A lease holds a ring of one buffer only, even if it is used with two in turn.
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
