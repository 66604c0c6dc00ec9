//! A pool of scratch for programs with a thread per connection.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, TryLockError};

use crate::scratch::Scratch;

/// A pool of [`Scratch`] for any number of threads. Its size depends on how many decode at the same
/// time.
///
/// A client with a thread per connection would otherwise hold a [`Scratch`] for each, many times
/// the memory of its sessions. With a pool, a thread takes a scratch while it decodes a message and
/// copies the payload out. No thread waits: if all are in use, a temporary one is allocated.
///
/// A thread takes the first free scratch, so few are used, and those stay in the CPU's caches. Each
/// unused one holds at most 320 KiB for zstd, 16 KiB for zlib, and a payload buffer of 1 MiB. Only
/// the first, which is used most, keeps a larger buffer until 256 messages in a row were small.
///
/// ```
/// use linerate_gateway::{Encoder, Limits, ScratchPool, Session, Transport};
///
/// static POOL: ScratchPool = ScratchPool::new(16);
///
/// let mut wire = Vec::new();
/// Encoder::new(Transport::Zlib)?.message(b"{}", &mut wire)?;
/// let mut session = Session::new(Transport::Zlib, Limits::new());
/// let len = POOL.with(|scratch| {
///     session.message(&wire, scratch).map(|message| message.map_or(0, |m| m.payload.len()))
/// })?;
/// assert_eq!(len, 2);
/// # Ok::<(), linerate_gateway::SessionError>(())
/// ```
pub struct ScratchPool {
    slots: [Slot; ScratchPool::MAX],
    max: usize,
}

/// A slot of the pool. Slots are aligned to two cache lines, because different threads write
/// neighbouring slots.
#[repr(align(128))]
struct Slot(Mutex<Scratch>);

impl ScratchPool {
    /// Upper bound of the pool's size.
    const MAX: usize = 64;

    /// Creates a pool that keeps at most `max` scratches, and never more than 64. Each is allocated
    /// on first use. As many as there are processors are enough.
    pub const fn new(max: usize) -> Self {
        let max = if max > Self::MAX { Self::MAX } else { max };
        ScratchPool { slots: [const { Slot(Mutex::new(Scratch::empty())) }; Self::MAX], max }
    }

    /// Calls `decode` with a scratch for exclusive use.
    pub fn with<T>(&self, decode: impl FnOnce(&mut Scratch) -> T) -> T {
        decode(&mut self.acquire())
    }

    /// Takes a scratch for exclusive use until the guard is dropped.
    pub fn acquire(&self) -> PooledScratch<'_> {
        let free =
            self.slots[..self.max].iter().enumerate().find_map(|(i, slot)| Some((i, slot.try_acquire()?)));
        PooledScratch(match free {
            Some((index, scratch)) => Source::Slot { scratch, first: index == 0 },
            None => Source::Temporary(Box::default()),
        })
    }

    /// Upper bound of the number of bytes held by the pool's scratches that are not in use.
    pub fn memory(&self) -> usize {
        self.slots.iter().filter_map(Slot::try_acquire).map(|scratch| scratch.memory()).sum()
    }

    /// Frees the memory of all scratches that are not in use.
    pub fn clear(&self) {
        self.slots.iter().filter_map(Slot::try_acquire).for_each(|mut scratch| *scratch = Scratch::empty());
    }
}

impl Slot {
    /// Locks the scratch of the slot, unless it is in use.
    fn try_acquire(&self) -> Option<MutexGuard<'_, Scratch>> {
        match self.0.try_lock() {
            Ok(scratch) => Some(scratch),
            // No message depends on the content of a scratch, so a panic while it was in use does
            // no harm.
            Err(TryLockError::Poisoned(scratch)) => Some(scratch.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// A [`Scratch`] from a [`ScratchPool`]. On drop it returns to the pool, or is freed if it is a
/// temporary one.
pub struct PooledScratch<'p>(Source<'p>);

enum Source<'p> {
    /// A slot of the pool, whose lock excludes other threads.
    Slot { scratch: MutexGuard<'p, Scratch>, first: bool },
    /// A temporary scratch, because all slots were in use.
    Temporary(Box<Scratch>),
}

impl Deref for PooledScratch<'_> {
    type Target = Scratch;

    fn deref(&self) -> &Scratch {
        match &self.0 {
            Source::Slot { scratch, .. } => scratch,
            Source::Temporary(scratch) => scratch,
        }
    }
}

impl DerefMut for PooledScratch<'_> {
    fn deref_mut(&mut self) -> &mut Scratch {
        match &mut self.0 {
            Source::Slot { scratch, .. } => scratch,
            Source::Temporary(scratch) => scratch,
        }
    }
}

impl Drop for PooledScratch<'_> {
    fn drop(&mut self) {
        if let Source::Slot { scratch, first: false } = &mut self.0 {
            scratch.trim();
        }
    }
}
