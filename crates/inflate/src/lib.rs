//! A decoder for deflate, zlib and gzip (RFC 1951, 1950, 1952) whose tables and window belong to the caller.
//!
//! * [`read::Decoder`] and [`write::Decoder`]: files and pipes.
//! * `parallel`, feature `std`: one stream on several threads, from a reader to a writer.
//! * `index`, feature `std`: random access to gzip files, by an index of access points.
//! * `GzipFile`, feature `std`: the content of a gzip file, decoded ahead on several threads and read from any position.
//! * [`BufferDecoder`]: whole streams into a slice, which also serves as the window. [`decode_to_vec`]: into a vector.
//! * [`StreamDecoder`]: streams in pieces that begin and end at any byte of input and output. Between calls it keeps the
//!   window, of 256 bytes to 32 KiB, and less than 400 bytes; everything else is in a [`Scratch`], one per thread.
//! * [`GzipHeader`]: name, time, comment and extra field of a gzip member.
//! * [`BlockDecoder`]: deflate data alone, into a buffer that keeps the output of earlier calls, beside a [`Window`].
//!
//! ```
//! # #[cfg(feature = "std")]
//! # fn main() -> std::io::Result<()> {
//! use linerate_inflate::{Format, read::Decoder};
//!
//! let file = &b"\x1f\x8b\x08\0\0\0\0\0\x04\x03\x4b\x4c\x4a\x06\0\xc2\x41\x24\x35\x03\0\0\0"[..]; // or a File
//! assert_eq!(std::io::read_to_string(Decoder::new(file, Format::Gzip))?, "abc");
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "std"))]
//! # fn main() {}
//! ```
//!
//! Below the readers are functions whose memory belongs to the caller:
//!
//! ```
//! use linerate_inflate::{BufferDecoder, Format, Options, Scratch};
//!
//! let mut scratch = Scratch::new(); // per thread
//! let stream = [0x78, 0x01, 0x4b, 0x4c, 0x4a, 0x06, 0x00, 0x02, 0x4d, 0x01, 0x27];
//! let mut out = [0; 3];
//! let sizes = BufferDecoder::new(Options::new(Format::Zlib)).decode(&mut scratch, None, &stream, &mut out)?;
//! assert_eq!((sizes.read, &out), (11, b"abc"));
//! # Ok::<(), linerate_inflate::Error>(())
//! ```
//!
//! Verdicts and bytes are those of zlib, for damaged and truncated streams too; with one exception: a match beyond a window
//! of less than 32 KiB is an error whatever the size of the output buffer.
//!
//! Untrusted input is safe: errors are typed, nothing is read or written outside the buffers, and memory is that of the
//! window and the output buffer, which [`Options::output_limit`] bounds.
//!
//! # Features
//!
//! | feature | |
//! |---|---|
//! | `std`, by default | run-time CPU dispatch, readers and writers, `parallel`, `index`, `GzipFile`; implies `alloc` |
//! | `alloc` | windows on the heap, [`decode_to_vec`]. Without it they are in memory of the caller, or there is none |
//! | `small` | one form of the hot loop, for small programs |
//!
//! # Modules
//!
//! Each row imports only from rows below it.
//!
//! | module | contents |
//! |---|---|
//! | `file/` | feature `std`: `GzipFile`, with or without an index |
//! | `index/` | feature `std`: random access to gzip files |
//! | `parallel/` | feature `std`: one stream on several threads |
//! | `references`, `sparse_window` | feature `std`: which bytes of a window matches refer to, and a window of these |
//! | `stream/` | feature `std`: [`read::Decoder`], [`write::Decoder`] |
//! | `stream_decoder` | [`StreamDecoder`]: streams in pieces |
//! | `buffer_decoder` | [`BufferDecoder`]: whole streams into a slice; [`decode_to_vec`] |
//! | `gzip_header` | [`GzipHeader`]: fields of a gzip header |
//! | `container` | headers and trailers of zlib and gzip |
//! | `block_decoder` | [`BlockDecoder`]: blocks, and the checked loop over their symbols |
//! | `kernel/` | the fast loop over literals and matches, compiled per CPU tier |
//! | `scratch` | [`Scratch`]: working memory per thread |
//! | `tables`, `pairs` | Huffman decode tables, built from code lengths; their entries of two symbols |
//! | `lengths` | code lengths of a block: packed, and as a list |
//! | `window` | [`Window`], and the view of it that loops take |
//! | `unit` | units of output: bytes, or 16-bit symbols of `parallel` |
//! | `bits`, `codes` | the bit buffer; entries of decode tables |
//! | `options`, `checksum` | [`Format`], [`Options`]; CRC-32 and Adler-32 |

#![cfg_attr(not(any(feature = "std", test)), no_std)]

#[cfg(feature = "alloc")]
extern crate alloc;

mod bits;
mod block_decoder;
mod buffer_decoder;
mod checksum;
mod codes;
mod container;
mod gzip_header;
mod kernel;
mod lengths;
mod options;
mod pairs;
#[cfg(feature = "std")]
mod references;
mod scratch;
#[cfg(feature = "std")]
mod sparse_window;
#[cfg(feature = "std")]
mod stream;
mod stream_decoder;
mod tables;
#[cfg(all(test, feature = "std"))]
mod test_data;
mod unit;
mod window;

#[cfg(feature = "std")]
mod file;
#[cfg(feature = "std")]
pub mod index;
#[cfg(feature = "std")]
pub mod parallel;

pub use block_decoder::{BlockDecoder, Progress, Status};
#[cfg(feature = "alloc")]
pub use buffer_decoder::decode_to_vec;
pub use buffer_decoder::{BufferDecoder, Sizes};
#[cfg(feature = "std")]
pub use file::GzipFile;
pub use gzip_header::GzipHeader;
pub use linerate_core::{Error, Kind, Result, Tier};
pub use options::{Format, Options};
pub use scratch::Scratch;
#[cfg(feature = "std")]
pub use stream::{read, write};
pub use stream_decoder::StreamDecoder;
pub use window::Window;
