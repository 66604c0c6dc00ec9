//! The same work on many things, on the caller's number of threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::error::{PackError, PackResult};
use super::stop::Stop;

/// How many work, and what ends their work.
#[derive(Clone, Default)]
pub(super) struct Crew {
    /// 0 counts as 1.
    pub(super) threads: usize,
    pub(super) stop: Stop,
}

/// That many, whom nothing ends.
impl From<usize> for Crew {
    fn from(threads: usize) -> Crew {
        Crew { threads, stop: Stop::default() }
    }
}

/// `work` on 0 to `count` - 1, results in that order. Each thread makes one `scratch`.
///
/// Of several failures, the one of the lowest number that ran is returned; work that has not begun
/// by then is left out.
pub(super) fn map<S, T: Send>(
    crew: &Crew,
    count: usize,
    scratch: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> PackResult<T> + Sync,
) -> PackResult<Vec<T>> {
    let work = |scratch: &mut S, i: usize| crew.stop.check().and_then(|()| work(scratch, i));
    let threads = crew.threads.clamp(1, count.max(1));
    if threads == 1 {
        let mut scratch = scratch();
        return (0..count).map(|i| work(&mut scratch, i)).collect();
    }
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let failure: Mutex<Option<(usize, PackError)>> = Mutex::new(None);
    let serve = || {
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
        let helpers: Vec<_> =
            (1..threads).map_while(|_| thread::Builder::new().spawn_scoped(scope, serve).ok()).collect();
        let mut done = serve();
        for helper in helpers {
            done.extend(helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        Ok(done)
    })?;
    if let Some((_, error)) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    done.sort_unstable_by_key(|(i, _)| *i);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use linerate_core::Kind;

    use super::*;

    #[test]
    fn results_are_in_order_for_any_number_of_threads() {
        for threads in [0, 1, 2, 7, 200] {
            let squares = map(&threads.into(), 100, || (), |(), i| Ok(i * i)).expect("no failure");
            assert!(squares.iter().copied().eq((0..100).map(|i| i * i)), "{threads} threads");
        }
        assert!(map(&4.into(), 0, || (), |(), i| Ok(i)).expect("nothing to do").is_empty());
    }

    #[test]
    fn whoever_asks_is_the_last_to_work() {
        for threads in [1, 4] {
            let crew = Crew { threads, stop: Stop::default() };
            let count = AtomicUsize::new(0);
            let work = |i| {
                count.fetch_add(1, Ordering::Relaxed);
                if i == 10 {
                    crew.stop.ask();
                }
                Ok(i)
            };
            let error = map(&crew, 10_000, || (), |(), i| work(i)).expect_err("it is stopped");
            assert!(error.is_stopped() && count.into_inner() < 10_000);
        }
    }

    #[test]
    fn a_failure_is_the_result() {
        for threads in [1, 4] {
            let fail = |i| match i {
                30.. => Err(PackError::rule(Kind::BadArgument, "no").at("thirty")),
                _ => Ok(i),
            };
            let error = map(&threads.into(), 100, || (), |(), i| fail(i)).expect_err("it fails");
            assert_eq!(error.file(), Some("thirty"));
        }
    }
}
