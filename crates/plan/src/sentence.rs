//! Says in words what a plan chooses, and why.

use std::fmt;

use crate::curve::Curve;
use crate::pipe::{DRIVE, Direction};
use crate::plan::{Bound, Exclusion, Flow, MAX_STATED_CORES, Plan, Row, SAME_SIZE, Saturation};
use crate::units::{cores, rate, ratio, size, time};

/// Largest number of tied candidates that a note names. It counts the others.
const MAX_NAMED: usize = 3;
/// Smallest spread of the delivered rate worth mentioning, relative to its median.
const SAID_SPREAD: f64 = 0.1;
/// Speed below which a plan mentions the time of encoding, in bytes of content per second: a minute
/// for each GB.
const SLOW_ENCODING: f64 = 1e9 / 60.0;

impl Plan {
    /// Returns the winner and the reason in words. If storing without compression wins although the
    /// data compresses, a second sentence, which ends in a colon, introduces [`Plan::command`].
    pub fn sentence(&self) -> String {
        match self.winner() {
            None => self.nothing_usable(),
            Some(row) if row.plain => self.store_plainly(),
            Some(row) => self.use_candidate(row),
        }
    }

    /// Returns a sentence about a candidate that is used whether it wins or not. If the candidate
    /// does not saturate the pipe, the sentence also says how much speed it lacks. A second
    /// sentence follows if speeds are estimates.
    pub fn sentence_of(&self, row: &Row) -> String {
        let mut said = self.use_candidate(row);
        let short = (row.shortfall() * 100.0).round();
        if short > 0.0 {
            said.truncate(said.len() - 1);
            said += &format!(": {short:.0} % short of the {} that it needs.", rate(row.required));
        }
        match self.estimate(row) {
            Some(estimate) => format!("{said} {estimate}"),
            None => said,
        }
    }

    /// Returns sentences that a reader needs to judge the plan: about uncertainty, ties, memory,
    /// random reads, a command for reading single records, and comparisons that are better by the
    /// goal.
    pub fn notes(&self) -> Vec<String> {
        let winner = self.winner();
        let said = [
            winner.and_then(|row| self.estimate(row)),
            winner.and_then(spread),
            self.tie(),
            self.memory_bound(),
            winner.and_then(|row| self.random_reads(row)),
            self.reader(),
            self.without_command(),
        ];
        said.into_iter().flatten().collect()
    }

    fn use_candidate(&self, row: &Row) -> String {
        let head = format!("{}: {}", row.measurement.settings, smaller(row.ratio));
        let slow = self.slow_encoding(row);
        match row.flows.as_slice() {
            [one] => format!("{head}, {}{slow}.", self.one_direction(one)),
            all => {
                let named =
                    |flow: &Flow| format!("; {}: {}", flow.direction.name(), self.one_direction(flow));
                head + &all.iter().map(named).collect::<String>() + &slow + "."
            }
        }
    }

    /// Returns a remark such as `; encoding takes 2.1 min for each GB` if encoding is slower than
    /// `SLOW_ENCODING` but the pipe is only read, so that it does not wait for encoding. Otherwise
    /// the remark is empty.
    fn slow_encoding(&self, row: &Row) -> String {
        let encode = Curve::new(row.measurement.encode, &row.measurement.encode_scaling);
        let speed = encode.map_or(f64::INFINITY, |curve| curve.on(self.budget.cores).median);
        match self.pipe.direction == Direction::Read && speed < SLOW_ENCODING {
            true => format!("; encoding takes {:.1} min for each GB", 1e9 / speed / 60.0),
            false => String::new(),
        }
    }

    fn one_direction(&self, flow: &Flow) -> String {
        let (pipe, verb, delivered) = (self.pipe_name(), verb(flow.direction), rate(flow.delivered.median));
        let (speed, plain) = (rate(flow.curve.on(flow.cores).median), self.compared_with_plain(flow));
        let head = format!("{speed} on {} of your {}", flow.cores, cores(self.budget.cores));
        match flow.bound {
            Bound::Cores => format!(
                "{head}; {pipe} then {verb} {delivered} of content{plain}, and {}",
                lacking(flow.saturation)
            ),
            _ => format!("{head}; {pipe} is saturated and {verb} {delivered} of content{plain}"),
        }
    }

    /// Returns how the delivered rate compares with storing without compression, with a comma in
    /// front: `, 2.1x as much as stored plainly`.
    fn compared_with_plain(&self, flow: &Flow) -> String {
        let part = flow.delivered.median / self.pipe.rate;
        if part >= 1.01 {
            format!(", {} as much as stored plainly", ratio(part))
        } else if part <= 0.99 {
            format!(", {:.0} % less than stored plainly", (1.0 - part) * 100.0)
        } else {
            ", as much as stored plainly".into()
        }
    }

    fn store_plainly(&self) -> String {
        let plain = format!(
            "Store it plainly: {} {} {} by itself",
            self.pipe_name(),
            verb(self.pipe.direction),
            rate(self.pipe.rate)
        );
        let usable = self.rows.iter().filter(|row| !row.plain && row.excluded.is_none());
        let smallest = usable.max_by(|a, b| a.ratio.total_cmp(&b.ratio));
        match (self.alternative.map(|i| &self.rows[i]), smallest) {
            (Some(row), _) => format!(
                "{plain}, and {} {} on your {}{}. It would save {:.0} % of the space all the same{}:",
                row.measurement.settings,
                rate(row.delivered.median),
                cores(self.budget.cores),
                match row.bound {
                    Bound::Cores => format!("; {}", lacking(row.saturation)),
                    Bound::Pipe | Bound::Memory => String::new(),
                },
                (1.0 - 1.0 / row.ratio) * 100.0,
                self.slow_encoding(row)
            ),
            (None, Some(row)) => format!(
                "{plain}, and the data does not compress ({}: {}).",
                row.measurement.settings,
                ratio(row.ratio)
            ),
            (None, None) => format!("{plain}, and no candidate is usable."),
        }
    }

    fn nothing_usable(&self) -> String {
        let largest = self.rows.iter().filter(|row| row.measurement.command.is_some());
        let largest = largest.max_by(|a, b| a.ratio.total_cmp(&b.ratio));
        match largest {
            None => "Nothing is usable: no candidate was measured that can be used; measure others.".into(),
            Some(row) => format!(
                "Nothing is usable: the smallest candidate, {}, {}; lower the minimum ratio or raise the memory per \
                 stream.",
                row.measurement.settings,
                row.excluded.map_or_else(|| "is excluded".into(), |why| why.to_string())
            ),
        }
    }

    fn estimate(&self, row: &Row) -> Option<String> {
        let threads = row.curve.as_ref()?.max_threads();
        row.extrapolated.then(|| {
            format!(
                "Speeds on {} are estimates: at most {threads} threads were measured.",
                cores(self.budget.cores)
            )
        })
    }

    fn tie(&self) -> Option<String> {
        if self.ties.is_empty() {
            return None;
        }
        let names: Vec<&str> = self.ties.iter().map(|i| &*self.rows[*i].measurement.settings).collect();
        let named = names[..names.len().min(MAX_NAMED)].join("; ");
        let more = match names.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            n => format!("; {n} more"),
        };
        Some(format!(
            "Tied with the chosen one: {named}{more}. Sizes are within {:.0} %, and speeds within the measured spread.",
            SAME_SIZE * 100.0
        ))
    }

    fn memory_bound(&self) -> Option<String> {
        let score = |row: &Row| self.budget.goal.score(row);
        let excluded = self.rows.iter().filter(|row| row.bound == Bound::Memory);
        let best = excluded.max_by(|a, b| score(a).total_cmp(&score(b)))?;
        let why = best.excluded.filter(|_| score(best) > self.winner().map_or(0.0, score))?;
        Some(format!(
            "Memory is the limit: {}, {}, would deliver {}, but {why}.",
            best.measurement.settings,
            smaller(best.ratio),
            rate(best.delivered.median)
        ))
    }

    fn random_reads(&self, row: &Row) -> Option<String> {
        let (read, reads) = (row.measurement.read?, row.reads?);
        let limit = if reads.bound == Bound::Cores { "your cores" } else { "the pipe" };
        Some(format!(
            "A random read takes {} of one core and fetches {}; {limit} allow{} {:.0} reads per second.",
            time(read.seconds),
            size(read.fetched as u64),
            if reads.bound == Bound::Cores { "" } else { "s" },
            reads.per_second
        ))
    }

    /// Names the best candidate for reading single records, with its command, if the candidate
    /// whose command the plan gives has no fast random reads.
    fn reader(&self) -> Option<String> {
        let row = self.best_reader()?;
        Some(format!(
            "To read single records, {} ({}), where a random read takes {}: {}",
            row.measurement.settings,
            smaller(row.ratio),
            time(row.measurement.read?.seconds),
            row.command()?
        ))
    }

    fn without_command(&self) -> Option<String> {
        let row = self.better_without_command()?;
        Some(format!(
            "Better by this goal, but not made by `linerate`: {}, {}, would deliver {}.",
            row.measurement.settings,
            smaller(row.ratio),
            rate(row.delivered.median)
        ))
    }

    /// Returns the pipe in words: `nvme-4.0 (7 GB/s)`, `your drive (1.2 GB/s)`, or
    /// `your pipe of 2.5 GB/s`.
    fn pipe_name(&self) -> String {
        let (name, rate) = (&self.pipe.name, rate(self.pipe.rate));
        match crate::pipe::PRESETS.iter().any(|preset| preset.0 == name) {
            true => format!("{name} ({rate})"),
            false if name == DRIVE => format!("your drive ({rate})"),
            false => format!("your pipe of {rate}"),
        }
    }
}

fn verb(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "delivers",
        Direction::Write => "takes",
        Direction::Both => "carries",
    }
}

/// Returns a ratio in words, such as `2.1x smaller`, or `1.10x larger` for a ratio below 1.
fn smaller(value: f64) -> String {
    match value {
        value if value >= 1.0 => format!("{} smaller", ratio(value)),
        value => format!("{} larger", ratio(1.0 / value)),
    }
}

/// Returns in words how many cores would saturate the pipe.
fn lacking(saturation: Option<Saturation>) -> String {
    match saturation {
        Some(saturation) if saturation.is_vague() => {
            format!("it would take more than {} to saturate it", cores(MAX_STATED_CORES))
        }
        Some(saturation) => {
            let about = if saturation.extrapolated { "about " } else { "" };
            format!("with {about}{} it would saturate", cores(saturation.cores))
        }
        None => "more cores would not saturate it".into(),
    }
}

fn spread(row: &Row) -> Option<String> {
    let rate_of = row.delivered;
    let wide = rate_of.high - rate_of.low >= rate_of.median * SAID_SPREAD;
    wide.then(|| format!("The delivered rate lies between {} and {}.", rate(rate_of.low), rate(rate_of.high)))
}

impl fmt::Display for Exclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ComparisonOnly => f.write_str("was measured for comparison only"),
            Self::NoContent => f.write_str("had nothing to compress"),
            Self::NoSpeed(Direction::Write) => f.write_str("has no measured speed of encoding"),
            Self::NoSpeed(_) => f.write_str("has no measured speed of decoding"),
            Self::BelowMinRatio { ratio: found, min_ratio } => {
                write!(f, "has a ratio of {found:.2}, below the minimum of {min_ratio}")
            }
            Self::AboveMemory { per_stream, limit } => {
                write!(f, "takes {} per stream, above the limit of {}", size(*per_stream), size(*limit))
            }
        }
    }
}
