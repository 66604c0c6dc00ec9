//! Ordered parallel map: the result does not depend on the number of threads.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Returns `work(0)`, `work(1)` ... `work(count - 1)`, in that order.
pub(crate) fn parallel_map<T: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let share = || {
        let mut done = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= count {
                return done;
            }
            done.push((i, work(i)));
        }
    };
    let mut all = thread::scope(|scope| {
        // If a thread cannot be spawned, the others do its work.
        let others: Vec<_> = (1..threads.min(count))
            .filter_map(|_| thread::Builder::new().spawn_scoped(scope, share).ok())
            .collect();
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
        for threads in [0, 1, 3, 50] {
            assert_eq!(parallel_map(20, threads, |i| i * i), (0..20).map(|i| i * i).collect::<Vec<_>>());
            assert!(parallel_map(0, threads, |i| i).is_empty());
        }
    }
}
