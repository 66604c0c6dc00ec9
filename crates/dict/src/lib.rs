//! zstd blocks of a few KiB, each compressed with one of tens of thousands of dictionaries.
//!
//! A storage engine with one dictionary per file, tenant or table finds, at each random read, that the
//! dictionary's decoding tables have left the CPU caches. Here the tables are compact (at most 5.3 KiB beside
//! the dictionary's bytes), lie in huge pages, and are prefetched while the previous block is decoded.
//!
//! * [`Store`]: the dictionaries, by ID. Shared by threads; reading takes no lock.
//! * [`Decoder`]: one per thread. Decodes one block, or a batch of [`Job`]s in an [`Order`].
//! * [`Pipeline`]: decodes jobs that arrive one by one.
//! * [`Encoder`]: compresses blocks with the dictionaries of a store, through libzstd.
//! * [`Pack`]: a file of dictionaries.
//! * [`BlockFile`]: a file of sorted records in such blocks.
//! * [`sst`]: a reader of RocksDB's SST files.
//! * [`Training`]: trains dictionaries, also with small tables; [`Savings`] measures them.
//! * [`Search`]: finds the dictionary size with the smallest total; [`Clustering`]: few dictionaries for many
//!   sets of samples.
//!
//! # Features
//!
//! Everything is read and decoded by Rust alone. `encode` (the [`Encoder`], [`Savings`], writing packs) and `train`
//! (besides, [`Training`], [`Search`], [`Clustering`], writing block files) compile libzstd from C; `sst` is Rust. All
//! three are on by default.
//!
//! # Files
//!
//! | file | content |
//! |---|---|
//! | `store.rs`, `id.rs` | the store: dictionaries by ID, reference counts |
//! | `memory.rs` | the state behind the store's lock: arenas, vacant slots, table eviction |
//! | `clock.rs` | CLOCK eviction order of the slots that have tables |
//! | `slots.rs`, `hash_index.rs` | array of slots that grows without moving them; index from content hash to slot |
//! | `sys/slot.rs`, `sys/sync.rs` | one dictionary: lock-free pins, publication and reclamation; its atomics |
//! | `model.rs` | loom model of the slots and of reclamation (`cfg(loom)`, tests only) |
//! | `sys/arena.rs`, `sys/mapping.rs`, `free_list.rs` | memory in huge pages between guard pages; best-fit allocation |
//! | `source.rs` | dictionaries that are read at first use |
//! | `decoder.rs`, `pipeline.rs`, `job.rs` | single blocks, batches and their order, streams of jobs |
//! | `worker.rs`, `prefetch.rs` | decoding one block while the next one's memory is prefetched |
//! | `encoder.rs` | compression through libzstd |
//! | `train.rs`, `fse_table.rs` | training; coarser FSE tables |
//! | `savings.rs`, `samples.rs` | bytes that a dictionary saves; split into training and holdout samples |
//! | `search.rs` | search over dictionary sizes |
//! | `cluster.rs`, `clusterer.rs`, `prune.rs` | clustering: its API, its rounds, pruning |
//! | `pack/` | pack files: `open`, `load` read; `editor`, `compact` write; `codec` decompresses, `compressor` compresses; `index`, `layout` are the format |
//! | `blocks/` | block files: `builder`, `sorter` write; `file`, `reader`, `scan`, `verify` read; `block`, `layout` are the format |
//! | `sst/` | SST files: see [`sst`] |
//! | `input.rs`, `output.rs`, `fields.rs` | file access through `linerate-io`; integers and checksums in files |
//!
//! ```
//! # #[cfg(feature = "encode")]
//! # fn main() -> linerate_dict::Result<()> {
//! use linerate_dict::{Decoder, Encoder, Store};
//!
//! let store = Store::new();
//! let id = store.insert(b"{\"user\": \"\", \"active\": true, \"score\": 0}")?;
//! let row = b"{\"user\": \"ann\", \"active\": true, \"score\": 7}";
//!
//! let mut block = vec![0; Encoder::bound(row.len())];
//! let n = Encoder::new(&store).encode(id, row, &mut block)?;
//! assert!(n < 40);
//!
//! let mut out = [0; 100];
//! let n = Decoder::new(&store).decode(id, &block[..n], &mut out)?;
//! assert_eq!(&out[..n], row);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "encode"))]
//! # fn main() {}
//! ```

#![cfg_attr(not(feature = "train"), allow(dead_code, reason = "what only writers use"))]

pub mod blocks;
mod clock;
#[cfg(feature = "train")]
mod cluster;
#[cfg(feature = "train")]
mod clusterer;
mod decoder;
#[cfg(feature = "encode")]
mod encoder;
mod fields;
mod free_list;
mod fse_table;
mod hash_index;
mod id;
mod input;
mod job;
mod memory;
#[cfg(all(loom, test))]
mod model;
mod output;
pub mod pack;
mod pipeline;
mod prefetch;
#[cfg(feature = "train")]
mod prune;
#[cfg(feature = "train")]
mod samples;
#[cfg(feature = "encode")]
mod savings;
#[cfg(feature = "train")]
mod search;
mod slots;
mod source;
#[cfg(feature = "sst")]
pub mod sst;
mod stats;
mod store;
mod sys;
mod train;
mod worker;

pub use blocks::BlockFile;
#[cfg(feature = "train")]
pub use cluster::{Choice, Clustering, ClusteringResult, Costs, Reason, SampleSet, SetReport};
pub use decoder::Decoder;
#[cfg(feature = "encode")]
pub use encoder::Encoder;
pub use id::Id;
pub use input::Input;
pub use job::{Job, Order};
pub use linerate_core::{Error, Kind, Result};
pub use pack::Pack;
pub use pipeline::Pipeline;
#[cfg(feature = "encode")]
pub use savings::Savings;
#[cfg(feature = "train")]
pub use search::{Candidate, SIZES, Search, SearchResult};
pub use source::Source;
pub use stats::{Counters, HugePages, Stats};
pub use store::{Store, StoreOptions, content_hash};
#[cfg(feature = "train")]
pub use train::Training;
pub use train::shrink_tables;
