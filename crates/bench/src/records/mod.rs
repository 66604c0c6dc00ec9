//! Records of measurements as JSON Lines: the files of `records/`, and the output of every harness.
//!
//! `records/README.md` defines the format. In a measurement, `params` is a flat map of texts and
//! numbers that distinguishes it from others, and `metrics` has results under names of [`METRICS`].

pub(crate) mod conditions;
mod read;
mod registry;
mod write;

use std::collections::BTreeMap;

use linerate_candidates::stats;
use serde_json::Value;

pub use read::{Records, read};
pub use registry::{Better, METRICS, Metric, metric};
pub use write::Writer;

/// The machine, versions and command that the measurements of one run share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Date as YYYY-MM-DD.
    pub date: String,
    /// Name of the CPU, with family and model where the system has them.
    pub cpu: String,
    /// Version and commit of Linerate. Empty if Linerate was not measured.
    pub linerate: String,
    /// The command that repeats the measurement.
    pub command: String,
    /// Versions of libraries, compilers and other programs.
    pub versions: BTreeMap<String, String>,
    /// Whether the run was converted from a CSV record of before 2026-11-26, which has the best
    /// round beside the median but not the worst.
    pub converted: bool,
    /// Title of the document that published the figures, if they are not our own.
    pub source: String,
    /// Address of that document, if it has one.
    pub url: String,
}

/// The results of one contender in one case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurement {
    /// Kind of work. Only measurements of the same shape are compared.
    pub shape: String,
    /// Name of the corpus, file or traffic.
    pub data: String,
    /// Library or program, with its level or mode if it has several.
    pub contender: String,
    /// Texts and numbers that distinguish this measurement from others.
    pub params: BTreeMap<String, Value>,
    /// Results under the names of [`METRICS`].
    pub metrics: BTreeMap<String, Figure>,
}

/// A result in the unit of its metric: exact, or the median of several rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The exact value, or the median.
    pub median: f64,
    /// Lowest of the rounds. `None` if the figure is exact, or comes from a converted record
    /// without it.
    pub low: Option<f64>,
    /// Highest of the rounds. `None` if the figure is exact, or comes from a converted record
    /// without it.
    pub high: Option<f64>,
}

impl From<f64> for Figure {
    fn from(exact: f64) -> Self {
        Self { median: exact, low: None, high: None }
    }
}

impl Figure {
    /// The median, lowest and highest of `rounds`. `None` if `rounds` is empty.
    pub fn of(rounds: &[f64]) -> Option<Self> {
        let low = rounds.iter().copied().min_by(f64::total_cmp)?;
        let high = rounds.iter().copied().max_by(f64::total_cmp)?;
        Some(Self { median: stats::middle(rounds.to_vec()), low: Some(low), high: Some(high) })
    }
}
