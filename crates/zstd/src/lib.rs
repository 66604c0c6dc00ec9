//! A zstd decoder (RFC 8878) whose tables, window and scratch memory belong to the caller.
//!
//! * [`Decoder`], [`stream`], [`bulk`] and [`dict`] decode files and pipes, with the names of the
//!   `zstd` crate's decoding half.
//! * [`FrameDecoder`] decodes whole frames into a slice, which also serves as the window.
//! * [`StreamDecoder`] decodes frames in pieces. Between calls it keeps the window and the tables;
//!   everything else is in a [`Scratch`], one per thread.
//! * [`PrefixDecoder`] decodes the beginning of a frame, which may lack its end, into a growing
//!   slice.
//! * [`Dictionary`] is digested once into at most 9 KiB of tables beside its content. It is
//!   relocatable, and optionally in memory of the caller, so that there can be very many.
//! * [`seekable::Reader`] reads any byte of a file of many frames, and [`ParallelDecoder`] decodes
//!   many frames on several threads.
//! * [`pipeline`] decodes one frame on several threads.
//! * [`PrefetchQueue`] holds cache lines of the next job, which are prefetched while the current
//!   one is decoded.
//!
//! ```
//! # #[cfg(feature = "std")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use linerate_zstd as zstd;
//!
//! let frame = &b"\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello"[..]; // or a File
//! let text = std::io::read_to_string(zstd::Decoder::new(frame)?)?;
//! assert_eq!(text, "hello");
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "std"))]
//! # fn main() {}
//! ```
//!
//! Beneath the readers are functions that work in memory of the caller:
//!
//! ```
//! use linerate_zstd::{FrameDecoder, Options, Scratch};
//!
//! let mut scratch = Scratch::new(); // per thread
//! let frame = b"\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello"; // one raw block
//! let mut out = [0; 5];
//! let n = FrameDecoder::new(Options::default()).decode(&mut scratch, None, frame, &mut out)?;
//! assert_eq!(&out[..n], b"hello");
//! # Ok::<(), linerate_zstd::Error>(())
//! ```
//!
//! Untrusted input is safe: errors are typed, nothing is read or written outside the buffers, and
//! memory is bounded by [`Options::window_limit`] and the output buffer.
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `std`, by default | run-time CPU dispatch, and everything over files, readers and threads |
//! | `tokio`, `futures-io` | [decoders](stream#asynchronous-readers-and-writers) over the asynchronous readers and writers of these crates |
//! | `small` | for small programs: compiles one form of each hot loop, scalar, without prefetching |
//!
//! Without `std` the crate needs `alloc`, for the [`Scratch`] and windows.
//!
//! # Modules
//!
//! Each row imports only from rows below it.
//!
//! | module | contents |
//! |---|---|
//! | `asynchronous/` | features `tokio` and `futures-io`: decoders over readers and writers that are polled |
//! | `bulk` | feature `std`: whole frames in memory, with the names of the `zstd` crate |
//! | `stream/` | feature `std`: [`read::Decoder`], [`write::Decoder`]; over `source` and `sink`, which may block or be polled, and `frames`, those of one reader or writer |
//! | `dict` | feature `std`: dictionaries with the names of the `zstd` crate |
//! | `parallel` | feature `std`: [`ParallelDecoder`], frames on several threads |
//! | `seekable/` | feature `std`: `index` (of a seek table, or scanned) and [`seekable::Reader`] |
//! | `pipeline/` | feature `std`: one frame on several threads: `decoder` ([`pipeline::Decoder`]), `cutter` (cuts a frame into parts), `ring` (parts that wait, and threads), `block` (one block in the pipeline) |
//! | `stream_decoder` | [`StreamDecoder`]: frames in pieces |
//! | `prefix` | [`PrefixDecoder`]: the beginning of a frame, resumable |
//! | `decoder` | [`FrameDecoder`]: whole frames into a slice |
//! | `block` | one compressed block: literals, then sequences |
//! | `required_parts` | [`RequiredParts`]: the dictionary tables that a frame's headers refer to |
//! | `scratch` | [`Scratch`]: working memory per thread |
//! | `literals`, `sequences_section` | headers of a block's two sections |
//! | `frame_tables` | entropy tables and repeat offsets between two blocks of a frame |
//! | `sys/` | the unchecked dictionary constructor |
//! | `dictionary/` | `digest` (fixed-size description), `parse` (trained dictionaries), `view` ([`Dictionary`]), `expanded_huffman` |
//! | `kernel/` | hot loops: `huffman`, `sequences` (with `backward`, its bit reader), `build` (tables), `split` (sequences decoded, and then executed); compiled per CPU tier by `dispatch` over `isa`, `scalar`, `avx2` |
//! | `execute` | the reference implementation of sequence decoding and execution |
//! | `window` | the last bytes of a frame, kept between calls |
//! | `entropy/` | `bits` (readers), `fse`, `huffman`, `tables` (sequence codes, predefined tables, repeat offsets), `symbolic` (repeat offsets that are not known yet) |
//! | `frame`, `options`, `output`, `prefetch`, `kernel_set` | frame and block headers; options; the output buffer and its history; the prefetch queue; reference or kernels of a tier |

#![cfg_attr(not(any(feature = "std", test)), no_std)]

extern crate alloc;

#[cfg(any(feature = "tokio", feature = "futures-io"))]
pub mod asynchronous;
mod block;
#[cfg(feature = "std")]
pub mod bulk;
mod decoder;
#[cfg(feature = "std")]
pub mod dict;
mod dictionary;
mod entropy;
mod execute;
mod frame;
mod frame_tables;
mod kernel;
mod kernel_set;
mod literals;
mod options;
mod output;
#[cfg(feature = "std")]
mod parallel;
#[cfg(feature = "std")]
pub mod pipeline;
mod prefetch;
mod prefix;
mod required_parts;
mod scratch;
#[cfg(feature = "std")]
pub mod seekable;
mod sequences_section;
#[cfg(feature = "std")]
pub mod stream;
mod stream_decoder;
mod sys;
mod window;

pub use decoder::{FrameDecoder, Sizes, decode_into_vec};
pub use dictionary::{Dictionary, Digest, ExpandedHuffman, MAX_TABLES};
pub use frame::{BLOCK_MAX, Format, FrameExtent, FrameHeader, Header, frame_extent};
pub use linerate_core::{Error, Kind, Result, Tier};
pub use options::Options;
#[cfg(feature = "std")]
pub use parallel::ParallelDecoder;
pub use prefetch::PrefetchQueue;
pub use prefix::{Prefix, PrefixDecoder, PrefixEnd};
pub use required_parts::RequiredParts;
pub use scratch::Scratch;
#[cfg(feature = "std")]
pub use stream::{Decoder, copy_decode, decode_all, decompressed_size, read, write};
pub use stream_decoder::{Progress, SkippedPart, Status, StreamDecoder};
