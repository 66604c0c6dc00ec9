//! Decodes zstd blocks of a few KiB, each compressed with one of tens of thousands of dictionaries.
//!
//! A storage engine with one dictionary per file, tenant or table finds, at each random read, that
//! the dictionary's decoding tables have left the CPU caches. This crate keeps the tables compact
//! (at most 5.4 KiB beside the dictionary's bytes), in huge pages where Linux has them, and
//! prefetches them while the previous block is decoded.
//!
//! * [`Store`] holds the dictionaries by ID. Threads share it; decoding takes a lock only to read a
//!   dictionary, to build its tables, or to free it after its release.
//! * [`Decoder`], one per thread, decodes one block, or a batch of [`Job`]s in an [`Order`].
//! * [`Pipeline`] decodes jobs that arrive one by one.
//! * [`Encoder`] compresses blocks with the dictionaries of a store, through libzstd.
//! * [`Pack`] is a file of dictionaries.
//! * [`BlockFile`] is a file of sorted records in such blocks.
//! * [`sst`] reads RocksDB's SST files.
//! * [`Training`] trains dictionaries, also with small tables; [`Savings`] measures them.
//! * [`Search`] finds the dictionary size with the smallest total, and [`Clustering`] shares few
//!   dictionaries among many sets of samples.
//!
//! # Features
//!
//! Reading and decoding are pure Rust. `encode` (the [`Encoder`], [`Savings`], writing packs) and
//! `train` (in addition, [`Training`], [`Search`], [`Clustering`], writing block files) compile
//! libzstd from C; `sst` is Rust. All three are on by default; `json` is not, and adds keys in
//! lines of JSON to block files.
//!
//! # Modules
//!
//! | module | content |
//! |---|---|
//! | `sst/` | SST files: see [`sst`] |
//! | `blocks/` | block files: `builder`, `sorter` write; `file`, `reader`, `scan`, `verify` read; `block`, `layout` are the format |
//! | `pack/` | pack files: `open`, `load` read; `editor`, `compact` write; `codec` decompresses, `compressor` compresses; `index`, `layout` are the format |
//! | `train/` | training, and choosing the size and number of dictionaries |
//! | `coding/` | decodes and encodes blocks, singly, in batches and in streams of jobs |
//! | `store/` | dictionaries by ID, reference counts, eviction of tables |
//! | `sys/` | one dictionary (`slot`): lock-free pins, publication and reclamation, over the atomics of `sync`; memory in huge pages between guard pages (`arena`, `mapping`), best-fit allocation (`free_list`) |
//! | `files/` | file access through `linerate-io`; integers and checksums in files |
//! | `id`, `source`, `stats`, `prefetch` | IDs; dictionaries that are read at first use; counters; prefetching of cache lines |
//!
//! Each row imports only from rows below it.
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
mod coding;
mod files;
mod id;
pub mod pack;
mod prefetch;
mod source;
#[cfg(feature = "sst")]
pub mod sst;
mod stats;
mod store;
mod sys;
mod train;

pub use blocks::BlockFile;
pub use coding::decoder::Decoder;
#[cfg(feature = "encode")]
pub use coding::encoder::Encoder;
pub use coding::job::{Job, Order};
pub use coding::pipeline::Pipeline;
pub use files::input::Input;
pub use id::Id;
pub use linerate_core::{Error, Kind, Result};
pub use pack::Pack;
pub use source::Source;
pub use stats::{Counters, HugePages, Stats};
pub use store::shared::content_hash;
pub use store::{Store, StoreOptions};
#[cfg(feature = "train")]
pub use train::cluster::{Choice, Clustering, ClusteringResult, Costs, Reason, SampleSet, SetReport};
#[cfg(feature = "encode")]
pub use train::savings::Savings;
#[cfg(feature = "train")]
pub use train::search::{Candidate, SIZES, Search, SearchResult};
pub use train::shrink::shrink_tables;
#[cfg(feature = "train")]
pub use train::training::Training;
