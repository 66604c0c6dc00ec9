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
//! [`Codec::decode`] and its siblings take device pointers and queue the work of a batch on a
//! stream, which may be the caller's own ([`Stream::from_raw`]). They allocate nothing once their
//! [`Workspace`] has grown to the largest batch. Only the results, 16 bytes per chunk, come back to
//! the host.
//!
//! Results, errors and the offsets of errors are those of `linerate-rice`.
//!
//! | module | |
//! |---|---|
//! | `codec`, `host` | [`Codec`]: batches in device memory on a stream; batches in host memory |
//! | `job`, `outcome` | [`DecodeJob`] and [`EncodeJob`]; the result of a chunk |
//! | `workspace` | [`Workspace`]: descriptors, scratch and results, reused by each call |
//! | `kernel`, `layout` | grids, arguments and structures of the kernels, as in `kernels/kernels.h` |
//! | [`sys`] | the driver API: [`Context`], [`Module`], [`Stream`], [`Event`], [`DeviceBuffer`], [`PinnedBuffer`] |
//! | `capi` | the C interface of `linerate_cuda.h` |
//! | `error` | [`Error`] of driver and device; damage is reported per chunk as [`linerate_core::Error`] |

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
