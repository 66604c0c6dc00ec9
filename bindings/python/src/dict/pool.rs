//! Pools of readers, and files that can be closed while threads read them.

use std::ops::{Deref, DerefMut};
use std::sync::Mutex;

use linerate_core::lock;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A pool with one item for each thread that uses it at the same time.
pub(super) struct Pool<T> {
    idle: Mutex<Vec<T>>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool { idle: Mutex::default() }
    }
}

impl<T> Pool<T> {
    /// Takes an item, or creates one. Never waits for the lock: a process that was forked while
    /// another thread held it would wait for ever.
    pub(super) fn acquire(&self, make: impl FnOnce() -> T) -> PoolGuard<'_, T> {
        let idle = self.idle.try_lock().ok().and_then(|mut idle| idle.pop());
        PoolGuard { pool: self, item: Some(idle.unwrap_or_else(make)) }
    }
}

/// An item taken from a pool, which gets it back on drop.
pub(super) struct PoolGuard<'a, T> {
    pool: &'a Pool<T>,
    /// `Some` until this is dropped.
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
        // An item in use during a panic may be inconsistent, and is dropped.
        if !std::thread::panicking()
            && let Ok(mut idle) = self.pool.idle.try_lock()
        {
            idle.extend(self.item.take());
        }
    }
}

/// A file that can be closed. Reads in progress have a clone and finish.
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
