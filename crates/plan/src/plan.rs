//! Makes a plan: calculates what every candidate delivers through the pipe, and chooses one.

use std::cmp::Ordering;

use crate::budget::{Budget, Goal};
use crate::curve::{Curve, SATURATED};
use crate::measurement::{Measurement, Memory, Speed};
use crate::pipe::{Direction, Pipe};

/// Largest part by which a candidate may be worse than the best and still be chosen because it is
/// smaller, in delivered rate ([`Goal::Speed`]) or delivered rate times ratio ([`Goal::Balance`]).
/// Short measurements of a speed are off by about 5 %, in either direction. The value is fixed: the
/// spread of a few rounds is itself noise, so a value based on it would differ in a second plan.
pub const NEAR: f64 = 0.1;
/// Ratio from which data counts as compressible.
pub(crate) const COMPRESSES: f64 = 1.02;
/// Longest random read that counts as fast, in seconds of one core. It is enough to decode a block
/// of a few KiB, but not one of 128 KiB. Fetching the block is not included.
const FAST_READ: f64 = 50e-6;
/// Sizes count as equal if their ratio is lower than the largest ratio by at most this part.
pub const SAME_SIZE: f64 = 0.01;

/// Largest estimate of cores that is stated as a number: two or four measured threads say little
/// about more.
pub(crate) const MAX_STATED_CORES: usize = 128;

/// All candidates with the rates that they deliver, and the one to use.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The pipe that the plan is for.
    pub pipe: Pipe,
    /// The budget, where zero cores are replaced by one.
    pub budget: Budget,
    /// A row for storing plainly, which means without compression, then a row for each measurement,
    /// in their order.
    pub rows: Vec<Row>,
    /// Index in `rows` of the row to use. `None` if all are excluded.
    pub winner: Option<usize>,
    /// Indexes of the rows that are tied with the winner, in ascending order: of those that are nearly
    /// the best, the ones whose size, within [`SAME_SIZE`], and whose delivered rate, within the
    /// measured spread, do not differ from the winner's.
    pub ties: Vec<usize>,
    /// Index in `rows` of the best row that compresses, if storing without compression wins. Disk
    /// space and uploads may be reasons to compress all the same. `None` if another row wins, or if
    /// no row that can be chosen compresses.
    pub alternative: Option<usize>,
}

/// A candidate in a plan. Rates are in bytes of content per second. Directions are those that the
/// pipe is used in.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The measurement of the candidate.
    pub measurement: Measurement,
    /// Whether the row is for storing without compression, which takes no CPU time and has ratio 1.
    pub plain: bool,
    /// Content size divided by compressed size.
    pub ratio: f64,
    /// Speed that saturates the pipe: its rate times the ratio.
    pub required: f64,
    /// Figures for each direction of the pipe, reading first. Empty for storing without
    /// compression, and if a direction was not measured. The figures of the row itself are those of
    /// the slower direction.
    pub(crate) flows: Vec<Flow>,
    /// Speed by number of cores. `None` for storing without compression, and if a direction was not
    /// measured.
    pub curve: Option<Curve>,
    /// Speed on all cores of the budget. `None` for storing without compression, and if a direction
    /// was not measured.
    pub speed: Option<Speed>,
    /// Whether the cores of the budget are more (or fewer) than any measured number of threads, so
    /// that `speed` is an estimate.
    pub extrapolated: bool,
    /// Rate at which content is delivered (reading) or accepted (writing): the low, median and high
    /// of `speed`, each limited to `required`. The rate of the pipe for storing without
    /// compression, and zero if a direction was not measured.
    pub delivered: Speed,
    /// Number of cores that are busy at the delivered rate. Zero for storing without compression,
    /// and if a direction was not measured.
    pub cores: usize,
    /// Fewest cores that saturate the pipe. `None` if more than 1,024 are needed, for storing
    /// without compression, and if a direction was not measured.
    pub saturation: Option<Saturation>,
    /// What limits the delivered rate, or [`Bound::Memory`] if the row is excluded by its memory.
    /// [`Bound::Pipe`] for storing without compression, and if a direction was not measured.
    pub bound: Bound,
    /// Bytes that need not be stored or sent, for each second that one core works; negative if the
    /// candidate makes the data larger. Zero for storing without compression, and if a direction
    /// was not measured.
    pub saved_per_core_second: f64,
    /// Bytes of memory for one stream, plus those of all busy threads.
    pub memory: u64,
    /// Estimates for random reads through the pipe. `None` if random reads were not measured.
    pub reads: Option<Reads>,
    /// The command that decodes the output of the candidate's command, one element per argument.
    /// [`plan`](fn@plan) leaves it `None`. A caller that knows the engines sets it for those that
    /// have one.
    pub decode_command: Option<Vec<String>>,
    /// Why the candidate cannot be chosen. `None` if it can.
    pub excluded: Option<Exclusion>,
    /// Whether the candidate is on the Pareto front: it can be chosen, and no other that can be
    /// chosen has a larger ratio or `speed` without being worse in the other. Storing without
    /// compression counts as the fastest.
    pub pareto: bool,
}

/// Figures of a candidate in one direction of the pipe. Rates are in bytes of content per second.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Flow {
    /// Reading or writing.
    pub(crate) direction: Direction,
    /// Speed by number of cores.
    pub(crate) curve: Curve,
    /// Speed on all cores of the budget.
    pub(crate) speed: Speed,
    /// Whether the cores of the budget are more (or fewer) than any measured number of threads, so
    /// that `speed` is an estimate.
    pub(crate) extrapolated: bool,
    /// Rate at which content is delivered (reading) or accepted (writing): the low, median and high
    /// of `speed`, each limited to [`Row::required`].
    pub(crate) delivered: Speed,
    /// Number of cores that are busy at the delivered rate.
    pub(crate) cores: usize,
    /// Fewest cores that saturate the pipe. `None` if more than 1,024 are needed.
    pub(crate) saturation: Option<Saturation>,
    /// What limits the delivered rate: the pipe or the cores.
    pub(crate) bound: Bound,
}

/// The fewest cores that saturate a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saturation {
    /// Number of cores.
    pub cores: usize,
    /// Whether `cores` is an estimate, because that number is outside the measured numbers of
    /// threads.
    pub extrapolated: bool,
}

impl Saturation {
    /// Whether the number is so large an estimate that it is not stated.
    pub(crate) fn is_vague(self) -> bool {
        self.extrapolated && self.cores > MAX_STATED_CORES
    }

    /// Returns the number of cores as text: `4`, `about 12`, or `more than 128`.
    pub fn text(self) -> String {
        match self {
            vague if vague.is_vague() => format!("more than {MAX_STATED_CORES}"),
            Saturation { cores, extrapolated: true } => format!("about {cores}"),
            Saturation { cores, .. } => cores.to_string(),
        }
    }
}

/// What limits a delivered rate or random reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The pipe carries no more.
    Pipe,
    /// The cores of the budget are too slow to saturate the pipe.
    Cores,
    /// A stream takes more memory than the budget allows.
    Memory,
}

/// Estimates for random reads through the pipe, each of one record, block or part of a file: its
/// transfer through the pipe, and the measured time on one core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reads {
    /// Seconds for one read: the transfer through the pipe, then the work on one core.
    pub seconds: f64,
    /// Reads per second, if all cores of the budget read: the limit of the cores or of the pipe,
    /// whichever is lower.
    pub per_second: f64,
    /// What limits the reads per second: the pipe or the cores.
    pub bound: Bound,
}

/// Why a candidate cannot be chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exclusion {
    /// It has no command, since it was measured only for comparison.
    ComparisonOnly,
    /// It was measured on no content.
    NoContent,
    /// The speed of this direction was not measured.
    NoSpeed(Direction),
    /// Its ratio is below the minimum.
    BelowMinRatio {
        /// The candidate's ratio.
        ratio: f64,
        /// The budget's minimum.
        min_ratio: f64,
    },
    /// An open stream takes more memory than the budget allows.
    AboveMemory {
        /// Memory of the candidate for each open stream, in bytes.
        per_stream: u64,
        /// Limit of the budget for each open stream, in bytes.
        limit: u64,
    },
}

/// Makes the plan: calculates what each candidate delivers, and chooses the one that is best by the
/// goal of the budget, among those that nothing excludes (see [`Exclusion`]).
///
/// For a pipe that is used in both directions, the slower direction counts. Of the candidates
/// within [`NEAR`] of the best, the smallest wins, where sizes within [`SAME_SIZE`] count as equal,
/// then the one with the fewest busy cores, then the first in [`Plan::rows`]. Sizes have no noise,
/// so noise in speeds changes the plan only if a candidate is at the edge of `NEAR`, or if
/// candidates of equal size need other numbers of cores than before.
///
/// For [`Goal::Size`], of the candidates within [`SAME_SIZE`] of the smallest, the one that delivers
/// most wins, then the first in [`Plan::rows`].
pub fn plan(measurements: &[Measurement], pipe: &Pipe, budget: &Budget) -> Plan {
    let budget = Budget { cores: budget.cores.max(1), ..budget.clone() };
    let plain = row(stored_plainly(measurements), true, pipe, &budget);
    let measured = measurements.iter().map(|m| row(m.clone(), false, pipe, &budget));
    let mut rows: Vec<Row> = std::iter::once(plain).chain(measured).collect();
    find_front(&mut rows);
    let near = best_rows(&rows, budget.goal, |_| true);
    let winner = choose(&rows, budget.goal, &near);
    let is_tie = |i: &usize| winner.is_some_and(|winner| *i != winner && is_tied(&rows[*i], &rows[winner]));
    let ties = near.into_iter().filter(is_tie).collect();
    let alternative = winner.filter(|i| rows[*i].plain).and_then(|_| {
        let compressing = best_rows(&rows, budget.goal, |row| !row.plain && row.ratio >= COMPRESSES);
        choose(&rows, budget.goal, &compressing)
    });
    Plan { pipe: pipe.clone(), budget, rows, winner, ties, alternative }
}

impl Plan {
    /// Returns the row to use. `None` if all are excluded.
    pub fn winner(&self) -> Option<&Row> {
        self.winner.map(|i| &self.rows[i])
    }

    /// Returns the row to use if the data must be coded: the best of all rows but the one for
    /// storing without compression, chosen as in the plan. `None` if all of them are
    /// excluded.
    pub fn best_coded(&self) -> Option<&Row> {
        let near = best_rows(&self.rows, self.budget.goal, |row| !row.plain);
        choose(&self.rows, self.budget.goal, &near).map(|i| &self.rows[i])
    }

    /// Returns the best row for reading single records: of the engine `dict`, with fast random
    /// reads, and with a ratio that counts as compression. `None` if there is no such row, if the
    /// plan gives no command, or if the row whose command it gives has fast random reads already.
    pub(crate) fn best_reader(&self) -> Option<&Row> {
        let reads = |row: &Row| row.measurement.read.is_some_and(|read| read.seconds <= FAST_READ);
        if self.applied().is_none_or(&reads) {
            return None;
        }
        let has_records = |row: &Row| row.measurement.engine == "dict" && row.ratio >= COMPRESSES;
        let near = best_rows(&self.rows, self.budget.goal, |row| has_records(row) && reads(row));
        choose(&self.rows, self.budget.goal, &near).map(|i| &self.rows[i])
    }

    /// Returns the best row that was measured only for comparison and is within the limits of the
    /// budget, if it beats every row that can be chosen by more than [`NEAR`]. Delta-Rice is left out:
    /// `linerate rice` makes Delta-Rice files, only not by one command for these files.
    pub(crate) fn better_without_command(&self) -> Option<&Row> {
        let score = |row: &Row| self.budget.goal.score(row);
        let near = near(self.budget.goal);
        let usable = self.rows.iter().filter(|row| row.excluded.is_none()).map(score).fold(0.0, f64::max);
        let within = |row: &&Row| {
            too_large(row.ratio, &self.budget).is_none()
                && too_much_memory(row.measurement.memory.per_stream, &self.budget).is_none()
        };
        let only = self.rows.iter().filter(|row| row.excluded == Some(Exclusion::ComparisonOnly));
        let only = only.filter(within).filter(|row| row.measurement.engine != "rice");
        let best = only.max_by(|a, b| compare(score(a), score(b)))?;
        (score(best) * (1.0 - near) > usable).then_some(best)
    }

    /// Returns the row whose command the plan gives: the winner, or the alternative if storing
    /// without compression wins. If it wins and there is no alternative, returns its row, which has
    /// no command.
    pub(crate) fn applied(&self) -> Option<&Row> {
        self.alternative.or(self.winner).map(|i| &self.rows[i])
    }

    /// Returns the same choice with the figures of one direction (reading or writing) in every row
    /// that has them, for the charts of that direction; other rows stay as they are. The Pareto
    /// front is also that of this direction.
    pub(crate) fn in_direction(&self, direction: Direction) -> Plan {
        let mut view = self.clone();
        for row in &mut view.rows {
            if let Some(flow) = row.flows.iter().find(|flow| flow.direction == direction).cloned() {
                row.set(&flow);
            }
        }
        find_front(&mut view.rows);
        view
    }

    /// Returns the command of the winner ([`Measurement::command`]), quoted for a POSIX shell. If
    /// storing without compression wins, it is the command of the alternative. `None` if there is
    /// nothing to do, because the data does not compress or no candidate can be chosen.
    pub fn command(&self) -> Option<String> {
        self.applied()?.command()
    }

    /// Returns the command that decodes the output of [`Plan::command`], quoted for a POSIX shell.
    /// `None` if there is no command, or none that decodes ([`Row::decode_command`]).
    pub fn decode_command(&self) -> Option<String> {
        quoted(self.applied()?.decode_command.as_ref())
    }
}

fn find_front(rows: &mut [Row]) {
    for i in 0..rows.len() {
        rows[i].pareto = rows[i].excluded.is_none() && !rows.iter().any(|other| dominates(other, &rows[i]));
    }
}

impl Row {
    /// Returns a copy of the row for each direction of its pipe, with the figures of that
    /// direction, and the name of the direction added to the settings. If there are no figures of
    /// two directions, returns only a copy of the row itself.
    pub fn by_direction(&self) -> Vec<Row> {
        let one = |flow: &Flow| {
            let mut row = self.clone();
            row.measurement.settings = format!("{}, {}", self.measurement.settings, flow.direction.name());
            row.set(flow);
            row
        };
        match self.flows.len() {
            0 | 1 => vec![self.clone()],
            _ => self.flows.iter().map(one).collect(),
        }
    }

    /// Replaces the figures of the row by those of one direction.
    fn set(&mut self, flow: &Flow) {
        let Memory { per_stream, per_thread } = self.measurement.memory;
        self.curve = Some(flow.curve.clone());
        self.speed = Some(flow.speed);
        self.extrapolated = flow.extrapolated;
        self.delivered = flow.delivered;
        self.cores = flow.cores;
        self.saturation = flow.saturation;
        self.bound = match self.excluded {
            Some(Exclusion::AboveMemory { .. }) => Bound::Memory,
            _ => flow.bound,
        };
        self.saved_per_core_second = flow.curve.on(1).median * (1.0 - 1.0 / self.ratio);
        self.memory = per_stream + per_thread.saturating_mul(flow.cores as u64);
    }

    /// Returns the part of the required speed that is missing with all cores of the budget, from 0
    /// to 1. It is 0 if the pipe is saturated, if memory excludes the row, and if a direction was
    /// not measured.
    pub fn shortfall(&self) -> f64 {
        match self.bound {
            Bound::Cores => 1.0 - self.delivered.median / self.required,
            Bound::Pipe | Bound::Memory => 0.0,
        }
    }

    /// Returns the delivered rate times the ratio, by which [`Goal::Balance`] compares rows.
    pub fn product(&self) -> f64 {
        self.delivered.median * self.ratio
    }

    /// Returns the command of the candidate, quoted for a POSIX shell. `None` if it has none.
    pub(crate) fn command(&self) -> Option<String> {
        quoted(self.measurement.command.as_ref())
    }
}

fn quoted(command: Option<&Vec<String>>) -> Option<String> {
    // Only a NUL byte cannot be quoted, and an argument of a program cannot contain one.
    shlex::try_join(command?.iter().map(String::as_str)).ok()
}

/// Makes a measurement for storing without compression, with the largest content of all
/// measurements.
fn stored_plainly(measurements: &[Measurement]) -> Measurement {
    let content = measurements.iter().map(|m| m.content).max().unwrap_or(0);
    Measurement { settings: "stored plainly".into(), content, compressed: content, ..Measurement::default() }
}

fn row(measurement: Measurement, plain: bool, pipe: &Pipe, budget: &Budget) -> Row {
    let ratio = if plain { 1.0 } else { measurement.ratio() };
    let required = pipe.rate * ratio;
    let flows = flows(&measurement, required, pipe.direction, budget.cores);
    let excluded = if plain { too_large(ratio, budget) } else { exclusion(&measurement, pipe, budget) };
    let mut row = Row {
        plain,
        ratio,
        required,
        speed: None,
        extrapolated: false,
        delivered: match plain {
            true => Speed { low: required, median: required, high: required },
            false => Speed::default(),
        },
        cores: 0,
        saturation: None,
        bound: Bound::Pipe,
        saved_per_core_second: 0.0,
        memory: measurement.memory.per_stream,
        reads: reads(&measurement, pipe, budget),
        decode_command: None,
        excluded,
        pareto: false,
        curve: None,
        flows: Vec::new(),
        measurement,
    };
    if let Some(slower) = flows.iter().min_by(|a, b| compare(a.speed.median, b.speed.median)) {
        row.set(slower);
    }
    Row { flows, ..row }
}

/// Returns the figures for each direction of the pipe, or none at all if one of them was not
/// measured.
fn flows(measurement: &Measurement, required: f64, direction: Direction, cores: usize) -> Vec<Flow> {
    let reading = || Curve::new(measurement.decode, &measurement.decode_scaling);
    let writing = || Curve::new(measurement.encode, &measurement.encode_scaling);
    let of = |direction, curve: Option<Curve>| curve.map(|curve| flow(direction, curve, required, cores));
    let found = match direction {
        Direction::Read => vec![of(Direction::Read, reading())],
        Direction::Write => vec![of(Direction::Write, writing())],
        Direction::Both => vec![of(Direction::Read, reading()), of(Direction::Write, writing())],
    };
    found.into_iter().collect::<Option<_>>().unwrap_or_default()
}

fn flow(direction: Direction, curve: Curve, required: f64, cores: usize) -> Flow {
    let speed = curve.on(cores);
    let delivered = Speed {
        low: speed.low.min(required),
        median: speed.median.min(required),
        high: speed.high.min(required),
    };
    Flow {
        direction,
        speed,
        extrapolated: !curve.covers(cores),
        delivered,
        cores: curve.cores_for(delivered.median).unwrap_or(cores).min(cores),
        saturation: saturation(&curve, required),
        bound: if speed.median < required * SATURATED { Bound::Cores } else { Bound::Pipe },
        curve,
    }
}

fn saturation(curve: &Curve, required: f64) -> Option<Saturation> {
    let cores = curve.cores_for(required)?;
    Some(Saturation { cores, extrapolated: !curve.covers(cores) })
}

/// Returns the first reason to exclude a candidate. Memory is checked last, so that a candidate
/// that is excluded by memory could otherwise be chosen.
fn exclusion(measurement: &Measurement, pipe: &Pipe, budget: &Budget) -> Option<Exclusion> {
    if measurement.command.is_none() {
        return Some(Exclusion::ComparisonOnly);
    }
    if measurement.content == 0 {
        return Some(Exclusion::NoContent);
    }
    missing_speed(measurement, pipe.direction)
        .or_else(|| too_large(measurement.ratio(), budget))
        .or_else(|| too_much_memory(measurement.memory.per_stream, budget))
}

fn missing_speed(measurement: &Measurement, direction: Direction) -> Option<Exclusion> {
    let reads = Curve::new(measurement.decode, &measurement.decode_scaling).is_some();
    let writes = Curve::new(measurement.encode, &measurement.encode_scaling).is_some();
    match direction {
        Direction::Read | Direction::Both if !reads => Some(Exclusion::NoSpeed(Direction::Read)),
        Direction::Write | Direction::Both if !writes => Some(Exclusion::NoSpeed(Direction::Write)),
        _ => None,
    }
}

fn too_large(ratio: f64, budget: &Budget) -> Option<Exclusion> {
    let min_ratio = budget.min_ratio.filter(|min_ratio| ratio < *min_ratio)?;
    Some(Exclusion::BelowMinRatio { ratio, min_ratio })
}

fn too_much_memory(per_stream: u64, budget: &Budget) -> Option<Exclusion> {
    let limit = budget.memory_per_stream.filter(|limit| per_stream > *limit)?;
    Some(Exclusion::AboveMemory { per_stream, limit })
}

fn reads(measurement: &Measurement, pipe: &Pipe, budget: &Budget) -> Option<Reads> {
    let read = measurement.read?;
    let by_cores = budget.cores as f64 / read.seconds;
    let by_pipe = pipe.rate / read.fetched;
    Some(Reads {
        seconds: read.seconds + read.fetched / pipe.rate,
        per_second: by_cores.min(by_pipe),
        bound: if by_cores < by_pipe { Bound::Cores } else { Bound::Pipe },
    })
}

/// Whether `a` can be chosen, is at least as small and as fast as `b`, and is smaller or faster.
/// Storing without compression counts as faster than all other rows.
fn dominates(a: &Row, b: &Row) -> bool {
    let speed =
        |row: &Row| if row.plain { f64::INFINITY } else { row.speed.map_or(0.0, |speed| speed.median) };
    let no_worse = a.ratio >= b.ratio && speed(a) >= speed(b);
    a.excluded.is_none() && no_worse && (a.ratio > b.ratio || speed(a) > speed(b))
}

/// Returns the indexes of the rows whose score is nearly the best, in ascending order. Only rows
/// that nothing excludes and that are `wanted` take part.
fn best_rows(rows: &[Row], goal: Goal, wanted: impl Fn(&Row) -> bool) -> Vec<usize> {
    let usable = || (0..rows.len()).filter(|i| rows[*i].excluded.is_none() && wanted(&rows[*i]));
    let score = |i: usize| goal.score(&rows[i]);
    let Some(best) = usable().map(score).max_by(|a, b| compare(*a, *b)) else { return Vec::new() };
    usable().filter(|&i| score(i) >= best * (1.0 - near(goal))).collect()
}

/// Largest part by which a candidate may be worse than the best by this goal and still be chosen.
fn near(goal: Goal) -> f64 {
    if goal == Goal::Size { SAME_SIZE } else { NEAR }
}

/// Returns the row to use of those that are nearly the best by the goal.
fn choose(rows: &[Row], goal: Goal, near: &[usize]) -> Option<usize> {
    if goal == Goal::Size {
        let delivered = |i: &&usize| rows[**i].delivered.median;
        // Finds the largest with `min_by` and swapped arguments: `min_by` returns the first of
        // equal elements, `max_by` the last.
        return near.iter().min_by(|a, b| compare(delivered(b), delivered(a))).copied();
    }
    let largest = near.iter().map(|i| rows[*i].ratio).max_by(|a, b| compare(*a, *b))?;
    let small = near.iter().copied().filter(|i| rows[*i].ratio >= largest * (1.0 - SAME_SIZE));
    // `min_by_key` returns the first of equal elements.
    small.min_by_key(|i| rows[*i].cores)
}

/// Whether the measurements do not tell two rows apart: sizes count as equal, and the spreads of the
/// delivered rates overlap, or are as near as the sizes, to which the rate through a pipe is
/// proportional.
fn is_tied(a: &Row, b: &Row) -> bool {
    let reaches = |low: f64, high: f64| high >= low * (1.0 - SAME_SIZE);
    reaches(f64::max(a.ratio, b.ratio), f64::min(a.ratio, b.ratio))
        && reaches(a.delivered.low, b.delivered.high)
        && reaches(b.delivered.low, a.delivered.high)
}

fn compare(a: f64, b: f64) -> Ordering {
    a.total_cmp(&b)
}
