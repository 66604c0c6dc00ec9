//! Lowers the level under load: a [`Controller`] with its clocks.

use std::time::{Duration, Instant};

use linerate_deflate::{Controller, Level};

/// A controller, the time at which it was created, and a clock of CPU time.
pub(crate) struct Load {
    controller: Controller,
    start: Instant,
    cpu_clock: fn() -> Duration,
}

impl Load {
    pub(crate) fn new(controller: Controller, cpu_clock: fn() -> Duration) -> Self {
        Load { controller, start: Instant::now(), cpu_clock }
    }

    /// The level for the next call. Asks the clocks if an update of the controller is due.
    pub(crate) fn level(&self) -> Level {
        self.level_at(self.start.elapsed())
    }

    fn level_at(&self, now: Duration) -> Level {
        if self.controller.is_due(now) {
            return self.controller.update(now, (self.cpu_clock)());
        }
        self.controller.level()
    }

    /// Counts input, unless `level` stores it uncompressed.
    pub(crate) fn add_input(&self, level: Level, bytes: usize) {
        if level > Level::Stored {
            self.controller.add_input(bytes);
        }
    }
}

/// CPU time of this process.
#[cfg(unix)]
pub(crate) fn process_cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

/// The CPU time is unknown here, so no limit on it is ever reached.
#[cfg(not(unix))]
pub(crate) fn process_cpu_time() -> Duration {
    Duration::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn level_follows_the_clock_of_cpu_time() {
        use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
        static CPU_MS: AtomicU64 = AtomicU64::new(0);
        let load = Load::new(Controller::new(Level::High).max_cpu(50), || {
            Duration::from_millis(CPU_MS.load(Relaxed))
        });
        let level = |ms, cpu_ms| {
            CPU_MS.fetch_add(cpu_ms, Relaxed);
            load.level_at(Duration::from_millis(ms))
        };
        let levels =
            [level(0, 0), level(100, 90), level(150, 90), level(200, 0), level(300, 0), level(700, 0)];
        assert_eq!(
            levels,
            [Level::High, Level::Default, Level::Default, Level::Fast, Level::Fast, Level::Default]
        );
    }

    #[test]
    fn input_counts_where_it_is_compressed() {
        let load = Load::new(Controller::new(Level::Fast).max_rate(1000), || Duration::ZERO);
        let at = |ms| load.level_at(Duration::from_millis(ms));
        at(0);
        load.add_input(Level::Stored, 1_000_000);
        assert_eq!(at(100), Level::Fast);
        load.add_input(Level::Fast, 101);
        assert_eq!(at(200), Level::Stored);
    }

    #[cfg(unix)]
    #[test]
    fn cpu_time_of_the_process_grows_with_work() {
        let start = process_cpu_time();
        let mut sum = 0_u64;
        // Ends as soon as the clock has moved.
        while process_cpu_time() == start {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(7));
        }
        assert!(process_cpu_time() > start);
    }
}
