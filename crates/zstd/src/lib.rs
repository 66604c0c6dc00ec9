//! zstd frames (RFC 8878), decoded with tables, window and scratch that belong to the caller.
//!
//! * [`Decoder`]: whole frames into a slice, which is all the window they need.
//! * [`StreamDecoder`]: frames in pieces. Between calls it keeps the window and the tables; all else
//!   is in a [`Scratch`], of which a thread needs one.
//! * [`Dictionary`]: digested once, at most 9 KiB of tables beside its content, movable, and in
//!   memory of the caller if it likes, so that there can be many.
//! * [`PrefetchQueue`]: what the next job needs from memory, fetched while the current one is decoded.
//!
//! Any input is handled: errors are typed, nothing is read or written outside of the buffers, and
//! memory is bounded by [`Options::window_limit`] and the room for output.

#![cfg_attr(not(any(feature = "std", test)), no_std)]

extern crate alloc;

mod block;
mod decoder;
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
mod prefetch;
mod required_parts;
mod scratch;
mod sequences_section;
mod stream;
mod sys;
mod window;

pub use decoder::{Decoder, Sizes};
pub use dictionary::{Dictionary, Digest, ExpandedHuffman, MAX_COMPACT, MAX_TABLES};
pub use frame::{BLOCK_MAX, Format, FrameExtent, FrameHeader, Header, frame_extent};
pub use linerate_core::{Error, Kind, Result, Tier};
pub use options::Options;
pub use prefetch::PrefetchQueue;
pub use required_parts::RequiredParts;
pub use scratch::Scratch;
pub use stream::{Progress, Status, StreamDecoder};
