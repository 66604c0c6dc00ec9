//! Times candidates that take turns, usually by CPU time on one thread and by elapsed time on
//! several.
//!
//! A turn is the work of one candidate on one number of threads. A round has one turn of each. A
//! machine whose speed changes makes a whole round slower or faster; this is evened out, so that
//! the candidates can be compared.

use std::time::{Duration, Instant};

use linerate_plan::{Scaling, Speed};

use super::Progress;
use crate::sys::clock::{cpu_time, thread_time};

/// Shortest intended duration of a turn, unless the time budget is too small for it. Shorter work
/// is repeated within the turn, up to 1000 times, so that the resolution of the clock and the start
/// of threads change the result by about 1 % at most. On Windows, whose CPU clocks move in steps of
/// 15.6 ms, they change it by about 10 %.
pub(crate) const MIN_TURN: Duration = Duration::from_millis(if cfg!(windows) { 150 } else { 5 });
/// Number of rounds that the time budget should allow. Short work is repeated less often within a
/// turn if there would be fewer rounds.
const USUAL_ROUNDS: usize = 4;
/// Largest number of rounds that count. More would hardly change the best and the median time.
const MAX_ROUNDS: usize = 15;

/// Number of turns before and after a turn, in the order of the turns, that tell how fast the machine
/// was meanwhile.
const NEIGHBOURS: usize = 4;

/// The clock that times some work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// CPU time of the process, for work on one thread at a time. Other programs on the machine
    /// influence it less than elapsed time.
    Cpu,
    /// CPU time of the calling thread, for work that starts no other thread.
    Thread,
    /// Elapsed time, for work on several threads.
    Elapsed,
}

impl Clock {
    /// The clock for work on this many threads.
    pub fn of(threads: usize) -> Clock {
        if threads == 1 { Clock::Cpu } else { Clock::Elapsed }
    }

    /// Does the work and returns its result with the time it took.
    ///
    /// # Errors
    /// Returns the error of the work.
    pub fn time<T>(self, work: impl FnOnce() -> Result<T, String>) -> Result<(T, Duration), String> {
        let begun = Instant::now();
        let now: &dyn Fn() -> Duration = match self {
            Clock::Cpu => &cpu_time,
            Clock::Thread => &thread_time,
            Clock::Elapsed => &|| begun.elapsed(),
        };
        let before = now();
        let done = work()?;
        Ok((done, now() - before))
    }
}

/// The work of one candidate that is to be timed.
pub struct Turn<'t> {
    /// Name of the candidate and its work, for progress messages.
    pub name: String,
    /// Bytes of content that one call of `work` encodes or decodes.
    pub bytes: u64,
    /// The clock that times the work: that of [`Clock::of`].
    pub clock: Clock,
    /// The work, which a turn calls once or more.
    pub work: Box<dyn FnMut() -> Result<(), String> + 't>,
}

/// Times every turn once in each round, and returns the speed of each turn, in bytes per second.
/// The first round does not count: it shows how often short work must be repeated. Every second of
/// the others goes through the turns in reverse order. At least one of them is run, and at most
/// `MAX_ROUNDS` are. No other round begins if it is expected to end after `budget`, which is
/// elapsed time from the beginning of the first round.
///
/// The speeds are those of the machine at its usual pace: the time of a turn is divided by how much
/// longer than usual the turn and its neighbours took, as a median. Neighbours are timed by the same
/// clock.
///
/// # Errors
/// Returns the message of the turn that failed, with the turn's name in front.
pub fn rounds(
    turns: &mut [Turn<'_>],
    budget: Duration,
    progress: Progress<'_>,
) -> Result<Vec<Speed>, String> {
    let begun = Instant::now();
    let mut repeats = vec![1u32; turns.len()];
    let least = MIN_TURN.min(budget / (USUAL_ROUNDS * turns.len().max(1)) as u32);
    for (turn, repeats) in turns.iter_mut().zip(&mut repeats) {
        progress(&turn.name);
        let first = Instant::now();
        turn.run(1)?;
        *repeats =
            (least.as_secs_f64() / first.elapsed().as_secs_f64().max(1e-7)).ceil().clamp(1.0, 1000.0) as u32;
    }
    let mut times = vec![Vec::new(); turns.len()];
    for round in 0..MAX_ROUNDS {
        let one_more = begun.elapsed() * (round + 2) as u32 / (round + 1) as u32;
        if round > 0 && one_more >= budget {
            break;
        }
        let mut order: Vec<usize> = (0..turns.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for i in order {
            progress(&turns[i].name);
            let ((), time) = turns[i].clock.time(|| turns[i].run(repeats[i]))?;
            times[i].push(time.as_secs_f64() / f64::from(repeats[i]));
        }
    }
    for clock in [Clock::Cpu, Clock::Elapsed] {
        let of_clock = turns.iter().zip(&mut times).filter(|(turn, _)| turn.clock == clock);
        even_out(&mut of_clock.map(|(_, times)| times).collect::<Vec<_>>());
    }
    Ok(turns.iter().zip(times).map(|(turn, times)| speed(turn.bytes, times)).collect())
}

/// Divides the time of each turn in each round by the pace of the machine: the median, over the turn
/// and its neighbours, of the time in this round divided by the shortest time in all rounds. Then
/// multiplies all times by the median pace. `times` has the times of each turn, one for each round.
/// Times stay as they are if there are too few turns to tell whether the machine or a candidate was
/// slow, or if the clock did not move.
fn even_out(times: &mut [&mut Vec<f64>]) {
    if times.len() <= NEIGHBOURS || times.iter().any(|all| all.contains(&0.0)) {
        return;
    }
    let least = |all: &Vec<f64>| all.iter().copied().fold(f64::MAX, f64::min);
    let slower: Vec<Vec<f64>> =
        times.iter().map(|all| all.iter().map(|time| time / least(all)).collect()).collect();
    let mut paces = Vec::new();
    for (i, all) in times.iter_mut().enumerate() {
        let near = &slower[i.saturating_sub(NEIGHBOURS)..slower.len().min(i + NEIGHBOURS + 1)];
        for (round, time) in all.iter_mut().enumerate() {
            let pace = crate::stats::middle(near.iter().map(|slower| slower[round]).collect());
            *time /= pace;
            paces.push(pace);
        }
    }
    let usual = crate::stats::middle(paces);
    times.iter_mut().for_each(|all| all.iter_mut().for_each(|time| *time *= usual));
}

impl Turn<'_> {
    fn run(&mut self, repeats: u32) -> Result<(), String> {
        (0..repeats).try_for_each(|_| (self.work)()).map_err(|e| format!("{}: {e}", self.name))
    }
}

/// Returns the slowest, median and fastest speed, in bytes per second, of encoding or decoding
/// `bytes` bytes. `times` has the seconds of each repetition. All speeds are zero if it is empty.
pub fn speed(bytes: u64, mut times: Vec<f64>) -> Speed {
    times.sort_by(f64::total_cmp);
    let of = |seconds: f64| bytes as f64 / seconds.max(1e-9);
    match (times.first(), times.last()) {
        (Some(&best), Some(&worst)) => {
            Speed { low: of(worst), median: of(crate::stats::middle(times.clone())), high: of(best) }
        }
        _ => Speed::default(),
    }
}

/// Returns the numbers of threads to measure with: the powers of two below `most`, and `most`
/// itself, where 0 counts as 1.
pub fn thread_counts(most: usize) -> Vec<usize> {
    let mut counts: Vec<usize> = (0..).map(|i| 1 << i).take_while(|n| *n < most).collect();
    counts.push(most.max(1));
    counts
}

/// Runs `work(0)` on this thread and `work(1)` to `work(threads - 1)` on a new thread each, and
/// waits for all of them.
///
/// # Errors
/// Returns the message of the call with the lowest number that failed, or says that a thread cannot
/// be started.
///
/// # Panics
/// Panics if a call of `work` does.
pub fn on_threads(threads: usize, work: &(dyn Fn(usize) -> Result<(), String> + Sync)) -> Result<(), String> {
    std::thread::scope(|scope| {
        let started: Result<Vec<_>, _> =
            (1..threads).map(|i| std::thread::Builder::new().spawn_scoped(scope, move || work(i))).collect();
        let first = work(0);
        let others = started.map_err(|e| format!("cannot start {threads} threads: {e}"))?;
        others
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .fold(first, Result::and)
    })
}

/// Returns the mean number of busy threads while `threads` threads do work of `parts` parts, all
/// equally long. Three parts keep 1.5 of two threads busy. Zero parts count as one, and so do zero
/// threads.
pub fn busy_threads(parts: u64, threads: usize) -> f64 {
    let (parts, threads) = (parts.max(1), threads.max(1) as u64);
    parts as f64 / parts.div_ceil(threads) as f64
}

/// Pairs each number of threads with the speed measured with it, except one thread.
pub fn scaling(threads: &[usize], speeds: impl IntoIterator<Item = Speed>) -> Vec<Scaling> {
    let pairs = threads.iter().zip(speeds).filter(|(threads, _)| **threads > 1);
    pairs.map(|(&threads, speed)| Scaling { threads, speed }).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn speed_of_three_times_is_worst_median_and_best() {
        let found = speed(1000, vec![2.0, 1.0, 4.0]);
        assert_eq!((found.low, found.median, found.high), (250.0, 500.0, 1000.0));
        assert_eq!(speed(1000, vec![]), Speed::default());
    }

    #[test]
    fn every_turn_runs_in_every_round_and_an_error_names_its_turn() {
        let (first, second) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let slow = |calls: &AtomicUsize| {
            calls.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(1));
            Ok(())
        };
        let mut turns = [
            Turn { name: "a".into(), bytes: 1, clock: Clock::Elapsed, work: Box::new(|| slow(&first)) },
            Turn { name: "b".into(), bytes: 1, clock: Clock::Elapsed, work: Box::new(|| slow(&second)) },
        ];
        let speeds = rounds(&mut turns, Duration::ZERO, &|_| {}).expect("no errors");
        drop(turns);
        assert_eq!(speeds.len(), 2);
        assert_eq!((first.into_inner(), second.into_inner()), (2, 2));
        let mut failing = [Turn {
            name: "c".into(),
            bytes: 1,
            clock: Clock::Elapsed,
            work: Box::new(|| Err("broken".into())),
        }];
        let error = rounds(&mut failing, Duration::ZERO, &|_| {}).unwrap_err();
        assert_eq!(error, "c: broken");
    }

    #[test]
    fn rounds_go_on_until_the_next_would_exceed_the_budget() {
        let calls = AtomicUsize::new(0);
        let slow = || {
            calls.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(20));
            Ok(())
        };
        let mut turns = [Turn { name: "a".into(), bytes: 1, clock: Clock::Elapsed, work: Box::new(slow) }];
        rounds(&mut turns, Duration::from_secs(3600), &|_| {}).expect("no errors");
        drop(turns);
        assert_eq!(calls.into_inner(), 1 + MAX_ROUNDS);
    }

    #[test]
    fn slow_rounds_are_evened_out_but_not_turns_that_are_slow_by_themselves() {
        // The second round takes twice as long, and the last turn 1.5 times as long in the third.
        let mut times: Vec<Vec<f64>> = (1..=5).map(f64::from).map(|t| vec![t, 2.0 * t, t]).collect();
        times[4][2] *= 1.5;
        even_out(&mut times.iter_mut().collect::<Vec<_>>());
        assert_eq!(times[0], [1.0; 3]);
        assert_eq!(times[4], [5.0, 5.0, 7.5]);
        // Most rounds are slow.
        let mut times: Vec<Vec<f64>> = (1..=5).map(f64::from).map(|t| vec![t, 2.0 * t, 2.0 * t]).collect();
        even_out(&mut times.iter_mut().collect::<Vec<_>>());
        assert_eq!((&times[0], &times[4]), (&vec![2.0; 3], &vec![10.0; 3]));
        // The second round is slow for the first ten turns of 20 only.
        let mut times: Vec<Vec<f64>> =
            (0..20).map(|i| vec![1.0, if i < 10 { 2.0 } else { 1.0 }, 1.0]).collect();
        even_out(&mut times.iter_mut().collect::<Vec<_>>());
        assert_eq!((&times[0], &times[19]), (&vec![1.0; 3], &vec![1.0; 3]));
        let mut still = vec![vec![1.0, 2.0]; 5];
        still[0][0] = 0.0;
        even_out(&mut still.iter_mut().collect::<Vec<_>>());
        assert_eq!(still[4], [1.0, 2.0], "the clock did not move");
        let mut few = [vec![1.0, 2.0]];
        even_out(&mut few.iter_mut().collect::<Vec<_>>());
        assert_eq!(few[0], [1.0, 2.0]);
    }

    #[test]
    fn parts_that_threads_cannot_share_evenly_leave_some_idle() {
        assert_eq!(
            [(1, 2), (2, 2), (3, 2), (0, 4)].map(|(n, threads)| busy_threads(n, threads)),
            [1.0, 2.0, 1.5, 1.0]
        );
        assert!(busy_threads(1001, 2) > 1.99);
    }

    #[test]
    fn thread_counts_double_up_to_the_most() {
        assert_eq!(thread_counts(1), [1]);
        assert_eq!(thread_counts(2), [1, 2]);
        assert_eq!(thread_counts(6), [1, 2, 4, 6]);
        assert_eq!(thread_counts(0), [1]);
    }

    #[test]
    fn work_on_threads_runs_once_for_each_and_reports_an_error() {
        let sum = AtomicUsize::new(0);
        let add = |i: usize| {
            sum.fetch_add(i + 1, Ordering::Relaxed);
            Ok(())
        };
        on_threads(4, &add).expect("no error");
        assert_eq!(sum.into_inner(), 10);
        let error = on_threads(3, &|i| if i == 2 { Err("third".into()) } else { Ok(()) });
        assert_eq!(error, Err("third".into()));
    }
}
