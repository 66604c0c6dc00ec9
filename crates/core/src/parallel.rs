//! Ordered parallel map. The result does not depend on the number of threads.

use std::panic::resume_unwind;
use std::sync::Mutex;
use std::thread;
use std::vec::Vec;

use crate::lock::lock;

/// Maps `items` on at most `threads` threads, the calling one included, and returns the results in
/// the order of the items. 0 threads count as 1. `worker` makes one function per thread. Each
/// thread takes the next item when it has finished the one before.
///
/// If the system refuses to start a thread, or has no threads at all (WASI), the threads that run
/// do all the work.
///
/// ```
/// let squares = linerate_core::parallel_map(4, 0..5, || |i| i * i);
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
/// ```
///
/// # Panics
/// Panics if a function or the iterator does, after the other threads have ended.
pub fn parallel_map<I, T, Items, W>(threads: usize, items: Items, worker: impl Fn() -> W + Sync) -> Vec<T>
where
    T: Send,
    Items: IntoIterator<Item = I>,
    Items::IntoIter: Send,
    W: FnMut(I) -> T,
{
    let items = items.into_iter().enumerate();
    let threads = threads.min(items.size_hint().1.unwrap_or(threads));
    let queue = Mutex::new(items);
    let share = || {
        let (mut work, mut done) = (worker(), Vec::new());
        loop {
            // If the lock is poisoned, the iterator has panicked, and the thread that called it
            // propagates the panic.
            let next = lock(&queue).next();
            let Some((i, item)) = next else { return done };
            done.push((i, work(item)));
        }
    };
    let mut all = thread::scope(|scope| {
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, share).ok();
        let others: Vec<_> = (1..threads).map_while(spawn).collect();
        let mut all = share();
        for other in others {
            all.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        all
    });
    all.sort_unstable_by_key(|(i, _)| *i);
    all.into_iter().map(|(_, made)| made).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_for_any_number_of_threads() {
        let squares: Vec<u32> = (0..20).map(|i| i * i).collect();
        for threads in [0, 1, 3, 50] {
            assert_eq!(parallel_map(threads, 0..20_u32, || |i| i * i), squares, "{threads} threads");
            assert!(parallel_map(threads, 0..0_u32, || |i| i).is_empty());
        }
    }

    #[test]
    fn each_thread_has_a_function_of_its_own() {
        let ordinals = parallel_map(4, 0..100, || {
            let mut calls = 0;
            move |_| {
                calls += 1;
                calls
            }
        });
        assert_eq!(ordinals.len(), 100);
        assert!((1..=4).contains(&ordinals.iter().filter(|&&ordinal| ordinal == 1).count()));
    }

    #[test]
    #[should_panic(expected = "on purpose")]
    fn panics_are_propagated() {
        parallel_map(2, 0..10, || |i| assert!(i != 5, "on purpose"));
    }
}
