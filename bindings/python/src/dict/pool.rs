//! Pools of readers, and files that can be closed while threads read them.

use std::ops::{Deref, DerefMut};
use std::sync::Mutex;

use linerate_core::lock;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A pool of items, such as readers of files. It holds about as many items as threads have used at
/// the same time.
pub(super) struct Pool<T> {
    /// Items that no thread is using.
    idle: Mutex<Vec<T>>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool { idle: Mutex::default() }
    }
}

impl<T> Pool<T> {
    /// Takes an item, or makes one if the pool is empty or locked. Never waits for the pool's lock:
    /// in a process that was forked while another thread held this lock, nobody would release it.
    pub(super) fn acquire(&self, make: impl FnOnce() -> T) -> PoolGuard<'_, T> {
        let idle = self.idle.try_lock().ok().and_then(|mut idle| idle.pop());
        PoolGuard { pool: self, item: Some(idle.unwrap_or_else(make)) }
    }
}

/// An item taken from a pool. Dropping the guard gives the item back to the pool.
pub(super) struct PoolGuard<'a, T> {
    pool: &'a Pool<T>,
    /// `Some` until the guard is dropped.
    item: Option<T>,
}

impl<T> Deref for PoolGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.item.as_ref().expect("present until dropped")
    }
}

impl<T> DerefMut for PoolGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.item.as_mut().expect("present until dropped")
    }
}

impl<T> Drop for PoolGuard<'_, T> {
    fn drop(&mut self) {
        // An item that was in use during a panic may be inconsistent, so it is dropped. So is one
        // that is returned while the pool is locked.
        if !std::thread::panicking()
            && let Ok(mut idle) = self.pool.idle.try_lock()
        {
            idle.extend(self.item.take());
        }
    }
}

/// A file that one thread can close while others read. Each read in progress has a clone of the
/// file, and so finishes.
pub(super) struct Open<T>(Mutex<Option<T>>);

impl<T: Clone> Open<T> {
    pub(super) fn new(file: T) -> Self {
        Open(Mutex::new(Some(file)))
    }

    pub(super) fn file(&self) -> PyResult<T> {
        let file = lock(&self.0).clone();
        file.ok_or_else(|| PyValueError::new_err("the file is closed"))
    }

    pub(super) fn close(&self) -> Option<T> {
        lock(&self.0).take()
    }

    pub(super) fn is_closed(&self) -> bool {
        lock(&self.0).is_none()
    }
}
