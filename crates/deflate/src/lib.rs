//! Stateless deflate (RFC 1951), zlib (RFC 1950) and gzip (RFC 1952) encoding.
//!
//! Each call compresses its input without looking at earlier calls, so all that must be kept per
//! connection is a [`Stream`] of 16 bytes. Working memory ([`Scratch`]) belongs to the thread.
//!
//! ```
//! use linerate_deflate::{bound, finish_bound, Format, Level, Scratch, Stream};
//!
//! let mut scratch = Scratch::boxed();
//! let mut stream = Stream::new(Format::Gzip, Level::Default);
//! let mut out = vec![0; bound(11) + finish_bound()];
//! let mut n = stream.encode(&mut scratch, b"hello hello", &mut out, true)?;
//! n += stream.finish(&mut out[n..])?;
//! assert_eq!(&out[..3], [0x1f, 0x8b, 8]);
//! # assert!(n < 40);
//! # Ok::<(), linerate_deflate::Error>(())
//! ```
//!
//! What a call promises:
//!
//! * Any byte string is valid input. The only errors are [`Kind::OutputTooSmall`] and
//!   [`Kind::BadArgument`]; after either the stream is as it was before the call.
//! * A call writes at most [`bound`]`(input.len())` bytes: 5 per 65,535 more than its input, plus
//!   a constant.
//! * The bytes written depend on the stream, the input and nothing else: not on the scratch, the
//!   room in the output buffer, the CPU, or the number of threads.
//! * After a call at most 5 bits are held back; [`Stream::flush`] sends them.

#![cfg_attr(not(any(feature = "std", test)), no_std)]
#[cfg(feature = "alloc")]
extern crate alloc;

mod block;
pub mod checksum;
mod format;
mod kernel;
#[cfg(feature = "std")]
pub mod parallel;
mod scratch;
mod stream;
#[cfg(all(test, feature = "std"))]
mod testing;
#[cfg(feature = "std")]
mod writer;

pub use format::{Format, Level};
pub use linerate_core::{Error, Kind, Result, Tier};
pub use scratch::{FastScratch, Scratch, ScratchMut};
#[cfg(feature = "alloc")]
pub use stream::compress_to_vec;
pub use stream::{Stream, bound, compress, compress_bound, finish_bound, flush_bound};
#[cfg(feature = "std")]
pub use writer::GzWriter;
