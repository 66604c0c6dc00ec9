//! The future result of work on an [`Executor`](super::Executor).

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use linerate_core::lock;

/// The future result of work on an [`Executor`](super::Executor). A thread [waits](Pending::wait)
/// for it, or a task of any runtime awaits it. If it is dropped, the work goes on;
/// [`Pending::cancel`] stops the work.
#[must_use = "the result comes later; dropping this lets the work go on"]
pub struct Pending<T> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    state: Mutex<PendingState<T>>,
    completed: Condvar,
    stop: AtomicBool,
}

struct PendingState<T> {
    result: Option<T>,
    is_done: bool,
    waker: Option<Waker>,
}

impl<T> Pending<T> {
    pub(super) fn new() -> Pending<T> {
        let state = Mutex::new(PendingState { result: None, is_done: false, waker: None });
        Pending {
            shared: Arc::new(Shared { state, completed: Condvar::new(), stop: AtomicBool::new(false) }),
        }
    }

    /// Returns a handle for the workers.
    pub(super) fn clone_for_work(&self) -> Pending<T> {
        Pending { shared: Arc::clone(&self.shared) }
    }

    /// Blocks until the work has ended. Do not call it in a job of the same executor: if all of its
    /// threads wait, none works.
    pub fn wait(self) -> T {
        let state = self.shared.completed.wait_while(self.state(), |state| !state.is_done);
        let result = state.unwrap_or_else(PoisonError::into_inner).result.take();
        result.expect("a future is not waited for after it was ready")
    }

    /// Whether the work has ended.
    pub fn is_done(&self) -> bool {
        self.state().is_done
    }

    /// Stops the work once the blocks being decoded are finished. The result tells which files or
    /// blocks are complete.
    pub fn cancel(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }

    /// The flag that [`Pending::cancel`] sets.
    pub(super) fn stop(&self) -> &AtomicBool {
        &self.shared.stop
    }

    /// Sets the result, and wakes all who wait for it.
    pub(super) fn complete(&self, result: T) {
        let mut state = self.state();
        (state.result, state.is_done) = (Some(result), true);
        let waker = state.waker.take();
        drop(state);
        self.shared.completed.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn state(&self) -> MutexGuard<'_, PendingState<T>> {
        lock(&self.shared.state)
    }
}

impl<T> Future for Pending<T> {
    type Output = T;

    /// # Panics
    ///
    /// Panics if it is polled again after it was ready.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut state = self.state();
        if state.is_done {
            return Poll::Ready(state.result.take().expect("a future is not polled after it was ready"));
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_and_poll_give_the_result_and_wake() {
        struct Flag(AtomicBool);
        impl std::task::Wake for Flag {
            fn wake(self: Arc<Self>) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let flag = Arc::new(Flag(AtomicBool::new(false)));
        let waker = Waker::from(Arc::clone(&flag));
        let mut pending = Pending::new();
        let work = pending.clone_for_work();
        let poll = |pending: &mut Pending<u32>| Pin::new(pending).poll(&mut Context::from_waker(&waker));
        assert!(poll(&mut pending).is_pending() && !pending.is_done());
        work.complete(7);
        assert!(flag.0.load(Ordering::Relaxed) && pending.is_done());
        assert_eq!(poll(&mut pending), Poll::Ready(7));
        let pending = Pending::new();
        let work = pending.clone_for_work();
        assert!(!work.stop().load(Ordering::Relaxed));
        pending.cancel();
        assert!(work.stop().load(Ordering::Relaxed));
        let worker = std::thread::spawn(move || work.complete("late"));
        assert_eq!(pending.wait(), "late");
        worker.join().unwrap();
    }
}
