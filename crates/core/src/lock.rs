//! Locking without regard to poison.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`, also after a thread has panicked while it held the lock. For values that a panic leaves consistent;
/// who joins the thread gets its panic.
///
/// ```
/// use std::sync::Mutex;
///
/// let jobs = Mutex::new(vec![1, 2]);
/// let panicked = std::thread::scope(|scope| {
///     let thread = scope.spawn(|| {
///         let _jobs = jobs.lock().unwrap();
///         panic!("with the lock held");
///     });
///     thread.join()
/// });
/// assert!(panicked.is_err() && jobs.is_poisoned());
/// assert_eq!(linerate_core::lock(&jobs).pop(), Some(2));
/// ```
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
