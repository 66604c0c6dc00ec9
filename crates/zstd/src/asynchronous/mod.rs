//! Decoders over asynchronous readers and writers: tokio's with the feature `tokio`, and those of
//! `futures-io` with the feature `futures-io`. The types have the names of the `async-compression`
//! crate. Each implements the traits of every feature that is on.
//!
//! ```
//! # #[cfg(feature = "futures-io")]
//! # fn main() -> std::io::Result<()> {
//! use futures_io::AsyncRead;
//! use linerate_zstd::asynchronous::bufread::ZstdDecoder;
//! use std::pin::Pin;
//! use std::task::{Context, Poll, Waker};
//!
//! let file = &b"\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello"[..]; // or any AsyncBufRead
//! let mut decoder = ZstdDecoder::new(file);
//! let mut text = [0; 9];
//! let mut context = Context::from_waker(Waker::noop()); // what an executor does
//! assert!(matches!(Pin::new(&mut decoder).poll_read(&mut context, &mut text), Poll::Ready(Ok(5))));
//! assert_eq!(&text[..5], b"hello");
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "futures-io"))]
//! # fn main() {}
//! ```
//!
//! The decoders are [`read::Decoder`](crate::read::Decoder) and
//! [`write::Decoder`](crate::write::Decoder) without blocking. They start no thread, and have the
//! same errors, memory and allocations.

pub mod bufread;
#[cfg(feature = "futures-io")]
mod by_futures;
#[cfg(feature = "tokio")]
mod by_tokio;
mod polled;
pub mod write;
