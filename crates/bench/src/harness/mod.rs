//! The harness of all shapes: contenders take turns in interleaved rounds, and their times become
//! measurements.
//!
//! | file | content |
//! |---|---|
//! | `mod` | [`Contender`] and the rounds |
//! | `args` | options that shapes share |
//! | `output` | tables on the terminal, JSON Lines, progress |
//! | `against` | what changed since an earlier record |
//! | `chart` | SVG charts of records |
//! | `provenance` | CPU, versions, command |
//! | `corpus`, `filter` | input files; sizes and names on the command line |
//! | `process` | other programs, and this one again |

pub mod against;
pub mod args;
pub mod chart;
pub mod corpus;
pub mod filter;
pub mod output;
pub mod process;
pub mod provenance;

use std::ops::Range;
use std::time::Duration;

pub use linerate_candidates::timing::Clock;
use serde_json::Value;

pub use self::args::Common;
pub use self::output::{Output, progress};
use crate::records::{Figure, Measurement};

/// Minimum bytes of content in a part of a round; the last part may have fewer. After each part the
/// next contender has its turn. Parts are small enough that a disturbance of the machine hits all
/// contenders alike, and large enough that reading the clock costs nothing.
pub const PART: usize = 4 << 20;

/// The time that a turn took, and other figures that it found. A turn is the work of one contender
/// on one part of a round.
pub struct Spent {
    /// Time of the work.
    pub time: Duration,
    /// Other figures of this turn: the name of a metric, and a value in the unit of that metric.
    pub more: Vec<(&'static str, f64)>,
}

impl From<Duration> for Spent {
    fn from(time: Duration) -> Self {
        Spent { time, more: Vec::new() }
    }
}

type Turn<'c> = Box<dyn FnMut(usize) -> Result<Spent, String> + 'c>;

/// A library or program that is measured beside others, with the work that it does in a turn.
pub struct Contender<'c> {
    measurement: Measurement,
    bytes: usize,
    units: usize,
    /// The metric that gets the time of a round, in seconds. `None` adds no such metric.
    seconds: Option<&'static str>,
    bases: Vec<(usize, String)>,
    /// Whether the metric `cpu_by_base`, where less is better, compares with each base, instead of
    /// `speed_by_base`.
    by_cost: bool,
    others: Vec<(&'static str, usize)>,
    turn: Turn<'c>,
}

/// A measurement that has no params and no metrics yet.
pub fn row(shape: &str, data: &str, contender: impl Into<String>) -> Measurement {
    let (shape, data) = (shape.into(), data.into());
    Measurement { shape, data, contender: contender.into(), ..Measurement::default() }
}

impl Measurement {
    /// Adds a param, or replaces the one of this name.
    #[must_use]
    pub fn param(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.params.insert(name.into(), value.into());
        self
    }

    /// Adds an exact metric, rounded to six significant digits, if its value is known.
    #[must_use]
    pub fn exact(mut self, metric: &str, value: impl Into<Option<f64>>) -> Self {
        self.metrics.extend(value.into().map(|value| (metric.to_owned(), rounded(value).into())));
        self
    }

    /// Adds an exact number of bytes or other units, if it is known.
    #[must_use]
    pub fn size(self, metric: &str, count: impl Into<Option<usize>>) -> Self {
        self.exact(metric, count.into().map(|count| count as f64))
    }
}

/// Rounds to six significant digits. Whole numbers, infinity and NaN stay as they are.
pub(crate) fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() || value.fract() == 0.0 {
        return value;
    }
    let factor = 10f64.powi(5 - value.abs().log10().floor() as i32);
    (value * factor).round() / factor
}

impl<'c> Contender<'c> {
    /// A contender that measures its own turns: `turn` gets the index of a part of the round, works
    /// on that part, and returns the time.
    pub fn new<S: Into<Spent>>(
        measurement: Measurement,
        mut turn: impl FnMut(usize) -> Result<S, String> + 'c,
    ) -> Self {
        Contender {
            measurement,
            bytes: 0,
            units: 0,
            seconds: None,
            bases: Vec::new(),
            by_cost: false,
            others: Vec::new(),
            turn: Box::new(move |part| turn(part).map(Into::into)),
        }
    }

    /// A contender whose turns are timed by `clock`: `work` gets the index of a part of the round.
    pub fn timed(
        measurement: Measurement,
        clock: Clock,
        mut work: impl FnMut(usize) -> Result<(), String> + 'c,
    ) -> Self {
        Self::new(measurement, move |part| clock.time(|| work(part)).map(|((), time)| time))
    }

    /// Sets the bytes of content in a round. Without them, or with 0, there is no metric `speed`.
    #[must_use]
    pub fn bytes(self, bytes: usize) -> Self {
        Contender { bytes, ..self }
    }

    /// Sets the number of blocks, messages or calls in a round. The metric `time` is then the time
    /// of one of them, in microseconds.
    #[must_use]
    pub fn units(self, units: usize) -> Self {
        Contender { units, ..self }
    }

    /// Reports the time of a round as this metric, in seconds.
    #[must_use]
    pub fn seconds(self, metric: &'static str) -> Self {
        Contender { seconds: Some(metric), ..self }
    }

    /// Compares the speed with the speed of the base, the contender at index `place`: adds the
    /// metric `speed_by_base`, with `name` as the param `base`. With several bases there is a
    /// measurement for each.
    #[must_use]
    pub fn base(mut self, place: usize, name: impl Into<String>) -> Self {
        self.bases.push((place, name.into()));
        self
    }

    /// Compares with the base by the metric `cpu_by_base`, where less is better, instead of
    /// `speed_by_base`.
    #[must_use]
    pub fn by_cost(self) -> Self {
        Contender { by_cost: true, ..self }
    }

    /// Adds a metric: the speed divided by the speed of the contender at index `place`.
    #[must_use]
    pub fn by(mut self, metric: &'static str, place: usize) -> Self {
        self.others.push((metric, place));
        self
    }

    /// Name of the contender in measurements, such as a library and its level.
    pub fn name(&self) -> &str {
        &self.measurement.contender
    }
}

/// Numbers of rounds and parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// Number of rounds that count.
    pub count: usize,
    /// Number of parts in a round; contenders take turns with each part.
    pub parts: usize,
    /// Whether a round that does not count comes before those that do.
    pub warm: bool,
}

impl Rounds {
    /// `count` rounds of one part each, after a round that does not count.
    pub fn warm(count: usize) -> Self {
        Rounds { count, parts: 1, warm: true }
    }

    /// `count` rounds of `parts` parts each. All of them count.
    pub fn parts(count: usize, parts: usize) -> Self {
        Rounds { count, parts, warm: false }
    }
}

/// Lets contenders take turns, starting with a different one each time, and returns their
/// measurements in the order of `contenders`. Every timed figure is the median of the rounds with
/// the lowest and the highest. Quotients compare times of the same round.
///
/// # Errors
/// The message of the contender that failed, with its name in front.
pub fn measure(mut contenders: Vec<Contender<'_>>, rounds: Rounds) -> Result<Vec<Measurement>, String> {
    let count = contenders.len();
    let mut times = vec![Vec::with_capacity(rounds.count); count];
    let mut more: Vec<Vec<(&'static str, f64)>> = vec![Vec::new(); count];
    for round in 0..rounds.count + usize::from(rounds.warm) {
        let mut sums = vec![Duration::ZERO; count];
        let counts = !rounds.warm || round > 0;
        for part in 0..rounds.parts {
            for i in 0..count {
                let at = (i + part + round) % count;
                let contender = &mut contenders[at];
                let Measurement { shape, data, .. } = &contender.measurement;
                progress(&format!(
                    "{shape}, {data}: round {} of {}: {}",
                    round,
                    rounds.count,
                    contender.name()
                ));
                let spent = (contender.turn)(part).map_err(|e| format!("{}: {e}", contender.name()))?;
                sums[at] += spent.time;
                if counts {
                    more[at].extend(spent.more);
                }
            }
        }
        if counts {
            times.iter_mut().zip(sums).for_each(|(all, sum)| all.push(sum.as_secs_f64().max(1e-9)));
        }
    }
    progress("");
    Ok((0..count).flat_map(|i| report(&contenders[i], i, &times, &more[i])).collect())
}

/// The measurements of a contender: one, or one for each of its bases.
fn report(
    contender: &Contender<'_>,
    i: usize,
    times: &[Vec<f64>],
    more: &[(&'static str, f64)],
) -> Vec<Measurement> {
    let Contender { bytes, units, seconds, bases, by_cost, others, .. } = contender;
    let mut row = contender.measurement.clone();
    let add = |row: &mut Measurement, metric: &str, values: Vec<f64>| {
        row.metrics.extend(figure(&values).map(|figure| (metric.to_owned(), figure)));
    };
    let each = |of: &dyn Fn(f64) -> f64| times[i].iter().map(|&time| of(time)).collect::<Vec<_>>();
    let by =
        |place: usize| times[place].iter().zip(&times[i]).map(|(base, own)| base / own).collect::<Vec<_>>();
    if *bytes > 0 {
        add(&mut row, "speed", each(&|time| *bytes as f64 / 1e6 / time));
    }
    if *units > 0 {
        add(&mut row, "time", each(&|time| time * 1e6 / *units as f64));
    }
    if let Some(metric) = seconds {
        add(&mut row, metric, times[i].clone());
    }
    for (metric, place) in others {
        add(&mut row, metric, by(*place));
    }
    let mut names: Vec<&str> = more.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let values = more.iter().filter(|(metric, _)| *metric == name).map(|(_, value)| *value);
        add(&mut row, name, values.collect());
    }
    if bases.is_empty() {
        return vec![row];
    }
    let compared = bases.iter().map(|(place, name)| {
        let mut row = row.clone().param("base", name.as_str());
        match by_cost {
            true => add(&mut row, "cpu_by_base", by(*place).into_iter().map(|speed| 1.0 / speed).collect()),
            false => add(&mut row, "speed_by_base", by(*place)),
        }
        row
    });
    compared.collect()
}

/// The median with the lowest and highest value, or an exact figure if all values are equal when
/// rounded to six significant digits. `None` if there are no values.
fn figure(values: &[f64]) -> Option<Figure> {
    let values: Vec<f64> = values.iter().map(|&value| rounded(value)).collect();
    let figure = Figure::of(&values)?;
    let median = rounded(figure.median);
    Some(if figure.low == figure.high { median.into() } else { Figure { median, ..figure } })
}

/// Groups consecutive pieces, whose lengths are given in bytes, into parts of at least `part` bytes
/// each; the last part may be shorter. Returns the range of pieces in each part. No piece is split.
pub fn parts(lengths: impl IntoIterator<Item = usize>, part: usize) -> Vec<Range<usize>> {
    let (mut ranges, mut start, mut bytes, mut end) = (Vec::new(), 0, 0, 0);
    for length in lengths {
        (bytes, end) = (bytes + length, end + 1);
        if bytes >= part {
            ranges.push(start..end);
            (start, bytes) = (end, 0);
        }
    }
    if start < end {
        ranges.push(start..end);
    }
    ranges
}

/// Number of times that a turn works on the same `bytes` bytes of content: as often as they fit
/// into [`PART`], at least once and at most 1,000 times.
pub fn repeats(bytes: usize) -> u32 {
    (PART / bytes.max(1)).clamp(1, 1000) as u32
}

/// Prefix of the error message of a run for which the machine lacks a program or a library.
pub const MISSING: &str = "missing: ";
/// Exit status of a run for which the machine lacks a program or a library.
pub const MISSING_STATUS: u8 = 3;

/// The message of an error.
pub(crate) fn message(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Compares decoded bytes with the expected ones.
///
/// # Errors
/// A sentence, if they differ.
pub fn same(found: &[u8], wanted: &[u8]) -> Result<(), String> {
    if found == wanted { Ok(()) } else { Err("what was decoded is not what was encoded".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_every_piece_once_and_in_order() {
        assert_eq!(parts([5, 5, 1, 20, 2, 3], 10), [0..2, 2..4, 4..6]);
        assert_eq!(parts([], 10), []);
        assert_eq!((repeats(PART), repeats(PART / 2), repeats(1)), (1, 2, 1000));
    }

    #[test]
    fn quotients_are_those_of_the_same_round() {
        let turn = |times: &'static [u64]| {
            let mut next = times.iter();
            move |_| next.next().map(|ms| Duration::from_millis(*ms)).ok_or_else(String::new)
        };
        let contenders = vec![
            Contender::new(row("s", "d", "a"), turn(&[99, 4, 8, 6]))
                .bytes(8000)
                .base(1, "b")
                .by("speed_by_hot", 0),
            Contender::new(row("s", "d", "b"), turn(&[99, 8, 16, 3])).units(2),
        ];
        let all = measure(contenders, Rounds::warm(3)).unwrap();
        let a = &all[0].metrics;
        assert_eq!(a["speed_by_base"], Figure { median: 2.0, low: Some(0.5), high: Some(2.0) });
        assert_eq!((a["speed"].median, a["speed"].low, a["speed_by_hot"]), (1.33333, Some(1.0), 1.0.into()));
        assert_eq!(all[0].params["base"], "b");
        assert_eq!((all[1].metrics["time"].median, all[1].metrics.len()), (4000.0, 1));
    }

    #[test]
    fn median_of_an_even_number_of_rounds_is_the_mean_of_the_middle_ones() {
        let found = figure(&[4.0, 1.0, 3.0, 8.0]).unwrap();
        assert_eq!(found, Figure { median: 3.5, low: Some(1.0), high: Some(8.0) });
    }

    #[test]
    fn error_of_a_turn_names_its_contender() {
        let broken = vec![Contender::new(row("s", "d", "c"), |_| Err::<Duration, _>("broken".into()))];
        assert_eq!(measure(broken, Rounds::warm(1)).unwrap_err(), "c: broken");
    }
}
