//! Chooses the codec setting that delivers most through a pipe.
//!
//! A pipe of `P` bytes per second carries compressed data, so it can deliver `P * ratio` bytes of content per second,
//! where `ratio` is content size over compressed size; a decoder has to keep up with that. A [`Plan`] is made from
//! [`Measurement`]s of candidates on the user's data, a [`Pipe`] and a [`Budget`]:
//!
//! ```text
//! delivered = min(pipe * ratio, speed on the cores of the budget)
//! ```
//!
//! The crate is pure: it reads no file, measures nothing and imports no engine. The same input gives the same plan.
//!
//! | module | content |
//! |---|---|
//! | [`measurement`] | what was measured of one candidate: sizes, speeds, scaling, memory, reads |
//! | [`pipe`] | drives and networks with names, and rates |
//! | [`budget`] | cores, memory per stream, least savings |

#![forbid(unsafe_code)]

pub mod budget;
pub mod measurement;
pub mod pipe;

pub use budget::Budget;
pub use measurement::{Measurement, Memory, Read, Scaling, Speed};
pub use pipe::{Direction, Pipe};
