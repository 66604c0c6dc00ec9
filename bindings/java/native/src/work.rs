//! What connections need only while they decode.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use linerate_gateway::Scratch;

/// Bytes of room for a frame that are kept.
const FRAME_KEPT: usize = 1 << 20;
/// Bytes of a scratch above which it is trimmed at once. What is idle need not hold what only a large
/// message needed.
const SCRATCH_KEPT: usize = 4 << 20;

static POOL: Pool = Pool { idle: Mutex::new(Vec::new()) };

/// Working memory of the process: as many as decoded at once, but not more than there are processors.
struct Pool {
    idle: Mutex<Vec<Work>>,
}

/// Buffers for one message.
#[derive(Default)]
pub(crate) struct Work {
    pub(crate) scratch: Scratch,
    /// All of it was written once, so that none of it need be cleared again.
    frame: Vec<u8>,
    len: usize,
}

/// No memory for a frame.
#[derive(Debug)]
pub(crate) struct NoMemory;

impl Work {
    /// Room for a frame of `len` bytes, which [`parts`](Self::parts) gives then.
    pub(crate) fn frame(&mut self, len: usize) -> Result<&mut [u8], NoMemory> {
        if len > self.frame.len() {
            self.frame.try_reserve(len - self.frame.len()).map_err(|_| NoMemory)?;
            self.frame.resize(len, 0);
        }
        self.len = len;
        Ok(&mut self.frame[..len])
    }

    /// The frame, and what it is decoded with.
    pub(crate) fn parts(&mut self) -> (&[u8], &mut Scratch) {
        (&self.frame[..self.len], &mut self.scratch)
    }

    fn memory(&self) -> usize {
        self.frame.capacity() + self.scratch.memory()
    }

    fn trim(&mut self) {
        if self.frame.len() > FRAME_KEPT {
            self.frame.truncate(FRAME_KEPT);
            self.frame.shrink_to_fit();
        }
        if self.scratch.memory() > SCRATCH_KEPT {
            self.scratch.trim();
        }
    }
}

/// Work that goes back to the pool.
pub(crate) struct Borrowed(Option<Work>);

/// Working memory, of which nobody else has use meanwhile.
pub(crate) fn borrow() -> Borrowed {
    Borrowed(Some(POOL.idle().pop().unwrap_or_default()))
}

/// Bytes that the pool holds, without what is in use.
pub(crate) fn idle_memory() -> usize {
    POOL.idle().iter().map(Work::memory).sum()
}

impl Pool {
    fn idle(&self) -> MutexGuard<'_, Vec<Work>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn processors() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
}

impl Deref for Borrowed {
    type Target = Work;

    fn deref(&self) -> &Work {
        self.0.as_ref().expect("there until it is dropped")
    }
}

impl DerefMut for Borrowed {
    fn deref_mut(&mut self) -> &mut Work {
        self.0.as_mut().expect("there until it is dropped")
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        let Some(mut work) = self.0.take() else { return };
        // Nobody knows what a panic has left behind.
        if thread::panicking() {
            return;
        }
        work.trim();
        let mut idle = POOL.idle();
        if idle.len() < processors() {
            idle.push(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_idle_is_bounded() {
        let many: Vec<Borrowed> = (0..processors() + 3).map(|_| borrow()).collect();
        drop(many);
        assert!(POOL.idle().len() <= processors());
    }

    #[test]
    fn a_large_frame_is_given_back() {
        let mut work = Work::default();
        work.frame(FRAME_KEPT + 5).unwrap().fill(1);
        assert_eq!(work.parts().0.len(), FRAME_KEPT + 5);
        work.frame(3).unwrap().copy_from_slice(b"abc");
        assert_eq!(work.parts().0, b"abc");
        work.trim();
        assert!(work.memory() <= FRAME_KEPT);
    }
}
