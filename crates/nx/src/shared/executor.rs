//! Runs decoding in the call itself, on threads of this crate, or on threads of the caller.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use linerate_core::lock;

use super::pending::Pending;

/// A piece of work. It decodes, reads the source, and may wait for blocks that other threads
/// decode. It blocks its thread until it is done.
pub type Job = Box<dyn FnOnce() + Send>;

/// Runs jobs. Clones share the same threads.
///
/// ```
/// use linerate_nx::shared::Executor;
///
/// let ours = Executor::threads(4);
/// let callers = Executor::new(4, |job| drop(std::thread::spawn(job))); // `rayon::spawn(job)`, `handle.spawn_blocking(job)`
/// # let _ = (ours, callers);
/// ```
#[derive(Clone)]
pub struct Executor {
    parallelism: usize,
    spawn: Arc<dyn Fn(Job) + Send + Sync>,
}

impl Executor {
    /// Runs each job at once in the calling thread. Starts no thread.
    pub fn inline() -> Executor {
        Executor::new(1, |job| job())
    }

    /// Runs jobs on `count` threads, at least one. The threads end with the last clone of the
    /// executor, once they have run the jobs that wait. A job that panics does not end its thread.
    /// Jobs wait while all threads are busy. If the system cannot start all threads, fewer run; if
    /// it can start none, jobs run in the call.
    pub fn threads(count: usize) -> Executor {
        let (sender, receiver) = channel::<Job>();
        let receiver = Arc::new(Mutex::new(receiver));
        let start = |_: &usize| {
            let receiver = Arc::clone(&receiver);
            let builder = thread::Builder::new().name("linerate-nx".to_owned());
            builder.spawn(move || run_jobs(&receiver)).is_ok()
        };
        match (0..count.max(1)).take_while(start).count() {
            0 => Executor::inline(),
            count => Executor::new(count, send_to(sender)),
        }
    }

    /// Hands jobs to the caller's `spawn`, which may queue them. One call of this library hands
    /// over at most `parallelism` jobs at once, at least one. If `spawn` drops a job, the other
    /// jobs of the call do its work. If it drops all of them, the call counts as cancelled.
    pub fn new(parallelism: usize, spawn: impl Fn(Job) + Send + Sync + 'static) -> Executor {
        Executor { parallelism: parallelism.max(1), spawn: Arc::new(spawn) }
    }

    /// The number of jobs that may run at once for one call.
    pub(super) fn parallelism(&self) -> usize {
        self.parallelism
    }

    /// Calls `work` in `count` jobs, at least one, or fewer if fewer may run at once. `work` gets a
    /// flag that cancels it. When the last job has ended or was dropped, `finish` makes the result.
    pub(super) fn run<T: Send + 'static>(
        &self,
        count: usize,
        work: impl Fn(&AtomicBool) + Send + Sync + 'static,
        finish: impl FnOnce() -> T + Send + 'static,
    ) -> Pending<T> {
        let count = count.clamp(1, self.parallelism);
        let pending = Pending::new();
        let run = Arc::new(Run {
            work,
            finish: Mutex::new(Some(finish)),
            left: AtomicUsize::new(count),
            pending: pending.clone_for_work(),
        });
        for _ in 0..count {
            let worker = Worker(Arc::clone(&run));
            (self.spawn)(Box::new(move || worker.work()));
        }
        pending
    }
}

fn send_to(sender: Sender<Job>) -> impl Fn(Job) + Send + Sync {
    move |job| {
        // The threads live as long as the sender. If there are none, the job comes back and runs
        // here.
        if let Err(unsent) = sender.send(job) {
            (unsent.0)();
        }
    }
}

fn run_jobs(receiver: &Mutex<Receiver<Job>>) {
    loop {
        let job = lock(receiver).recv();
        let Ok(job) = job else { return };
        // The panic was printed. The destructor of the job wakes whoever waits for it.
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}

/// State that the workers of one call share.
struct Run<T, W, F: FnOnce() -> T> {
    work: W,
    finish: Mutex<Option<F>>,
    /// Number of workers that have not ended.
    left: AtomicUsize,
    pending: Pending<T>,
}

/// A job of a run. It counts as ended whether it returns, panics, or is dropped without running.
struct Worker<T, W, F: FnOnce() -> T>(Arc<Run<T, W, F>>);

impl<T, W: Fn(&AtomicBool), F: FnOnce() -> T> Worker<T, W, F> {
    fn work(self) {
        (self.0.work)(self.0.pending.stop());
    }
}

impl<T, W, F: FnOnce() -> T> Drop for Worker<T, W, F> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.pending.cancel();
        }
        // `AcqRel` makes the results of the other workers visible here.
        if self.0.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            let finish = lock(&self.0.finish).take();
            if let Some(finish) = finish {
                self.0.pending.complete(finish());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the sum of 1 to 100 with up to three workers.
    fn sum(executor: &Executor) -> Pending<usize> {
        let (next, total) = (Arc::new(AtomicUsize::new(1)), Arc::new(AtomicUsize::new(0)));
        let result = Arc::clone(&total);
        let work = move |stop: &AtomicBool| {
            while !stop.load(Ordering::Relaxed) {
                match next.fetch_add(1, Ordering::Relaxed) {
                    n @ ..=100 => total.fetch_add(n, Ordering::Relaxed),
                    _ => return,
                };
            }
        };
        executor.run(3, work, move || result.load(Ordering::Relaxed))
    }

    #[test]
    fn every_executor_does_all_the_work() {
        let callers = Executor::new(2, |job| drop(thread::spawn(job)));
        for executor in [Executor::inline(), Executor::threads(0), Executor::threads(4), callers] {
            assert_eq!(sum(&executor).wait(), 5050, "{}", executor.parallelism());
        }
    }

    #[test]
    fn dropped_jobs_end_the_wait() {
        let executor = Executor::new(3, drop);
        assert_eq!(sum(&executor).wait(), 0);
        // Runs one of three jobs and drops the others.
        let count = AtomicUsize::new(0);
        let executor = Executor::new(3, move |job| {
            if count.fetch_add(1, Ordering::Relaxed) == 1 {
                job();
            }
        });
        assert_eq!(sum(&executor).wait(), 5050);
    }

    #[test]
    fn panicking_job_ends_the_wait_and_its_thread_goes_on() {
        let executor = Executor::threads(1);
        let pending = executor.run(1, |_| panic!("as a callback may"), || "finished");
        assert_eq!(pending.wait(), "finished");
        assert_eq!(sum(&executor).wait(), 5050);
    }
}
