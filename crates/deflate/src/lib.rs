//! Stateless deflate (RFC 1951), zlib (RFC 1950) and gzip (RFC 1952) encoding.
//!
//! [`Stream::encode`] compresses its input independently of earlier calls, so the only state per
//! connection is a [`Stream`] of 16 bytes. Working memory ([`Scratch`]) is per thread.
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
//!   [`Kind::BadArgument`]; both leave the stream as it was before the call.
//! * A call writes at most [`bound`]`(input.len())` bytes: its input, 5 bytes for each started
//!   65,535 bytes of it, and a header.
//! * The bytes written depend only on the stream, the input and its history if you pass one, not on
//!   the scratch, the size of the output buffer, the CPU, or the number of threads.
//! * After a call at most 5 bits are pending, or 7 after the last; [`Stream::flush`] writes them.
//!
//! # Modules
//!
//! * `stream`: [`Stream`], the 16 bytes of state between calls: `encode`, `flush`, `finish`;
//!   headers and trailers.
//! * [`session`]: messages of one connection, flushed one by one, with a window of earlier ones;
//!   preset dictionaries.
//! * `levels`: search parameters of levels 4 and above, in zlib's words.
//! * `block`: divides a call into blocks, chooses stored, fixed or dynamic for each, and keeps the
//!   bound. `block/optimal`: levels 8 and 9; `block/division`: where their blocks end.
//! * `scratch`, `sys/`: working memory of a thread, allocated zeroed.
//! * `parallel/`: compresses on several threads (`pipeline`) into one stream or into BGZF (`bgzf`);
//!   `content`: block ends that follow the content.
//! * `writer`: [`GzWriter`], a buffered `std::io::Write`.
//! * `thread`: [`with_thread_scratch`], a scratch kept by each thread.
//! * `controller`: [`Controller`], which chooses the level by CPU time and rate of input.
//! * [`checksum`]: CRC-32, Adler-32 and their combination.
//! * `format`: containers and levels.
//! * [`gzip`]: headers of gzip members: name, time, comment, extra field, checksum.
//! * `coding/`: `bits` (bit writer), `huffman` (length-limited codes), `token` (literals and
//!   matches of a block), `frequencies` (symbol counts), `costs` (bits per symbol), `log2`,
//!   `tables` (a pair of trees as bits per token), `builtin` (the trees of level 1).
//! * `kernel/search`: probes four positions with one branch; `matcher`: hash tables of rebased
//!   positions; `rebased`: conversion to and from them.
//! * `kernel/parse`: levels 2 and 3: bytes to tokens, greedily; `token_writer`: the list that takes
//!   them; `fitted`: trees from a sample, for level 1.
//! * `kernel/lazy`: levels 4 to 7 and sessions: bytes to tokens by lazy matching, over hash chains
//!   (`chains`) or over the index of a session (`indexed`); `history`: the ring buffer that holds a
//!   session's window.
//! * `kernel/span`: levels 8 and 9: near-optimal parsing. Finds all matches of a span by
//!   `binary_trees`; `cheapest`: the cheapest path through a block.
//! * `kernel/split`: where blocks end after lazy matching.
//! * `kernel/trees`: symbol counts to codes, a block's header (`header`) and emission tables.
//! * `kernel/emit`: tokens to bits.
//! * `kernel/fast`: level 1: bytes to bits in one pass; `token_bits`: its lookups.
//! * `kernel/quick`: level 1 in sessions: short messages to bits in one pass; `bytes`: 16-bit words
//!   viewed as bytes.
//! * `kernel/incompressible`: detects and skips incompressible data.
//! * `kernel/dispatch`: one instance of each loop per CPU tier, generic over `isa`; `scalar`,
//!   `avx2`.

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
