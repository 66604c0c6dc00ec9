//! Version 2: an adaptive stream of our own for 16- and 32-bit samples.
//!
//! A stream describes itself: type and number of samples, the length of a row, checksums, and
//! where each segment begins, so that segments decode in parallel and one by one. Each segment has
//! its own predictor, and each block of 32 samples its own Rice parameter. `docs/rice-v2.md` has
//! the format to the byte. It is never written under HDF5's filter id 32025.
//!
//! ```
//! use linerate_rice::{Exec, v2};
//!
//! let trace: Vec<i32> = (0..100_000i32).map(|i| (i % 5000) * 9 + i % 7).collect();
//! let settings = v2::Settings::default();
//! let stream = v2::encode(&settings, &trace, Exec::default())?;
//! assert!(stream.len() < 4 * trace.len() / 5);
//! assert_eq!(v2::decode::<i32>(&stream, Exec::threads(2))?, trace);
//!
//! let info = v2::info(&stream)?;
//! assert_eq!((info.element, info.samples), (v2::ElementType::I32, 100_000));
//! # Ok::<(), linerate_rice::Error>(())
//! ```
//!
//! * Every sequence of samples can be encoded, in at most [`bound`] bytes, and decodes to itself.
//! * A damaged stream yields a typed error, or with a probability of about 2^-32 per damaged
//!   segment wrong samples; never a panic, a hang, or an access outside its buffers.
//! * The bytes depend on the samples and the settings alone, not on the CPU or on the threads.

pub(crate) mod blocks;
mod decode;
pub(crate) mod element;
mod encode;
mod header;
mod lpc;
pub(crate) mod plan;
pub(crate) mod segment;
mod settings;
mod shape;
mod step;

pub use decode::{decode, decode_into, decode_segments};
pub use element::{Element, ElementType};
pub use encode::{encode, encode_into};
pub use header::{Info, info};
pub use settings::{Settings, bound};
pub use shape::Shape;

/// Samples in a block, which has one Rice parameter.
pub(crate) const BLOCK: usize = 32;

/// Quotients from this one on are escaped: no code has more than 16 bits of unary part.
pub(crate) const ESCAPE: u32 = 15;

/// Most samples in a segment.
pub const MAX_SEGMENT: u32 = 65_536;
