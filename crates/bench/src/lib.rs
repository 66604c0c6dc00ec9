//! Measures Linerate's engines beside other libraries, one kind of work at a time, which is called
//! a shape: on the same bytes, in the same chunks, on one machine.
//!
//! The output of each contender is verified, then contenders take turns in interleaved rounds.
//! Their figures become [`records`](mod@records), which pages query.
//!
//! | module | content |
//! |---|---|
//! | [`harness`] | rounds, verification, provenance, tables on the terminal, comparisons, charts |
//! | [`bytes`], [`threads`] | deflate: chunks compressed; one stream from several threads |
//! | [`inflate`], [`frames`], `decoding` | deflate and zstd decoded; code that both share |
//! | [`cold`] | small zstd blocks through thousands of dictionaries |
//! | [`packs`], [`sst`] | files of dictionaries; RocksDB's files |
//! | [`messages`] | gateway connections |
//! | [`http`], [`websocket`] | responses through tower layers; permessage-deflate |
//! | [`rice`], [`waveforms`] | Delta-Rice; synthetic samples |
//! | [`archives`] | Nx archives, libzstd and other archivers |
//! | [`plan`] | predictions of plans beside what their commands do |
//! | [`records`](mod@records) | measurements as JSON Lines |
//! | [`tables`] | tables of pages, which are queries of records |
//! | [`remake`] | all shapes in turn |
//! | `kernel/` | the operating system and C peers: all `unsafe` code |
//!
//! Other libraries that no engine depends on are features, off by default: the feature `peers` has
//! those that need only a C compiler, `system-peers` those that need more. The feature `servers`,
//! on by default, has the shapes "http" and "websocket".

pub mod archives;
pub mod bytes;
pub mod cold;
mod csv;
mod decoding;
pub mod frames;
pub mod harness;
#[cfg(feature = "servers")]
pub mod http;
pub mod inflate;
mod kernel;
pub mod messages;
pub mod packs;
pub mod plan;
pub mod records;
pub mod remake;
pub mod rice;
pub mod sst;
pub mod tables;
pub mod threads;
pub mod waveforms;
#[cfg(feature = "servers")]
pub mod websocket;

pub use kernel::os::pin;
