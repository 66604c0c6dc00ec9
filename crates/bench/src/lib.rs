//! Linerate's engines measured against their peers, within one shape of work: the same bytes, the
//! same chunks, one process.
//!
//! Each contender's output is verified, then contenders are timed in interleaved rounds; results are rows
//! of a CSV record with machine, versions and command.
//!
//! | module | content |
//! |---|---|
//! | [`command`], `output` | `linerate bench` and its subcommands; where their results go |
//! | [`contender`], [`table`](mod@table), `ours`, `peers` | the shape "bytes": a chunk in, compressed bytes out; its contenders, a row each |
//! | [`verify`], [`measure`], [`session`] | each stream decoded by another library; interleaved rounds; both, for a corpus |
//! | [`threads`] | the shape "threads": one stream from several threads |
//! | [`archives`] | the shape "archives": Nx archives, libzstd and other archivers |
//! | [`inflate`] | the shape "inflate": deflate data decoded |
//! | [`frames`] | the shape "frames": zstd frames decoded, dictionaries digested |
//! | `decoding` | decoders in turns, for these two |
//! | [`cold`] | the shape "cold": small zstd blocks through thousands of dictionaries |
//! | [`messages`] | the shape "messages": gateway connections, with synthetic traffic |
//! | [`waveforms`] | synthetic samples for the Rice codec |
//! | [`corpus`], [`filter`] | input files; options such as `--chunk` and `--only` |
//! | [`sheet`], [`against`], [`cpus`] | records of any shape by their columns; what changed against an earlier one; CPUs side by side |
//! | [`record`], [`csv`], [`environment`], [`stats`], [`report`] | rows and their files, provenance, medians, terminal tables |
//! | [`records`](mod@records), [`tables`] | measurements as JSON Lines; tables of pages, which are queries of them |
//! | `plot`, `labels` | SVG charts of records |
//! | `kernel/` | the operating system's clocks and C peers: all `unsafe` code |
//!
//! The subcommand, its records and the shapes "threads", "archives", "inflate" and "frames" are the feature `command`, `plot` and
//! `labels` the feature `plot`; both are on by default. Peers that engines do not depend on are features, off by
//! default: `peers` (a C compiler is enough) and `system-peers`.

#[cfg(feature = "command")]
pub mod against;
#[cfg(feature = "command")]
pub mod archives;
pub mod cold;
#[cfg(feature = "command")]
pub mod command;
pub mod contender;
pub mod corpus;
#[cfg(feature = "command")]
pub mod cpus;
pub mod csv;
#[cfg(feature = "command")]
mod decoding;
pub mod environment;
pub mod filter;
#[cfg(feature = "command")]
pub mod frames;
#[cfg(feature = "command")]
pub mod inflate;
mod kernel;
#[cfg(feature = "plot")]
mod labels;
pub mod measure;
pub mod messages;
mod ours;
#[cfg(feature = "command")]
mod output;
mod peers;
#[cfg(feature = "plot")]
pub mod plot;
pub mod record;
pub mod records;
pub mod report;
#[cfg(feature = "command")]
pub mod session;
#[cfg(feature = "command")]
pub mod sheet;
pub use linerate_candidates::stats;
pub mod table;
pub mod tables;
#[cfg(feature = "command")]
pub mod threads;
pub mod verify;
pub mod waveforms;

#[cfg(feature = "command")]
pub use kernel::os::children_time;
pub use kernel::os::{pin, resident};
pub use linerate_candidates::{cpu_time, heap_in_use, thread_time};
