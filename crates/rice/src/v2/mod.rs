//! Version 2: an adaptive, self-describing stream for 16- and 32-bit samples, a format of this
//! project.
//!
//! The header holds the type and number of samples, the length of a row, a checksum, and the offset
//! of each segment, so that segments decode in parallel or alone. Each segment has its own
//! predictor and a checksum, and each block of 32 samples its own Rice parameter. If rows hold one
//! sample of each of several channels, such as the leads of an ECG or stereo sound, each channel is
//! predicted along time and from other channels.
//!
//! `docs/waveforms/rice-v2.md` specifies the format to the byte. Streams are never written under
//! HDF5's filter number 32025.
//!
//! ```
//! use linerate_rice::{Options, v2};
//!
//! let trace: Vec<i32> = (0..100_000i32).map(|i| (i % 5000) * 9 + i % 7).collect();
//! let settings = v2::StreamOptions::new();
//! let stream = v2::encode(&settings, &trace, Options::new())?;
//! assert!(stream.len() < 4 * trace.len() / 5);
//! assert_eq!(v2::decode::<i32>(&stream, Options::new().threads(2))?, trace);
//!
//! let info = v2::info(&stream)?;
//! assert_eq!((info.element, info.samples), (v2::ElementType::I32, 100_000));
//! # Ok::<(), linerate_rice::Error>(())
//! ```
//!
//! * Every sequence of samples can be encoded, in at most [`bound`] bytes, and decodes to itself,
//!   unless it takes more than 16 GiB when encoded, which is an error.
//! * Decoding a damaged stream returns a typed error or, with a probability of about 2^-32 per
//!   damaged segment, wrong samples. It never panics, hangs, or accesses memory out of bounds.
//! * The bytes depend only on the samples and the stream options, not on the CPU or the threads.

pub(crate) mod blocks;
mod bound;
mod channels;
mod checksum;
mod decode;
pub(crate) mod element;
mod encode;
#[cfg_attr(not(feature = "file"), allow(dead_code, reason = "only the check of records is used"))]
pub(crate) mod file_record;
mod geometry;
pub(crate) mod header;
mod lpc;
mod options;
pub(crate) mod plan;
pub(crate) mod references;
pub(crate) mod segment;
mod shape;
mod step;

pub use bound::bound;
pub use decode::{decode, decode_into, decode_segments};
pub use element::{Element, ElementType};
pub use encode::{encode, encode_into};
pub use header::{Info, info};
pub use options::StreamOptions;
pub use shape::Shape;

/// Samples in a block, which has one Rice parameter.
pub(crate) const BLOCK: usize = 32;

/// Smallest quotient that is escaped, so that no unary code has more than 16 bits.
pub(crate) const ESCAPE: u32 = 15;

/// Maximum number of samples in a segment; with channels, maximum number for each channel.
pub const MAX_SEGMENT: u32 = 65_536;

/// Maximum number of channels.
pub const MAX_CHANNELS: u32 = 1024;
