//! Delta-Rice: lossless coding of 16-bit waveforms, bit for bit that of HDF5 filter 32025.
//!
//! A *chunk* holds samples of a detector or digitiser. It is cut into *segments*, usually one per
//! waveform, each coded by itself: an integer filter (usually the difference from the sample
//! before), then a Rice code with parameter m. [`Params`] describe it, and are kept beside the
//! chunk, never in it.
//!
//! ```
//! use linerate_rice::{decode, encode, Exec, Params};
//!
//! let waveforms: Vec<i16> = (0..4000).map(|i| (i % 1000) - 30).collect();
//! let params = Params::new(8, Some(1000.try_into().unwrap()))?; // 4 segments of 1000 samples
//! let chunk = encode(&params, &waveforms, Exec::default())?;
//! assert!(chunk.len() < 2000 * 2);
//! assert_eq!(decode::<i16>(&params, &chunk, Exec::threads(2))?, waveforms);
//! # Ok::<(), linerate_rice::Error>(())
//! ```
//!
//! What a call promises:
//!
//! * Every sequence of samples can be encoded, in at most [`Params::bound`] bytes, and decodes to
//!   itself. What would lose data is refused.
//! * No chunk, however damaged, makes a call panic, hang or touch memory that is not its own:
//!   there is a typed [`Error`] with the offset, or samples.
//! * Results depend on the parameters and the input alone: not on the CPU, nor on the number of
//!   threads.
//!
//! The format has no checksum: damage within a payload can decode to other samples.

#![cfg_attr(not(any(feature = "std", test)), no_std)]
#[cfg(feature = "alloc")]
extern crate alloc;

mod chunk;
mod decode;
mod encode;
mod exec;
mod filter;
mod kernel;
mod params;
mod sample;
#[cfg(feature = "alloc")]
pub mod tune;
#[cfg(feature = "alloc")]
pub mod v2;

pub use chunk::{Segment, Segments, decoded_len, expands, segment_count};
#[cfg(feature = "alloc")]
pub use decode::decode;
pub use decode::{decode_into, decode_segments};
#[cfg(feature = "alloc")]
pub use encode::encode;
pub use encode::{encode_into, encoded_len};
pub use exec::Exec;
pub use linerate_core::{Error, Kind, Result, Tier};
pub use params::{Filter, MAX_TAPS, Params};
pub use sample::Sample;
