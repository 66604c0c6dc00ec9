//! Delta-Rice on NVIDIA GPUs: batches of chunks, decoded and encoded in device memory on the caller's stream.
//!
//! The CUDA driver is loaded at run time: nothing of CUDA is needed to build, and a missing driver or device is an
//! [`Error`] that says so.
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
//! [`Codec::decode`] and its siblings take device pointers and queue the work of a batch on a stream, the caller's own
//! if need be ([`Stream::from_raw`]). They allocate nothing once their [`Workspace`] has grown to the largest batch;
//! only the results, 16 bytes per chunk, come back to the host.
//!
//! Results, errors and their offsets included, are those of `linerate-rice`.
//!
//! | module | |
//! |---|---|
//! | `codec`, `host` | [`Codec`]: batches on a stream; from host memory and back |
//! | `job`, `outcome` | [`DecodeJob`], [`EncodeJob`]; what became of a chunk |
//! | `workspace` | [`Workspace`]: descriptors, scratch and results, kept from call to call |
//! | `kernel`, `layout` | the kernels' grids, arguments and structures, by `kernels/kernels.h` |
//! | [`sys`] | the driver API: [`Context`], [`Module`], [`Stream`], [`Event`], [`DeviceBuffer`], [`PinnedBuffer`] |
//! | `capi` | the C interface of `linerate_cuda.h` |
//! | `error` | [`Error`]: of driver and device. Damage in chunks is reported per chunk, as [`linerate_core::Error`] |

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
