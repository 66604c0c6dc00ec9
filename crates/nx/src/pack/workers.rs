//! A parallel map over indices. It stops at the first error or when it is cancelled.

use std::sync::atomic::{AtomicBool, Ordering};

use linerate_core::parallel_map;

use super::cancel::CancelToken;
use super::error::PackResult;

/// The number of threads of a [`map`](Self::map), and the token that cancels it.
#[derive(Clone, Default)]
pub(super) struct Workers {
    /// Number of threads; 0 counts as 1.
    pub(super) threads: usize,
    pub(super) cancel: CancelToken,
}

/// Sets the number of threads, without a cancel token.
impl From<usize> for Workers {
    fn from(threads: usize) -> Workers {
        Workers { threads, cancel: CancelToken::default() }
    }
}

impl Workers {
    /// Calls `work` for 0 to `count` - 1 and returns the results in that order. Each thread calls
    /// `scratch` once and reuses the result. The threads end with the call.
    ///
    /// # Errors
    /// Returns the error of `work`, or one that says that the operation was cancelled; if there are
    /// several, the one with the lowest index. After an error, no further index begins.
    pub(super) fn map<S, T: Send>(
        &self,
        count: usize,
        scratch: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, usize) -> PackResult<T> + Sync,
    ) -> PackResult<Vec<T>> {
        let stop = AtomicBool::new(false);
        let indices = (0..count).take_while(|_| !stop.load(Ordering::Relaxed));
        let worker = || {
            let mut scratch = scratch();
            let (work, stop) = (&work, &stop);
            move |i| {
                let result = self.cancel.check().and_then(|()| work(&mut scratch, i));
                // Boxed, since most results are smaller than an error.
                result.map_err(|error| {
                    stop.store(true, Ordering::Relaxed);
                    Box::new(error)
                })
            }
        };
        let results = parallel_map(self.threads, indices, worker);
        results.into_iter().collect::<Result<_, _>>().map_err(|error| *error)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use linerate_core::Kind;

    use super::*;
    use crate::pack::PackError;

    #[test]
    fn results_are_in_order_for_any_number_of_threads() {
        for threads in [0, 1, 2, 7, 200] {
            let workers = Workers::from(threads);
            let squares = workers.map(100, || (), |(), i| Ok(i * i)).expect("no failure");
            assert!(squares.iter().copied().eq((0..100).map(|i| i * i)), "{threads} threads");
        }
        assert!(Workers::from(4).map(0, || (), |(), i| Ok(i)).expect("nothing to do").is_empty());
    }

    #[test]
    fn cancelling_within_the_work_skips_the_rest() {
        for threads in [1, 4] {
            let workers = Workers::from(threads);
            let count = AtomicUsize::new(0);
            let work = |i| {
                count.fetch_add(1, Ordering::Relaxed);
                if i == 10 {
                    workers.cancel.cancel();
                }
                Ok(i)
            };
            let error = workers.map(10_000, || (), |(), i| work(i)).expect_err("it is cancelled");
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
            let error = Workers::from(threads).map(100, || (), |(), i| fail(i)).expect_err("it fails");
            assert_eq!(error.file(), Some(std::path::Path::new("thirty")));
        }
    }
}
