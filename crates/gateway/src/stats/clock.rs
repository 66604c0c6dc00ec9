//! The clocks that measure decoding times.

use std::time::Instant;

/// The clock that measures decoding times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Clock {
    /// Elapsed time, including the time in which the thread waited for a processor.
    #[default]
    Monotonic,
    /// CPU time of the thread on Unix; elsewhere the same as [`Monotonic`](Self::Monotonic). Each
    /// reading is a system call, which is expensive beside a short message.
    ThreadCpu,
}

impl Clock {
    /// The clock that this platform uses for this choice.
    pub(super) const fn available(self) -> Clock {
        if cfg!(unix) { self } else { Clock::Monotonic }
    }

    /// The time in nanoseconds since `base`, or the CPU time of the thread since it began.
    pub(super) fn now(self, base: Instant) -> u64 {
        match self {
            Clock::Monotonic => since(base),
            Clock::ThreadCpu => thread_cpu(base),
        }
    }
}

/// Nanoseconds since `base`.
pub(super) fn since(base: Instant) -> u64 {
    u64::try_from(base.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(unix)]
fn thread_cpu(_: Instant) -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

#[cfg(not(unix))]
fn thread_cpu(base: Instant) -> u64 {
    since(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_do_not_run_backwards() {
        let base = Instant::now();
        for clock in [Clock::Monotonic, Clock::ThreadCpu] {
            let first = clock.available().now(base);
            let sum = std::hint::black_box((0..100_000u64).fold(0, u64::wrapping_add));
            assert!(clock.available().now(base) >= first, "{clock:?} {sum}");
        }
    }
}
