//! Chooses the level by load. Limits of CPU time and of the rate of input are each enforced by a
//! leaky bucket.

use core::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};
use core::time::Duration;

use crate::Level;

/// Lowers the level of a server's streams while the server uses more CPU time, or compresses more
/// input, than its limits allow, like `maxcompcpuusage` and `maxcomprate` of HAProxy.
///
/// One controller serves any number of threads and streams; no call waits. It measures nothing
/// itself: the caller passes the time and the CPU time used, so its choices depend only on its
/// calls.
///
/// ```
/// use std::time::Duration;
/// use linerate_deflate::{Controller, Level};
///
/// static CONTROLLER: Controller = Controller::new(Level::High).max_cpu(85).max_rate(50_000_000);
///
/// let ms = Duration::from_millis;
/// CONTROLLER.update(ms(0), ms(0));
/// assert_eq!(CONTROLLER.level(), Level::High);
/// // 95 ms of CPU time in 100 ms is more than 85 %.
/// CONTROLLER.update(ms(100), ms(95));
/// assert_eq!(CONTROLLER.level(), Level::Default);
/// ```
///
/// # How it chooses
///
/// Each limit has a leaky bucket: usage flows in, and the amount that the limit allows flows out.
/// The bucket's level never drops below zero, and never rises above what the limit allows in a
/// second. At the first update after each period of 100 ms the compression level
///
/// * drops by one if usage in the period exceeded a limit;
/// * rises by one if usage was at most three quarters of each limit and the buckets are empty, so
///   that earlier excess has been made up for;
/// * otherwise stays. This is the hysteresis: between 75 % and 100 % of a limit nothing changes.
///
/// The controller begins at the highest level. If no level fits exactly, it alternates between two,
/// and mean usage is at most the limit as long as the bucket does not overflow. At
/// [`Level::Stored`] a caller does not compress and counts no input.
///
/// # Clocks
///
/// `now` and `cpu` count from any fixed moments and must never run backwards: for example the time
/// since the program's start, and the CPU time of the process. 100 % is one CPU: a server of four
/// threads that may use 85 % of each passes `max_cpu(340)`.
pub struct Controller {
    max_level: Level,
    /// Percent of one CPU.
    max_cpu: u32,
    /// Bytes per second.
    max_rate: u64,
    level: AtomicU8,
    /// End of the period, in nanoseconds; 0 before the first update.
    deadline: AtomicU64,
    /// CPU time at the start of the period, in nanoseconds.
    cpu: AtomicU64,
    /// Input of the period, in bytes.
    input: AtomicU64,
    /// Level of the bucket of CPU time, in nanoseconds.
    cpu_excess: AtomicU64,
    /// Level of the bucket of input, in bytes.
    input_excess: AtomicU64,
}

/// Converts to nanoseconds, at most 584 years.
fn nanos(time: Duration) -> u64 {
    time.as_nanos().try_into().unwrap_or(u64::MAX)
}

/// Returns `value * numerator / denominator`, rounded down and at most [`u64::MAX`].
fn scale(value: u64, numerator: u64, denominator: u64) -> u64 {
    (u128::from(value) * u128::from(numerator) / u128::from(denominator)).try_into().unwrap_or(u64::MAX)
}

/// Usage, allowance and bucket of one limit in one period.
struct Bucket {
    used: u64,
    allowed: u64,
    excess: u64,
}

impl Bucket {
    /// Adds the period's usage to the bucket and drains its allowance.
    fn fill(used: u64, allowed: u64, excess: &AtomicU64, capacity: u64) -> Bucket {
        let level = excess.load(Relaxed).saturating_add(used).saturating_sub(allowed).min(capacity);
        excess.store(level, Relaxed);
        Bucket { used, allowed, excess: level }
    }

    fn is_over(&self) -> bool {
        self.used > self.allowed
    }

    fn has_room(&self) -> bool {
        self.excess == 0 && self.used <= self.allowed - self.allowed.div_ceil(4)
    }
}

impl Controller {
    /// Time between two choices.
    const PERIOD: Duration = Duration::from_millis(100);
    /// Capacity of a bucket, as time at its limit. Usage beyond it is forgotten.
    const BURST: Duration = Duration::from_secs(1);

    /// Creates a controller without limits, which always chooses `max_level`.
    pub const fn new(max_level: Level) -> Self {
        Controller {
            max_level,
            max_cpu: u32::MAX,
            max_rate: u64::MAX,
            level: AtomicU8::new(max_level as u8),
            deadline: AtomicU64::new(0),
            cpu: AtomicU64::new(0),
            input: AtomicU64::new(0),
            cpu_excess: AtomicU64::new(0),
            input_excess: AtomicU64::new(0),
        }
    }

    /// Limits the CPU time of the process, in percent of one CPU.
    #[must_use]
    pub const fn max_cpu(mut self, percent: u32) -> Self {
        self.max_cpu = percent;
        self
    }

    /// Limits the input that is compressed, in bytes per second.
    #[must_use]
    pub const fn max_rate(mut self, bytes_per_second: u64) -> Self {
        self.max_rate = bytes_per_second;
        self
    }

    /// Returns the level for the next call of any stream.
    pub fn level(&self) -> Level {
        Level::from_number(self.level.load(Relaxed)).unwrap_or(self.max_level)
    }

    /// Counts the input of a call that compressed. Do not count calls at [`Level::Stored`].
    pub fn add_input(&self, bytes: usize) {
        self.input.fetch_add(bytes as u64, Relaxed);
    }

    /// Returns whether the period is over at `now`, so that [`update`](Self::update) would choose a
    /// level. Checking this first saves reading the CPU time.
    pub fn is_due(&self, now: Duration) -> bool {
        nanos(now) >= self.deadline.load(Relaxed)
    }

    /// Chooses the level again if the period is over at `now`, and returns the level. `cpu` is the
    /// CPU time used until `now`. The first call only begins the first period. If several threads
    /// call this at once, one of them chooses.
    pub fn update(&self, now: Duration, cpu: Duration) -> Level {
        let (now, cpu) = (nanos(now), nanos(cpu));
        let deadline = self.deadline.load(Relaxed);
        let next = now.saturating_add(nanos(Self::PERIOD));
        let is_mine =
            now >= deadline && self.deadline.compare_exchange(deadline, next, Relaxed, Relaxed).is_ok();
        if is_mine {
            let used = cpu.saturating_sub(self.cpu.swap(cpu, Relaxed));
            let input = self.input.swap(0, Relaxed);
            if deadline != 0 {
                self.choose(now.saturating_sub(deadline).saturating_add(nanos(Self::PERIOD)), used, input);
            }
        }
        self.level()
    }

    /// Chooses the level after a period of `elapsed` nanoseconds.
    fn choose(&self, elapsed: u64, cpu: u64, input: u64) {
        let (percent, burst, second) = (u64::from(self.max_cpu), nanos(Self::BURST), 1_000_000_000);
        let cpu =
            Bucket::fill(cpu, scale(elapsed, percent, 100), &self.cpu_excess, scale(burst, percent, 100));
        let input = Bucket::fill(
            input,
            scale(elapsed, self.max_rate, second),
            &self.input_excess,
            scale(burst, self.max_rate, second),
        );
        let level = self.level.load(Relaxed);
        let level = if cpu.is_over() || input.is_over() {
            level.saturating_sub(1)
        } else if cpu.has_room() && input.has_room() {
            (level + 1).min(self.max_level as u8)
        } else {
            level
        };
        self.level.store(level, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A clock that only the test moves.
    struct Clock {
        controller: Controller,
        now: u64,
        cpu: u64,
    }

    impl Clock {
        fn new(controller: Controller) -> Self {
            let mut clock = Clock { controller, now: 12_345 * MS, cpu: 678 * MS };
            clock.run(0, 0);
            clock
        }

        /// Advances the time by `ms` and the CPU time by `cpu_ms`, and updates.
        fn run(&mut self, ms: u64, cpu_ms: u64) -> u8 {
            self.now += ms * MS;
            self.cpu += cpu_ms * MS;
            self.controller.update(Duration::from_nanos(self.now), Duration::from_nanos(self.cpu)) as u8
        }

        /// Counts input, then ends a period.
        fn input(&mut self, bytes: usize) -> u8 {
            self.controller.add_input(bytes);
            self.run(100, 0)
        }
    }

    #[test]
    fn without_limits_the_level_stays() {
        let mut clock = Clock::new(Controller::new(Level::Default));
        for _ in 0..10 {
            clock.controller.add_input(usize::MAX >> 8);
            assert_eq!(clock.run(100, 100_000), 2);
        }
    }

    #[test]
    fn more_cpu_than_the_limit_lowers_the_level_each_period_to_stored() {
        let mut clock = Clock::new(Controller::new(Level::High).max_cpu(85));
        assert_eq!([86, 90, 100, 200, 100].map(|cpu| clock.run(100, cpu)), [2, 1, 0, 0, 0]);
    }

    #[test]
    fn between_three_quarters_and_the_limit_nothing_changes() {
        let mut clock = Clock::new(Controller::new(Level::High).max_cpu(80));
        assert_eq!([90, 70, 61, 80, 75].map(|cpu| clock.run(100, cpu)), [2; 5]);
        assert_eq!([60, 80, 81, 60].map(|cpu| clock.run(100, cpu)), [3, 3, 2, 3]);
    }

    #[test]
    fn level_rises_only_after_excess_is_drained() {
        let mut clock = Clock::new(Controller::new(Level::High).max_cpu(50));
        assert_eq!(clock.run(100, 130), 2);
        // The bucket holds 80 ms. Two periods at 15 of 50 ms drain 70 ms of it.
        assert_eq!([15, 15, 15, 15].map(|cpu| clock.run(100, cpu)), [2, 2, 3, 3]);
    }

    #[test]
    fn excess_beyond_the_burst_is_forgotten() {
        let mut clock = Clock::new(Controller::new(Level::Fast).max_cpu(100));
        assert_eq!(clock.run(100, 60_000), 0);
        let periods = (1..1000).find(|_| clock.run(100, 0) == 1);
        assert_eq!(periods, Some(10));
    }

    #[test]
    fn levels_alternate_with_a_mean_rate_of_the_limit() {
        let mut clock = Clock::new(Controller::new(Level::Fast).max_rate(1_000_000));
        let mut compressed = 0;
        for _ in 0..1000 {
            // 4 MB/s arrive. They are not counted at level 0.
            let bytes = 400_000 * usize::from(clock.controller.level() as u8);
            compressed += bytes;
            clock.input(bytes);
        }
        assert!((95_000_000..=100_400_000).contains(&compressed), "{compressed} bytes in 100 s");
    }

    #[test]
    fn rate_is_bytes_per_second_however_long_the_period() {
        let mut clock = Clock::new(Controller::new(Level::High).max_rate(1_000_000));
        assert_eq!(clock.input(100_000), 3);
        assert_eq!(clock.input(100_001), 2);
        clock.controller.add_input(700_000);
        assert_eq!(clock.run(1000, 0), 3, "0.7 MB in a second");
        clock.controller.add_input(1_100_000);
        assert_eq!(clock.run(1000, 0), 2, "1.1 MB in a second");
    }

    #[test]
    fn either_limit_lowers_and_both_must_have_room() {
        let mut clock = Clock::new(Controller::new(Level::High).max_cpu(50).max_rate(1_000_000));
        clock.controller.add_input(200_000);
        assert_eq!(clock.run(100, 0), 2, "rate");
        assert_eq!(clock.run(100, 60), 1, "CPU");
        assert_eq!(clock.run(100, 45), 1, "no room in CPU time");
        assert_eq!(clock.run(100, 0), 2);
    }

    #[test]
    fn level_stays_until_the_period_is_over() {
        let mut clock = Clock::new(Controller::new(Level::High).max_cpu(10));
        let now = |clock: &Clock| Duration::from_nanos(clock.now);
        assert!(!clock.controller.is_due(now(&clock)));
        assert_eq!(clock.run(99, 99), 3);
        assert!(!clock.controller.is_due(now(&clock)));
        assert!(clock.controller.is_due(now(&clock) + Duration::from_millis(1)));
        assert_eq!(clock.run(1, 0), 2, "99 ms of CPU time in 100 ms");
    }

    #[test]
    fn limit_of_zero_stores() {
        let mut clock = Clock::new(Controller::new(Level::Fast).max_cpu(0));
        assert_eq!([clock.run(100, 1), clock.run(100, 1)], [0, 0]);
    }

    #[test]
    fn clocks_that_run_backwards_or_far_ahead_do_not_panic() {
        let controller = Controller::new(Level::High).max_cpu(50).max_rate(1);
        controller.update(Duration::from_secs(1000), Duration::from_secs(1000));
        assert_eq!(controller.update(Duration::ZERO, Duration::ZERO), Level::High);
        assert_eq!(controller.update(Duration::from_secs(2000), Duration::from_secs(1)), Level::High);
        assert_eq!(controller.update(Duration::MAX, Duration::MAX), Level::Default);
    }

    #[test]
    fn only_one_of_concurrent_updates_chooses() {
        let controller = Controller::new(Level::Deeper).max_cpu(50);
        controller.update(Duration::from_millis(1), Duration::ZERO);
        for period in 1..=4 {
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        let ms = Duration::from_millis(1 + 100 * period);
                        controller.update(ms, Duration::from_millis(90 * period));
                    });
                }
            });
            assert_eq!(controller.level() as u64, 6 - period);
        }
    }
}
