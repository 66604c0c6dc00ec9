//! Scratch for many threads that decode a little each.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, TryLockError};

use crate::scratch::Scratch;

/// Scratch for any number of threads, as much of it as decode at the same time.
///
/// A client with a thread per connection would hold a [`Scratch`] for each, which is many times what the
/// sessions hold. Here a thread borrows one for as long as it takes to decode a message and to copy it
/// out. Nobody waits: if all are lent, one is made and thrown away afterwards.
///
/// The first that is free is taken, so that few are in use, and those are warm. At rest each holds the
/// 320 KiB that a scratch takes and a payload's buffer of at most 1 MiB; only the first one, which is
/// the busiest, keeps room for larger payloads, and that for 256 messages.
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
/// # Ok::<(), linerate_gateway::Fault>(())
/// ```
pub struct ScratchPool {
    slots: [Slot; ScratchPool::MOST],
    most: usize,
}

/// A line of the cache for each, since different threads write them.
#[repr(align(128))]
struct Slot(Mutex<Scratch>);

impl ScratchPool {
    /// The most that can be kept.
    pub const MOST: usize = 64;

    /// A pool that keeps at most `most`, and none before it is needed. As many as there are processors
    /// will do.
    pub const fn new(most: usize) -> Self {
        let most = if most > Self::MOST { Self::MOST } else { most };
        ScratchPool { slots: [const { Slot(Mutex::new(Scratch::empty())) }; Self::MOST], most }
    }

    /// Calls `decode` with a scratch that nobody else uses meanwhile.
    pub fn with<T>(&self, decode: impl FnOnce(&mut Scratch) -> T) -> T {
        decode(&mut self.lend())
    }

    /// Lends a scratch until the loan is dropped.
    pub fn lend(&self) -> Loan<'_> {
        let free = self.slots[..self.most].iter().enumerate().find_map(|(i, slot)| Some((i, slot.take()?)));
        Loan(match free {
            Some((index, scratch)) => Lent::Kept { scratch, first: index == 0 },
            None => Lent::Extra(Box::default()),
        })
    }

    /// Bytes held, without those that are lent now.
    pub fn memory(&self) -> usize {
        self.slots.iter().filter_map(Slot::take).map(|scratch| scratch.memory()).sum()
    }

    /// Gives back the memory of all that are not lent now.
    pub fn clear(&self) {
        self.slots.iter().filter_map(Slot::take).for_each(|mut scratch| *scratch = Scratch::empty());
    }
}

impl Slot {
    /// Its scratch, if nobody has it.
    fn take(&self) -> Option<MutexGuard<'_, Scratch>> {
        match self.0.try_lock() {
            Ok(scratch) => Some(scratch),
            // A panic elsewhere leaves nothing in a scratch that the next message can see.
            Err(TryLockError::Poisoned(scratch)) => Some(scratch.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// A [`Scratch`] on loan from a [`ScratchPool`].
pub struct Loan<'p>(Lent<'p>);

enum Lent<'p> {
    /// One that stays. Its slot is locked, which is what keeps others away from it.
    Kept { scratch: MutexGuard<'p, Scratch>, first: bool },
    /// One for this time, since all others are lent.
    Extra(Box<Scratch>),
}

impl Deref for Loan<'_> {
    type Target = Scratch;

    fn deref(&self) -> &Scratch {
        match &self.0 {
            Lent::Kept { scratch, .. } => scratch,
            Lent::Extra(scratch) => scratch,
        }
    }
}

impl DerefMut for Loan<'_> {
    fn deref_mut(&mut self) -> &mut Scratch {
        match &mut self.0 {
            Lent::Kept { scratch, .. } => scratch,
            Lent::Extra(scratch) => scratch,
        }
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        if let Lent::Kept { scratch, first: false } = &mut self.0 {
            scratch.trim();
        }
    }
}
