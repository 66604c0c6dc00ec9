//! Delta-Rice: lossless coding of 16-bit waveforms, bit for bit that of HDF5 filter 32025.
//!
//! A *chunk* holds samples of a detector or digitiser. It is divided into *segments*, usually one per
//! waveform, that are coded independently: an integer filter for prediction (usually the difference from
//! the previous sample), then a Rice code with parameter m. [`Params`] hold these settings; they are stored
//! outside the chunk.
//!
//! ```
//! use linerate_rice::{decode, encode, Options, Params};
//!
//! let waveforms: Vec<i16> = (0..4000).map(|i| (i % 1000) - 30).collect();
//! let params = Params::new(8, Some(1000.try_into().unwrap()))?; // 4 segments of 1000 samples
//! let chunk = encode(&params, &waveforms, Options::new())?;
//! assert!(chunk.len() < 2000 * 2);
//! assert_eq!(decode::<i16>(&params, &chunk, Options::new().threads(2))?, waveforms);
//! # Ok::<(), linerate_rice::Error>(())
//! ```
//!
//! Guarantees:
//!
//! * Every sequence of samples can be encoded, in at most [`Params::bound`] bytes, and decodes to
//!   itself. Lossy parameters are rejected when encoding.
//! * A damaged chunk gives a typed [`Error`] with its offset, or samples; never a panic, a hang, or an
//!   access out of bounds.
//! * Results depend only on the parameters and the input, not on the CPU or the number of threads.
//!
//! The format has no checksum: damage within a payload can decode to other samples.
//!
//! | module | |
//! |---|---|
//! | `params`, `filter` | m, segment and filter, and their HDF5 `cd_values`; the FIR filter and its inverse |
//! | `chunk` | the layout of a chunk |
//! | `encode`, `decode` | whole chunks and single segments, into the caller's buffers; threads over segments |
//! | `options` | threads and CPU tier |
//! | `file` | feature `file`: `.npy`, `.rice` and `.drc` files, read and written in pieces |
//! | [`tune`] | the best m from a histogram, the best short filter by search |
//! | `kernel` | hot loops: `decode` and `encode` of version 1; `blocks`, `unary`, `linear`, `packing`, `planning`, `covariance` of version 2 |
//! | [`v2`] | version 2: `header`, `segment` and `shape` are its layout; `plan`, with `step`, `lpc` and `blocks`, the encoder's choices; `encode`, `decode` |

#![cfg_attr(not(any(feature = "std", test)), no_std)]
#[cfg(feature = "alloc")]
extern crate alloc;

mod chunk;
mod decode;
mod encode;
#[cfg(feature = "file")]
pub mod file;
mod filter;
mod kernel;
mod options;
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
pub use linerate_core::{Error, Kind, Result, Tier};
pub use options::Options;
pub use params::{Filter, MAX_TAPS, Params};
pub use sample::Sample;
