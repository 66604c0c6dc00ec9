//! A parallel map over indices with scoped threads; results come in order.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::cancel::CancelToken;
use super::error::{PackError, PackResult};

/// The number of threads of a [`map`](Self::map), and the token that cancels it.
#[derive(Clone, Default)]
pub(super) struct ThreadPool {
    /// 0 counts as 1.
    pub(super) threads: usize,
    pub(super) cancel: CancelToken,
}

/// Without a cancel token.
impl From<usize> for ThreadPool {
    fn from(threads: usize) -> ThreadPool {
        ThreadPool { threads, cancel: CancelToken::default() }
    }
}

impl ThreadPool {
    /// Calls `work` on 0 to `count` - 1 and returns the results in that order. Each thread makes one
    /// `scratch`. Threads live for one call.
    ///
    /// # Errors
    /// Of several errors, that of the lowest index that ran. Indices not begun by then are skipped.
    pub(super) fn map<S, T: Send>(
        &self,
        count: usize,
        scratch: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, usize) -> PackResult<T> + Sync,
    ) -> PackResult<Vec<T>> {
        let work = |scratch: &mut S, i: usize| self.cancel.check().and_then(|()| work(scratch, i));
        let threads = self.threads.clamp(1, count.max(1));
        if threads == 1 {
            let mut scratch = scratch();
            return (0..count).map(|i| work(&mut scratch, i)).collect();
        }
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let failure: Mutex<Option<(usize, PackError)>> = Mutex::new(None);
        let run_worker = || {
            let (mut scratch, mut done) = (scratch(), Vec::new());
            while !stop.load(Ordering::Relaxed) {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= count {
                    break;
                }
                match work(&mut scratch, i) {
                    Ok(result) => done.push((i, result)),
                    Err(error) => {
                        stop.store(true, Ordering::Relaxed);
                        let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
                        if failure.as_ref().is_none_or(|(lowest, _)| i < *lowest) {
                            *failure = Some((i, error));
                        }
                    }
                }
            }
            done
        };
        let mut done = thread::scope(|scope| -> PackResult<Vec<(usize, T)>> {
            let spawn = |_| thread::Builder::new().spawn_scoped(scope, run_worker).ok();
            let workers: Vec<_> = (1..threads).map_while(spawn).collect();
            let mut done = run_worker();
            for worker in workers {
                done.extend(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            Ok(done)
        })?;
        if let Some((_, error)) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        done.sort_unstable_by_key(|(i, _)| *i);
        Ok(done.into_iter().map(|(_, result)| result).collect())
    }
}

#[cfg(test)]
mod tests {
    use linerate_core::Kind;

    use super::*;

    #[test]
    fn results_are_in_order_for_any_number_of_threads() {
        for threads in [0, 1, 2, 7, 200] {
            let pool = ThreadPool::from(threads);
            let squares = pool.map(100, || (), |(), i| Ok(i * i)).expect("no failure");
            assert!(squares.iter().copied().eq((0..100).map(|i| i * i)), "{threads} threads");
        }
        assert!(ThreadPool::from(4).map(0, || (), |(), i| Ok(i)).expect("nothing to do").is_empty());
    }

    #[test]
    fn cancelling_within_the_work_skips_the_rest() {
        for threads in [1, 4] {
            let pool = ThreadPool::from(threads);
            let count = AtomicUsize::new(0);
            let work = |i| {
                count.fetch_add(1, Ordering::Relaxed);
                if i == 10 {
                    pool.cancel.cancel();
                }
                Ok(i)
            };
            let error = pool.map(10_000, || (), |(), i| work(i)).expect_err("it is cancelled");
            assert!(error.is_cancelled() && count.into_inner() < 10_000);
        }
    }

    #[test]
    fn an_error_of_one_index_is_the_result() {
        for threads in [1, 4] {
            let fail = |i| match i {
                30.. => Err(PackError::rule(Kind::BadArgument, "no").at("thirty")),
                _ => Ok(i),
            };
            let error = ThreadPool::from(threads).map(100, || (), |(), i| fail(i)).expect_err("it fails");
            assert_eq!(error.file(), Some("thirty"));
        }
    }
}
