//! Delta-Rice on NVIDIA GPUs: decodes and encodes batches of chunks in device memory on the
//! caller's stream.
//!
//! The CUDA driver is loaded at run time: building needs nothing of CUDA, and a missing driver or
//! device is an [`Error`] that says so.
//!
//! ```no_run
//! use linerate_cuda::{Codec, Context, Stream};
//! use linerate_rice::Params;
//!
//! let context = Context::new(0)?;
//! let (codec, stream) = (Codec::new(&context), Stream::new(&context)?);
//! let params = Params::new(8, None).unwrap();
//! let chunk = [2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0x60, 0x51]; // the samples 5 and -5
//! let decoded = codec.decode_batch(&params, &[&chunk], &stream)?;
//! assert_eq!(decoded[0].as_deref(), Ok(&[5, 0, 251, 255][..]));
//! # Ok::<(), linerate_cuda::Error>(())
//! ```
//!
//! [`Codec::decode`], [`Codec::encode`], [`Codec::decode_streams`] and [`Codec::encode_streams`]
//! take device pointers, or input in host memory, and queue the work of a batch on a stream, which
//! may be the caller's own ([`Stream::from_raw`]). Once their [`Workspace`] has grown to the
//! largest batch, they allocate no more device memory and no more pinned memory. Only the results,
//! 16 bytes per chunk, come back to the host.
//!
//! Decoded samples, encoded bytes, and the kinds and offsets of errors are those of
//! `linerate-rice`. Beyond that, this crate refuses to encode streams of several channels, to
//! decode those that are in device memory, and to decode version 1 chunks of about 16 GiB or more
//! and chunks with more segments than a call has room for.
//!
//! | module | |
//! |---|---|
//! | `codec` | [`Codec`]: the kernels of a device, and workspaces to reuse |
//! | `kernel`, `layout` | calls that queue a batch on a stream; the structures of `kernels.h` |
//! | `host` | calls for batches in host memory, which wait for the results |
//! | `job`, `outcome` | [`DecodeJob`] and [`EncodeJob`]; the result of a chunk |
//! | `workspace` | [`Workspace`]: descriptors, scratch and results, reused by each call |
//! | [`sys`] | the driver API: [`Driver`], [`Context`], [`Module`], [`Stream`], [`Event`], [`DeviceBuffer`], [`PinnedBuffer`] |
//! | `capi` | the C interface of `linerate_cuda.h` |
//! | `error` | [`Error`] of driver, device and request; damage is reported per chunk as [`linerate_core::Error`] |

pub mod capi;
mod codec;
mod error;
mod host;
mod job;
mod kernel;
mod layout;
mod outcome;
pub mod sys;
mod workspace;

pub use codec::{Codec, PooledWorkspace};
pub use error::{Error, Result};
pub use host::{Batch, stream_bound};
pub use job::{DecodeJob, EncodeJob, Input};
pub use outcome::Outcome;
pub use sys::{Context, DeviceBuffer, Driver, Event, Module, PinnedBuffer, Stream};
pub use workspace::Workspace;
