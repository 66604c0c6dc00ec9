//! Parallel work on a stream of inputs, with the results in the order of the inputs.

use std::any::Any;
use std::boxed::Box;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread;

use crate::lock::lock;

/// Takes inputs from `next` until it returns `None`, and calls `done` with the result of each, in
/// order.
///
/// `next` and `done` run on the calling thread. Up to `threads` other threads each run a function
/// that `worker` makes. Each input starts one of them until all run. If `threads` is 1 or less, or
/// the system starts no thread, the calling thread does all the work. At most `threads` + `ahead`
/// inputs, or one if that is 0, are in flight: taken from `next` and not yet passed to `done`.
///
/// If all inputs are in memory, [`parallel_map`](crate::parallel_map) is simpler.
///
/// ```
/// let (mut numbers, mut squares) = (0..5, vec![]);
/// linerate_core::ordered(
///     (2, 2),
///     || Ok(numbers.next()),
///     || |i| i * i,
///     |square| Ok::<(), std::io::Error>(squares.push(square)),
/// )?;
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Returns the first error of `next` or `done`, once each thread has finished its current input. No
/// later input is taken, and the results that wait are dropped.
///
/// # Panics
/// Panics if a closure does, after the other threads have ended. `done` has then not been called
/// with the result of any input after the one at which the closure panicked.
pub fn ordered<I: Send, O: Send, E, W: FnMut(I) -> O>(
    (threads, ahead): (usize, usize),
    mut next: impl FnMut() -> Result<Option<I>, E>,
    worker: impl Fn() -> W + Sync,
    mut done: impl FnMut(O) -> Result<(), E>,
) -> Result<(), E> {
    let (give, take) = mpsc::channel::<Task<I, O>>();
    let (take, worker) = (&Mutex::new(take), &worker);
    let most_waiting = threads.saturating_add(ahead).saturating_sub(1);
    thread::scope(|scope| {
        // This closure owns the sender, so that leaving it in any way, even by a panic, ends the
        // workers.
        let give = give;
        let mut waiting = VecDeque::new();
        let mut own = None;
        let (mut wanted, mut spawned) = (if threads > 1 { threads } else { 0 }, 0);
        while let Some(input) = next()? {
            if spawned < wanted {
                match thread::Builder::new().spawn_scoped(scope, || serve(take, worker)) {
                    Ok(_) => spawned += 1,
                    // The system refuses more threads. Those that run give the same results.
                    Err(_) => wanted = spawned,
                }
            }
            if spawned == 0 {
                done(own.get_or_insert_with(worker)(input))?;
                continue;
            }
            let (result, output) = mpsc::channel();
            give.send((input, result)).expect("the receiver lives as long as this function");
            waiting.push_back(output);
            while let Some(output) = oldest(&mut waiting, most_waiting) {
                done(output)?;
            }
        }
        while let Some(output) = oldest(&mut waiting, 0) {
            done(output)?;
        }
        Ok(())
    })
}

/// A result, or the payload of the worker's panic.
type Outcome<O> = Result<O, Box<dyn Any + Send>>;
type Task<I, O> = (I, Sender<Outcome<O>>);

fn serve<I, O, W: FnMut(I) -> O>(take: &Mutex<Receiver<Task<I, O>>>, worker: impl Fn() -> W) {
    let mut work = None;
    loop {
        // Nothing but `recv` runs under the lock, so even a poisoned lock guards a sound receiver.
        let task = lock(take).recv();
        let Ok((input, result)) = task else { return };
        let outcome = catch_unwind(AssertUnwindSafe(|| work.get_or_insert_with(&worker)(input)));
        let panicked = outcome.is_err();
        if result.send(outcome).is_err() || panicked {
            return;
        }
    }
}

/// Returns the result of the oldest input, or `None` if there is no input or its result is not
/// ready. If more than `most_waiting` inputs are waiting, it waits for the result. Resumes the
/// panic of the worker that had this input.
fn oldest<O>(waiting: &mut VecDeque<Receiver<Outcome<O>>>, most_waiting: usize) -> Option<O> {
    let outcome = match waiting.front()?.try_recv() {
        Err(TryRecvError::Empty) if waiting.len() <= most_waiting => return None,
        Err(TryRecvError::Empty) => waiting.front()?.recv().expect("a worker answers every task"),
        outcome => outcome.expect("a worker answers every task"),
    };
    waiting.pop_front();
    Some(outcome.unwrap_or_else(|panic| resume_unwind(panic)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;
    use std::vec::Vec;

    use super::*;

    fn run(threads: usize, fail_at: u32) -> (Vec<u32>, Result<(), u32>) {
        let mut inputs = 0..100u32;
        let mut results = Vec::new();
        let worker = || {
            |input: u32| {
                // Earlier inputs take longer, so the threads finish them out of order.
                thread::sleep(Duration::from_micros(u64::from(100 - input)));
                input
            }
        };
        let end = ordered(
            (threads, 2),
            || Ok(inputs.next()),
            worker,
            |output| {
                results.push(output);
                if output == fail_at { Err(output) } else { Ok(()) }
            },
        );
        (results, end)
    }

    #[test]
    fn results_are_in_the_order_of_inputs_for_any_number_of_threads() {
        for threads in [0, 1, 2, 7] {
            assert_eq!(run(threads, 1000), ((0..100).collect(), Ok(())));
        }
    }

    #[test]
    fn no_result_is_delivered_after_an_error() {
        for threads in [1, 3] {
            assert_eq!(run(threads, 40), ((0..=40).collect(), Err(40)));
        }
    }

    #[test]
    fn error_of_next_ends_the_work() {
        for threads in [1, 3] {
            let (mut inputs, mut results) = (0..10, Vec::new());
            let end = ordered(
                (threads, 1),
                || if inputs.len() == 5 { Err("no more") } else { Ok(inputs.next()) },
                || |i: i32| i,
                |i| {
                    results.push(i);
                    Ok(())
                },
            );
            assert_eq!(end, Err("no more"));
            assert!((0..5).collect::<Vec<_>>().starts_with(&results));
        }
    }

    /// Every worker panics, so that some inputs are never taken.
    #[test]
    fn panics_are_propagated_and_no_later_result_is_delivered() {
        for (threads, first) in [(1, 5), (2, 5), (3, 0)] {
            let (mut inputs, mut results) = (0..100, Vec::new());
            let panic = catch_unwind(AssertUnwindSafe(|| {
                ordered(
                    (threads, 9),
                    || Ok(inputs.next()),
                    || |i: usize| if i < first { i } else { panic!("on purpose") },
                    |i| {
                        results.push(i);
                        Ok::<(), ()>(())
                    },
                )
            }));
            assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"on purpose"));
            assert!(results.len() <= first && results.iter().copied().eq(0..results.len()));
        }
    }
}
