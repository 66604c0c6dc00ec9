//! An ordered parallel map: results are delivered in the order of their inputs.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread;

use linerate_core::lock;

/// Calls `done` with the result of each input of `next`, in order.
///
/// `next` and `done` run on the calling thread; `threads` others each run a function made by `worker`.
/// With one thread, or where none can be started, the calling thread does all the work. At most
/// 2 x `threads` + 1 inputs are in flight.
///
/// # Errors
/// Those of `done`; later inputs are not processed then.
///
/// # Panics
/// If a closure does, once the other threads have ended.
pub(crate) fn ordered<I: Send, O: Send, E, W: FnMut(I) -> O>(
    threads: usize,
    mut next: impl FnMut() -> Option<I>,
    worker: impl Fn() -> W + Sync,
    mut done: impl FnMut(O) -> Result<(), E>,
) -> Result<(), E> {
    let (give, take) = mpsc::channel::<Task<I, O>>();
    let (take, worker) = (&Mutex::new(take), &worker);
    thread::scope(|scope| {
        // Owned here, so that every way out of this closure, a panic too, ends the workers.
        let give = give;
        let mut waiting: VecDeque<Receiver<O>> = VecDeque::new();
        let mut own = None;
        let (mut wanted, mut spawned) = (if threads > 1 { threads } else { 0 }, 0);
        while let Some(input) = next() {
            if spawned < wanted {
                match thread::Builder::new().spawn_scoped(scope, || serve(take, worker())) {
                    Ok(_) => spawned += 1,
                    // Fewer threads have the same results.
                    Err(_) => wanted = spawned,
                }
            }
            if spawned == 0 {
                done(own.get_or_insert_with(worker)(input))?;
                continue;
            }
            let (result, output) = mpsc::channel();
            if give.send((input, result)).is_err() {
                break;
            }
            waiting.push_back(output);
            while let Some(output) = oldest(&mut waiting, 2 * threads) {
                done(output)?;
            }
        }
        while let Some(output) = oldest(&mut waiting, 0) {
            done(output)?;
        }
        Ok(())
    })
}

type Task<I, O> = (I, Sender<O>);

fn serve<I, O>(take: &Mutex<Receiver<Task<I, O>>>, mut work: impl FnMut(I) -> O) {
    loop {
        // Nothing but `recv` runs under the lock, so a poisoned one guards a sound receiver.
        let task = lock(take).recv();
        let Ok((input, result)) = task else { return };
        if result.send(work(input)).is_err() {
            return;
        }
    }
}

/// The result of the oldest input if it is ready; waits for it if more than `max_waiting` inputs are in flight.
/// A result is missing if its thread panicked, and the scope propagates that.
fn oldest<O>(waiting: &mut VecDeque<Receiver<O>>, max_waiting: usize) -> Option<O> {
    let output = match waiting.front()?.try_recv() {
        Err(TryRecvError::Empty) if waiting.len() > max_waiting => waiting.front()?.recv().ok(),
        Err(TryRecvError::Empty) => return None,
        result => result.ok(),
    };
    waiting.pop_front();
    output
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn run(threads: usize, fail_at: u32) -> (Vec<u32>, Result<(), u32>) {
        let mut inputs = 0..100u32;
        let mut results = Vec::new();
        let worker = || {
            |input: u32| {
                // Earlier inputs take longer.
                thread::sleep(Duration::from_micros(u64::from(100 - input)));
                input
            }
        };
        let end = ordered(
            threads,
            || inputs.next(),
            worker,
            |output| {
                results.push(output);
                if output == fail_at { Err(output) } else { Ok(()) }
            },
        );
        (results, end)
    }

    #[test]
    fn results_come_in_the_order_of_their_inputs_from_any_number_of_threads() {
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
    #[should_panic(expected = "a scoped thread panicked")]
    fn worker_panics_are_propagated() {
        let mut inputs = 0..10;
        let worker = || |input: i32| assert!(input != 5, "on purpose");
        let _ = ordered(2, || inputs.next(), worker, |()| Ok::<(), ()>(()));
    }
}
