//! The random numbers of a shard, its clock, and its sequence numbers.

use super::random::Random;

/// When a shard begins, in milliseconds since 1970: 2025-06-01.
const BEGIN: u64 = 1_748_736_000_000;
/// The time from which ids count, in milliseconds since 1970: 2015-01-01.
const EPOCH: u64 = 1_420_070_400_000;
/// Largest age of anything that has an id or a date, in milliseconds: five years.
const PAST: u64 = 5 * 365 * 86_400_000;

pub(super) struct Source {
    random: Random,
    /// The current time, in milliseconds since 1970.
    clock: u64,
    sequence: u64,
}

impl Source {
    pub(super) fn new(seed: u64, shard: u64) -> Source {
        Source { random: Random::stream(seed, shard), clock: BEGIN, sequence: 0 }
    }

    /// A number below `end`, which must not be 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.random.below(end)
    }

    /// Like [`below`](Self::below), for numbers that may exceed a `usize`.
    pub(super) fn below_u64(&mut self, end: u64) -> u64 {
        self.random.below_u64(end)
    }

    /// A number from `low` to below `high`.
    pub(super) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low)
    }

    /// True with a probability of `percent` percent.
    pub(super) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// An index below `end`, exponentially distributed with mean `end / rate`, so small ones are
    /// more likely. Larger results become `end - 1`.
    pub(super) fn busy(&mut self, end: usize, rate: f64) -> usize {
        ((self.random.exponential() * end as f64 / rate) as usize).min(end - 1)
    }

    /// A normally distributed number with this mean and deviation, at least `least`.
    pub(super) fn around(&mut self, mean: f64, deviation: f64, least: usize) -> usize {
        ((mean + deviation * self.random.normal()) as usize).max(least)
    }

    /// A log-normally distributed number with this median, clamped to between a fifth of it and ten
    /// times it.
    pub(super) fn log_normal(&mut self, median: f64, deviation: f64) -> f64 {
        (median * self.random.log_normal(deviation)).clamp(median / 5.0, median * 10.0)
    }

    /// The time in milliseconds since 1970. Each call advances it by up to 0.4 s.
    pub(super) fn now(&mut self) -> u64 {
        self.clock += self.between(1, 400) as u64;
        self.clock
    }

    /// The id of something created at a random time in the past.
    pub(super) fn id(&mut self) -> u64 {
        let made = self.clock - EPOCH - self.below_u64(PAST);
        made << 22 | self.below(1 << 22) as u64
    }

    /// The id of something created now.
    pub(super) fn new_id(&mut self) -> u64 {
        (self.now() - EPOCH) << 22 | self.below(1 << 12) as u64
    }

    /// 32 hexadecimal digits: the hash of a picture, or the name of a session.
    pub(super) fn hex(&mut self) -> String {
        let mut word = || self.random.below_u64(u64::MAX);
        format!("{:016x}{:016x}", word(), word())
    }

    /// Advances the time as [`now`](Self::now) does, and returns it as text.
    pub(super) fn time(&mut self) -> String {
        let now = self.now();
        date(now)
    }

    /// A random time in the past as text.
    pub(super) fn past(&mut self) -> String {
        date(self.clock - self.below_u64(PAST))
    }

    /// An event with the next sequence number.
    pub(super) fn dispatch(&mut self, event: &str, data: &str) -> String {
        self.sequence += 1;
        format!(r#"{{"t":"{event}","s":{},"op":0,"d":{data}}}"#, self.sequence)
    }
}

/// A time in ISO 8601, by the Gregorian calendar.
fn date(milliseconds: u64) -> String {
    let (days, of_day) = (milliseconds / 86_400_000, milliseconds % 86_400_000);
    let (year, month, day) = civil(days);
    let (second, thousandth) = (of_day / 1000, of_day % 1000);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{thousandth:03}000+00:00")
}

/// Year, month and day of a day counted from 1970-01-01, in the Gregorian calendar (Hinnant's
/// `civil_from_days`). Years are counted from March, so that the leap day is their last.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468; // days since 0000-03-01
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (milliseconds, text) in [
            (0, "1970-01-01T00:00:00.000000+00:00"),
            (951_782_400_000, "2000-02-29T00:00:00.000000+00:00"),
            (BEGIN, "2025-06-01T00:00:00.000000+00:00"),
            (BEGIN - 1, "2025-05-31T23:59:59.999000+00:00"),
        ] {
            assert_eq!(date(milliseconds), text);
        }
    }

    #[test]
    fn active_members_recur_more_often() {
        let mut source = Source::new(1, 1);
        let low = (0..10_000).filter(|_| source.busy(100, 6.0) < 12).count();
        assert!((4500..5700).contains(&low), "{low}");
        assert!((0..10_000).all(|_| source.busy(3, 6.0) < 3));
    }
}
