//! A decoder for deflate, zlib and gzip (RFC 1951, 1950, 1952) whose tables and window belong to
//! the caller.
//!
//! * [`read::Decoder`] and [`write::Decoder`] decode files and pipes.
//! * `parallel` (feature `std`) decodes one stream on several threads, from a reader to a writer.
//! * `index` (feature `std`) gives random access to gzip files by an index of access points.
//! * `GzipFile` (feature `std`) reads the content of a gzip file from any position, and decodes it
//!   ahead on several threads.
//! * [`BufferDecoder`] decodes whole streams into a slice, which also serves as the window;
//!   [`decode_to_vec`] into a vector.
//! * [`StreamDecoder`] decodes streams in pieces that begin and end at any byte of input and
//!   output. Between calls it keeps the window of 256 bytes to 32 KiB, and at most 400 bytes;
//!   everything else is in a [`Scratch`], one per thread.
//! * [`GzipHeader`] keeps name, time, comment and extra field of a gzip member.
//! * [`BlockDecoder`] decodes bare deflate data into a buffer that keeps the output of earlier
//!   calls, beside a [`Window`].
//!
//! ```
//! # #[cfg(feature = "std")]
//! # fn main() -> std::io::Result<()> {
//! use linerate_inflate::{Format, read::Decoder};
//!
//! // Or a `File`.
//! let file = &b"\x1f\x8b\x08\0\0\0\0\0\x04\x03\x4b\x4c\x4a\x06\0\xc2\x41\x24\x35\x03\0\0\0"[..];
//! assert_eq!(std::io::read_to_string(Decoder::new(file, Format::Gzip))?, "abc");
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "std"))]
//! # fn main() {}
//! ```
//!
//! [`BufferDecoder`] and [`StreamDecoder`] can work in memory of the caller alone:
//!
//! ```
//! use linerate_inflate::{BufferDecoder, Format, Options, Scratch};
//!
//! let mut scratch = Scratch::new(); // per thread
//! let stream = [0x78, 0x01, 0x4b, 0x4c, 0x4a, 0x06, 0x00, 0x02, 0x4d, 0x01, 0x27];
//! let mut out = [0; 3];
//! let decoder = BufferDecoder::new(Options::new(Format::Zlib));
//! let sizes = decoder.decode(&mut scratch, None, &stream, &mut out)?;
//! assert_eq!((sizes.read, &out), (11, b"abc"));
//! # Ok::<(), linerate_inflate::Error>(())
//! ```
//!
//! Verdicts and output are those of zlib, also for damaged and truncated streams. There is one
//! exception: with [`Options::window_bits`] below 15, a match that reaches back further than this
//! window is an error whatever the size of the output buffer. [`BufferDecoder`] ignores the option.
//!
//! Untrusted input is safe: errors are typed, nothing is read or written outside the buffers, and
//! memory is limited to the window and the output buffer, which [`Options::output_limit`] bounds.
//!
//! # Features
//!
//! * `std`, on by default, adds CPU dispatch at run time, readers and writers, `parallel`, `index`
//!   and `GzipFile`. It implies `alloc`.
//! * `alloc` adds windows on the heap and [`decode_to_vec`]. Without it windows are in memory of
//!   the caller.
//! * `small` leaves out all but one form of the hot loop, for small programs.
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
//! | `references`, `sparse_window` | feature `std`: the bytes of a window that matches refer to |
//! | `stream/` | feature `std`: [`read::Decoder`], [`write::Decoder`] |
//! | `stream_decoder`, `buffer_decoder` | [`StreamDecoder`]: streams in pieces; [`BufferDecoder`]: whole streams into a slice; [`decode_to_vec`] |
//! | `gzip_header` | [`GzipHeader`]: fields of a gzip header |
//! | `container` | headers and trailers of zlib and gzip |
//! | `block_decoder`, `kernel/` | [`BlockDecoder`]: blocks, and the checked loop over their symbols; the fast loop over literals and matches, compiled per CPU tier |
//! | `scratch` | [`Scratch`]: working memory per thread |
//! | `tables`, `pairs` | Huffman decode tables, built from code lengths; entries of two symbols |
//! | `lengths` | code lengths of a block: packed, and as a list |
//! | `options`, `checksum` | [`Format`], [`Options`]; CRC-32 and Adler-32 |
//! | `window` | [`Window`], and the view of it for loops |
//! | `unit` | units of output: bytes, or 16-bit symbols of `parallel` |
//! | `bits`, `codes` | the bit buffer; entries of decode tables |

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
