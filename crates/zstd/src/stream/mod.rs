//! Decoders over readers and writers, with the names of the `zstd` crate: you only change the
//! import.
//!
//! ```
//! use linerate_zstd as zstd;
//! use std::io::Read;
//!
//! fn main() -> std::io::Result<()> {
//!     let file = &b"\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello"[..]; // or a File
//!     let mut text = String::new();
//!     zstd::Decoder::new(file)?.read_to_string(&mut text)?;
//!     assert_eq!(text, "hello");
//!     assert_eq!(zstd::decode_all(file)?, b"hello");
//!     assert_eq!(zstd::bulk::decompress(file, 100)?, b"hello");
//!     Ok(())
//! }
//! ```
//!
//! The functions and modules with types of the `zstd_safe` crate are missing: `with_context`,
//! `set_parameter`, `raw` and `zio`. Errors of decoding are `io::Error`s whose source is an
//! [`Error`](crate::Error).
//!
//! # Asynchronous readers and writers
//!
//! With the features `tokio` and `futures-io`, `linerate_zstd::asynchronous` has
//! `bufread::ZstdDecoder` and `write::ZstdDecoder` for the traits of these crates. The names are
//! those of the `async-compression` crate.

pub(crate) mod frames;
pub mod read;
pub(crate) mod sink;
pub(crate) mod source;
pub mod write;

pub(crate) use self::frames::{AnyDictionary, window_of};
use std::io::{self, Read, Write};
use std::task::Poll;

pub use self::read::Decoder;
use crate::frame::{BLOCK_MAX, Format, Header};

/// Returns the result of polling a reader or writer that blocks.
fn always_ready<T>(poll: Poll<io::Result<T>>) -> io::Result<T> {
    match poll {
        Poll::Ready(result) => result,
        Poll::Pending => unreachable!("it blocks instead"),
    }
}

/// Returns the content size of the frame at the beginning of `data`, if there is one and its header
/// states the size. Returns 0 for a skippable frame.
pub fn decompressed_size(data: &[u8]) -> Option<u64> {
    match Header::parse(data, Format::Standard).ok()? {
        Header::Frame(header) => header.content_size,
        Header::Skippable { .. } => Some(0),
    }
}

/// Decodes all frames of a reader into a vector, as long as memory lasts. If you do not trust the
/// input, read from a [`Decoder`] through [`Read::take`] instead.
///
/// # Errors
/// Returns the errors of [`read::Decoder`], and [`io::ErrorKind::OutOfMemory`] if memory for the
/// content runs out.
pub fn decode_all<R: Read>(source: R) -> io::Result<Vec<u8>> {
    let mut decoder = Decoder::new(source)?;
    let (mut out, mut filled) = (Vec::new(), 0);
    loop {
        // Make room for a whole block, which is then decoded without a copy. Doubling bounds the
        // copying.
        if out.len() - filled < BLOCK_MAX {
            out.try_reserve(BLOCK_MAX)?;
            out.resize(out.capacity(), 0);
        }
        match decoder.read(&mut out[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    out.truncate(filled);
    Ok(out)
}

/// Decodes all frames of `source` into `destination`.
///
/// # Errors
/// Returns the errors of [`read::Decoder`], and of the destination.
pub fn copy_decode<R: Read, W: Write>(source: R, mut destination: W) -> io::Result<()> {
    let mut decoder = Decoder::new(source)?;
    let mut buffer = vec![0; 4 * BLOCK_MAX];
    loop {
        match decoder.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => destination.write_all(&buffer[..n])?,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}
