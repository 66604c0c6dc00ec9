//! Delta-Rice: lossless compression of waveforms. Version 1 reads and writes the chunks of HDF5
//! filter 32025 bit for bit; version 2, in [`v2`], is a smaller format of this project.
//!
//! A *chunk* of version 1 holds 16-bit samples of a detector or digitiser. It is divided into
//! *segments*, usually one per waveform, which are coded independently: an integer filter predicts
//! each sample (usually by the previous one), and a Rice code with parameter m stores the
//! difference. [`Params`] has these settings, which a chunk does not store.
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
//! * Every sequence of up to 2^32 - 1 samples can be encoded, in at most [`Params::bound`] bytes,
//!   and decodes to itself. Lossy parameters are rejected when encoding.
//! * Decoding a damaged chunk returns a typed [`Error`] with an offset, or other samples. It never
//!   panics, hangs, or accesses memory out of bounds.
//! * Results depend only on the parameters and the input, not on the CPU or the number of threads.
//!
//! Version 1 has no checksum: damage within a payload can decode to other samples.
//!
//! | module | |
//! |---|---|
//! | `params`, `filter` | m, segment and filter, and their HDF5 `cd_values`; the FIR filter and its inverse |
//! | `chunk` | the layout of a chunk |
//! | `encode`, `decode` | whole chunks and single segments, into the caller's buffers; threads over segments |
//! | `options` | threads and CPU tier |
//! | `file` | feature `file`: `.npy`, `.rice` and `.drc` files, read and written in pieces |
//! | [`tune`] | the best m from a histogram, the best short filter by search |
//! | `kernel` | hot loops: `decode` and `encode` for version 1; `blocks`, `unary`, `linear`, `channels`, `packing`, `planning`, `quotients`, `covariance` for version 2 |
//! | [`v2`] | version 2: layout in `header`, `segment`, `references`, `shape` and `file_record`; the encoder's choices in `geometry`, `plan`, `step`, `lpc`, `channels` and `blocks`; `encode`, `decode` |

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
