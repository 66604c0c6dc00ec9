//! The budget of a plan: limits on the cost of compression, and the goal.

use crate::plan::Row;

/// Limits on cores and memory, the required ratio, and the goal.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// Number of cores that encode or decode. 0 counts as 1.
    pub cores: usize,
    /// Maximum bytes of memory per open stream; `None` for no limit.
    pub memory_per_stream: Option<u64>,
    /// Minimum ratio (content size over compressed size), such as 2.0; `None` for no limit.
    pub min_ratio: Option<f64>,
    /// What decides which candidate wins.
    pub goal: Goal,
}

/// What the winner of a plan is chosen for. Of candidates that are nearly as good as the best,
/// [`plan`](fn@crate::plan) says which wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// The most content per second through the pipe.
    Speed,
    /// The smallest size.
    Size,
    /// The largest product of content per second and ratio: half the size is worth as much as twice
    /// the speed.
    #[default]
    Balance,
}

impl Goal {
    /// All goals.
    pub const ALL: [Goal; 3] = [Goal::Speed, Goal::Size, Goal::Balance];

    /// Returns the goal's name: `speed`, `size` or `balance`.
    pub fn name(self) -> &'static str {
        match self {
            Goal::Speed => "speed",
            Goal::Size => "size",
            Goal::Balance => "balance",
        }
    }

    /// Returns the number by which the goal compares candidates; higher is better. Scores of
    /// different goals cannot be compared.
    pub(crate) fn score(self, row: &Row) -> f64 {
        match self {
            Goal::Speed => row.delivered.median,
            Goal::Size => row.ratio,
            Goal::Balance => row.product(),
        }
    }
}
