//! Small zstd blocks, each with one of very many dictionaries.
//!
//! A storage engine that gives each file, tenant or table a dictionary of its own meets, with each
//! random read, tables that left the cache long ago. Here they are small, at most 5.3 KiB beside the
//! dictionary's bytes, they lie in huge pages, and those of the next block are fetched while the
//! current one is decoded.
//!
//! * [`Store`]: the dictionaries, under numbers of its own. Threads share it and read it without a
//!   lock.
//! * [`Decoder`]: one per thread. Decodes one block, or a batch of [`Job`]s in an [`Order`].
//! * [`Pipeline`]: for jobs that come one by one.
//! * [`Encoder`]: blocks compressed with the dictionaries of a store, through libzstd.
//! * [`Pack`]: a file of dictionaries.
//! * [`BlockFile`]: sorted records in a file of such blocks.
//! * [`sst`]: RocksDB's SST files, read through the store.
//! * [`Training`]: dictionaries from samples, also with small tables; [`Savings`], what they are worth.
//! * [`Search`]: the size that makes blocks and dictionary smallest; [`Clustering`]: few dictionaries
//!   for many sets of samples.
//!
//! ```
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
//! # Ok::<(), linerate_dict::Error>(())
//! ```

pub mod blocks;
mod cluster;
mod counts;
mod decoder;
mod encoder;
mod fields;
mod hashes;
mod id;
mod input;
mod job;
mod keep;
mod kernel;
mod memory;
mod output;
pub mod pack;
mod pipeline;
mod ranges;
mod ring;
mod samples;
mod savings;
mod search;
mod sharing;
mod slots;
mod source;
#[cfg(feature = "sst")]
pub mod sst;
mod stats;
mod store;
mod threads;
mod train;
mod worker;

pub use blocks::BlockFile;
pub use cluster::{Choice, Clustering, ClusteringResult, Costs, Reason, SampleSet, SetReport};
pub use decoder::Decoder;
pub use encoder::Encoder;
pub use id::Id;
pub use input::Input;
pub use job::{Job, Order};
pub use linerate_core::{Error, Kind, Result};
pub use pack::Pack;
pub use pipeline::Pipeline;
pub use savings::Savings;
pub use search::{Candidate, SIZES, Search, SearchResult};
pub use source::Source;
pub use stats::{Counters, HugePages, Stats};
pub use store::{Store, StoreOptions, content_hash};
pub use train::{Training, shrink_tables};
