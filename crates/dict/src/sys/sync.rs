//! The atomics, lock and cell of the slot protocol. They are those of `core` and `std`. In the
//! model of the protocol (tests with `--cfg loom`) they are those of loom, which tries the orders
//! in which threads may run, and finds data races.

#[cfg(not(all(loom, test)))]
mod primitives {
    pub(crate) use core::cell::UnsafeCell;
    pub(crate) use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};
    pub(crate) use std::sync::{Mutex, MutexGuard};
}

#[cfg(all(loom, test))]
mod primitives {
    pub(crate) use loom::cell::UnsafeCell;
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};
    pub(crate) use loom::sync::{Mutex, MutexGuard};
}

use primitives::UnsafeCell;
pub(crate) use primitives::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Mutex, MutexGuard, Ordering, fence,
};

/// A value whose accesses are ordered by something else, such as flags in an atomic word.
#[repr(transparent)]
pub(crate) struct Guarded<T>(UnsafeCell<T>);

impl<T: Copy> Guarded<T> {
    pub(crate) fn new(value: T) -> Self {
        Guarded(UnsafeCell::new(value))
    }

    /// Returns the value.
    ///
    /// # Safety
    /// No other thread may set the value meanwhile.
    #[inline]
    pub(crate) unsafe fn get(&self) -> T {
        // SAFETY: the caller guarantees that nothing writes to it.
        #[cfg(not(all(loom, test)))]
        return unsafe { *self.0.get() };
        // SAFETY: as above; loom checks it.
        #[cfg(all(loom, test))]
        return self.0.with(|at| unsafe { *at });
    }

    /// Replaces the value.
    ///
    /// # Safety
    /// No other thread may set or get the value meanwhile.
    pub(crate) unsafe fn set(&self, value: T) {
        // SAFETY: the caller guarantees that nothing else accesses it.
        #[cfg(not(all(loom, test)))]
        unsafe {
            *self.0.get() = value;
        }
        // SAFETY: as above; loom checks it.
        #[cfg(all(loom, test))]
        self.0.with_mut(|at| unsafe { *at = value });
    }
}
