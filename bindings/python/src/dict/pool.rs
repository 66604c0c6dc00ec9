//! What each thread needs one of while it reads, and files that may be closed meanwhile.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Things that are lent to one thread at a time, of which there are as many as threads at once.
pub(super) struct Pool<T> {
    idle: Mutex<Vec<T>>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool { idle: Mutex::default() }
    }
}

impl<T> Pool<T> {
    /// One of them, or a new one.
    pub(super) fn lend(&self, make: impl FnOnce() -> T) -> Lent<'_, T> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Lent { pool: self, thing: Some(idle.unwrap_or_else(make)) }
    }
}

/// It goes back to the pool.
pub(super) struct Lent<'a, T> {
    pool: &'a Pool<T>,
    /// There until this is dropped.
    thing: Option<T>,
}

impl<T> Deref for Lent<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.thing.as_ref().expect("it is lent")
    }
}

impl<T> DerefMut for Lent<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.thing.as_mut().expect("it is lent")
    }
}

impl<T> Drop for Lent<'_, T> {
    fn drop(&mut self) {
        // What panicked may be in the middle of something.
        if !std::thread::panicking() {
            self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).extend(self.thing.take());
        }
    }
}

/// A file that can be closed. Who reads it at that moment goes on.
pub(super) struct Open<T>(Mutex<Option<T>>);

impl<T: Clone> Open<T> {
    pub(super) fn new(file: T) -> Self {
        Open(Mutex::new(Some(file)))
    }

    pub(super) fn file(&self) -> PyResult<T> {
        let file = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        file.ok_or_else(|| PyValueError::new_err("the file is closed"))
    }

    pub(super) fn close(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}
