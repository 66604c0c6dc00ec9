//! Speeds of contenders that take turns, so that a busy machine slows all of them alike.

use std::fs;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// What a turn takes at least.
const TURN: Duration = Duration::from_millis(20);

/// A name, and work that goes through all samples once.
pub(crate) struct Contender<'a> {
    pub(crate) name: String,
    pub(crate) clock: fn() -> Duration,
    pub(crate) work: Box<dyn FnMut() + 'a>,
}

/// Time per pass: the least and the median.
pub(crate) struct Times {
    pub(crate) best: Duration,
    pub(crate) median: Duration,
}

/// Lets every contender take `rounds` turns, after one that is not counted.
pub(crate) fn measure(contenders: &mut [Contender], rounds: usize) -> Vec<Times> {
    let mut times = vec![Vec::new(); contenders.len()];
    for round in 0..=rounds {
        for (contender, times) in contenders.iter_mut().zip(&mut times) {
            let time = turn(contender);
            if round > 0 {
                times.push(time);
            }
        }
    }
    times.iter_mut().for_each(|times| times.sort_unstable());
    times.iter().map(|times| Times { best: times[0], median: times[times.len() / 2] }).collect()
}

fn turn(contender: &mut Contender) -> Duration {
    let before = (contender.clock)();
    for passes in 1u32.. {
        (contender.work)();
        let time = (contender.clock)() - before;
        if time >= TURN {
            return time / passes;
        }
    }
    unreachable!("the time passes")
}

/// Time that this thread has run, or where the system does not tell, time that has passed.
pub(crate) fn cpu_time() -> Duration {
    // The system brings the account up to date when a thread gives way, otherwise every few
    // milliseconds only.
    std::thread::yield_now();
    let stat = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = stat.and_then(|s| s.split(' ').next()?.parse().ok());
    nanos.map_or_else(wall_time, Duration::from_nanos)
}

/// Time that has passed.
pub(crate) fn wall_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}
