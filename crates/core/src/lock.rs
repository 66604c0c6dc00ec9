//! Locking that ignores poison.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`, even if a thread has panicked while it held the lock. Use it for values that a
/// panic leaves consistent. The panic itself reaches whoever joins that thread.
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
