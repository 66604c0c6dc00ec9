//! Stateless deflate (RFC 1951), zlib (RFC 1950) and gzip (RFC 1952) encoding.
//!
//! Each call compresses its input independently of earlier calls, so the only state per connection is a
//! [`Stream`] of 16 bytes. Working memory ([`Scratch`]) is per thread.
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
//! Guarantees of a call:
//!
//! * Any byte string is valid input. The only errors are [`Kind::OutputTooSmall`] and
//!   [`Kind::BadArgument`]; after either the stream is as it was before the call.
//! * A call writes at most [`bound`]`(input.len())` bytes: 5 per 65,535 more than its input, plus
//!   a constant.
//! * The bytes written depend only on the stream and the input: not on the scratch, the size of the output
//!   buffer, the CPU, or the number of threads.
//! * After a call at most 5 bits are pending; [`Stream::flush`] writes them.
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | `stream` | [`Stream`], the 16 bytes between calls: `encode`, `flush`, `finish`; headers and trailers |
//! | [`session`] | flushed messages with a window of earlier ones; preset dictionaries |
//! | `levels` | levels from 4 on as rows of tables, in zlib's words |
//! | `block` | division of a call into blocks; stored, fixed or dynamic; the budget that keeps the bound. `block/optimal`: levels 8 and 9, with `block/division`, where their blocks end |
//! | `scratch`, `sys/` | working memory per thread, allocated zeroed |
//! | `parallel/` | jobs on several threads into one stream (`pipeline`) or BGZF (`bgzf`) |
//! | `writer` | [`GzWriter`], `std::io::Write` with a buffer |
//! | `thread` | [`with_thread_scratch`], working memory of the thread |
//! | `controller` | [`Controller`], the level by CPU time and rate of input |
//! | `checksum` | CRC-32, Adler-32 and their combination |
//! | `format` | containers and levels |
//! | [`gzip`] | headers of gzip members: name, time, comment, extra field, checksum |
//! | `coding/` | `bits` (bit writer), `huffman` (length-limited codes), `token` (literals and matches of a block), `frequencies` (of their symbols), `costs` (of symbols, in bits), `log2`, `tables` (a tree pair as bits per token), `builtin` (the trees of level 1) |
//! | `kernel/search` | probes of four positions with one branch; `matcher`, the hash tables of rebased positions; `rebased`, the conversion |
//! | `kernel/parse` | levels 2 and 3: bytes to tokens |
//! | `kernel/lazy` | lazy matching, for levels 4 to 7 and sessions: bytes to tokens, over hash chains (`chains`) or over the tables of a session (`indexed`); `history`, the ring of a session before a message |
//! | `kernel/span` | near-optimal parsing, for levels 8 and 9: all matches of a span, from `binary_trees`; `cheapest`, the way through a block |
//! | `kernel/split` | where a block ends, in what is parsed lazily |
//! | `kernel/trees` | symbol counts to codes, to a block's `header` and emission tables |
//! | `kernel/emit` | tokens to bits |
//! | `kernel/fast` | level 1: bytes to bits in one pass; `token_bits`, its lookups |
//! | `kernel/quick` | level 1 in sessions: short messages to bits in one pass; `bytes` |
//! | `kernel/incompressible` | detection and skipping of incompressible data |
//! | `kernel/dispatch` | one instance of each loop per CPU tier, over `isa`, `scalar`, `avx2` |

#![cfg_attr(not(any(feature = "std", test)), no_std)]
#[cfg(feature = "alloc")]
extern crate alloc;

mod block;
pub mod checksum;
mod coding;
#[cfg(target_has_atomic = "64")]
mod controller;
mod format;
#[cfg(feature = "alloc")]
pub mod gzip;
mod kernel;
mod levels;
#[cfg(feature = "std")]
pub mod parallel;
mod scratch;
#[cfg(feature = "alloc")]
pub mod session;
mod stream;
mod sys;
#[cfg(all(test, feature = "std"))]
mod testing;
#[cfg(feature = "std")]
mod thread;
#[cfg(feature = "std")]
mod writer;

#[cfg(target_has_atomic = "64")]
pub use controller::Controller;
pub use format::{Format, Level};
pub use linerate_core::{Error, Kind, Result, Tier};
pub use scratch::{FastScratch, Scratch, ScratchMut};
#[cfg(feature = "alloc")]
pub use stream::compress_to_vec;
pub use stream::{Phase, Stream, StreamState, bound, compress, compress_bound, finish_bound, flush_bound};
#[cfg(feature = "std")]
pub use thread::with_thread_scratch;
#[cfg(feature = "std")]
pub use writer::GzWriter;
