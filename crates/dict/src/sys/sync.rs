//! Atomics, the lock and the cell that the slot protocol is written in: those of `core` and `std`, or in its model (tests
//! with `--cfg loom`) those of loom, which tries the orders that threads may run in and finds accesses that race.

#[cfg(not(all(loom, test)))]
mod of_threads {
    pub(crate) use core::cell::UnsafeCell;
    pub(crate) use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};
    pub(crate) use std::sync::{Mutex, MutexGuard};
}

#[cfg(all(loom, test))]
mod of_threads {
    pub(crate) use loom::cell::UnsafeCell;
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};
    pub(crate) use loom::sync::{Mutex, MutexGuard};
}

use of_threads::UnsafeCell;
pub(crate) use of_threads::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Mutex, MutexGuard, Ordering, fence,
};

/// A value that something else guards, such as flags in an atomic word.
#[repr(transparent)]
pub(crate) struct Guarded<T>(UnsafeCell<T>);

impl<T: Copy> Guarded<T> {
    pub(crate) fn new(value: T) -> Self {
        Guarded(UnsafeCell::new(value))
    }

    /// # Safety
    /// No other thread sets it meanwhile.
    #[inline]
    pub(crate) unsafe fn get(&self) -> T {
        // SAFETY: the caller guarantees that nothing writes to it.
        #[cfg(not(all(loom, test)))]
        return unsafe { *self.0.get() };
        // SAFETY: as above, and loom looks.
        #[cfg(all(loom, test))]
        return self.0.with(|at| unsafe { *at });
    }

    /// # Safety
    /// No other thread sets or gets it meanwhile.
    pub(crate) unsafe fn set(&self, value: T) {
        // SAFETY: the caller guarantees that nothing else accesses it.
        #[cfg(not(all(loom, test)))]
        unsafe {
            *self.0.get() = value;
        }
        // SAFETY: as above, and loom looks.
        #[cfg(all(loom, test))]
        self.0.with_mut(|at| unsafe { *at = value });
    }
}
