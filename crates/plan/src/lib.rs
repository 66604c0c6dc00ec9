//! Chooses the codec setting that is best for a pipe, which is a drive or a network.
//!
//! A pipe of `P` bytes per second carries compressed data. It can carry `P * ratio` bytes of
//! content per second, where `ratio` is content size divided by compressed size, if the decoder
//! (or, for writing, the encoder) keeps up with that. A [`Plan`] is made from [`Measurement`]s of
//! candidates (engines with settings) on the user's data, a [`Pipe`] and a [`Budget`]:
//!
//! ```text
//! delivered = min(pipe * ratio, speed on the cores of the budget)
//! ```
//!
//! The [`Goal`] of the budget decides which candidate wins: the one that delivers most, the
//! smallest, or the one with the largest product of delivered speed and ratio. Of candidates that
//! are nearly as good as the best, the smallest wins ([`plan()`]).
//!
//! The crate is pure: it reads no file, measures nothing and imports no engine. The same input
//! gives the same plan.
//!
//! ```
//! use linerate_plan::{Budget, Goal, Measurement, Pipe, Speed, plan};
//!
//! let speed = |median| Some(Speed { low: median * 0.98, median, high: median * 1.02 });
//! let candidate = |settings: &str, compressed, decode| Measurement {
//!     settings: settings.into(),
//!     command: Some(vec!["linerate".into(), "nx".into(), "pack".into(), "my data".into()]),
//!     content: 1_000_000_000,
//!     compressed,
//!     decode: speed(decode),
//!     ..Measurement::default()
//! };
//! let measured = [candidate("zstd 3", 500_000_000, 1.2e9), candidate("zstd 19", 400_000_000, 0.9e9)];
//! let pipe = Pipe::parse("sata")?;
//! let budget = Budget { cores: 2, memory_per_stream: None, min_ratio: None, goal: Goal::Balance };
//! let plan = plan(&measured, &pipe, &budget);
//! assert_eq!(plan.winner().unwrap().measurement.settings, "zstd 19");
//! assert_eq!(plan.command().unwrap(), "linerate nx pack 'my data'");
//! # Ok::<(), linerate_plan::pipe::ParseError>(())
//! ```
//!
//! | module | content |
//! |---|---|
//! | [`measurement`] | the measurement of a candidate: sizes, speeds, scaling, memory, reads |
//! | [`pipe`] | drives and networks with names, and rates |
//! | [`budget`] | limits: cores, memory per stream, minimum ratio; the goal |
//! | [`curve`] | speed by number of cores, from measured numbers of threads |
//! | [`mod@plan`] | what every candidate delivers, and the choice |
//! | `sentence` | the plan in words |
//! | [`json`] | the plan as JSON, and its keys |
//! | [`report`] | the plan as an HTML page with charts |
//! | [`report::chart`] | points and lines as an SVG file |
//! | [`report::day`] | a day of message streams as an HTML page |
//! | [`units`] | rates, sizes and times as people read them |

#![forbid(unsafe_code)]

pub mod budget;
pub mod curve;
pub mod json;
pub mod measurement;
pub mod pipe;
pub mod plan;
pub mod report;
mod sentence;
pub mod units;

pub use budget::{Budget, Goal};
pub use curve::Curve;
pub use measurement::{Measurement, Memory, Read, Scaling, Speed};
pub use pipe::{Direction, Pipe};
pub use plan::{Bound, Exclusion, NEAR, Plan, Row, SAME_SIZE, Saturation, plan};
