//! Reads RocksDB's SST files: block-based tables of format versions 2 to 7.
//!
//! An [`Sst`] is an open file. Its dictionary is in a [`Store`](crate::Store) that many files
//! share, and is released with the file. A [`Reader`], one per thread, reads any number of files:
//! it looks up [keys](Reader::get), singly or [in batches](Reader::multi_get),
//! [scans](Reader::scan), decodes [blocks](Reader::decode_blocks), and [verifies](Reader::verify).
//!
//! ```no_run
//! use linerate_dict::Store;
//! use linerate_dict::sst::{Reader, Sst};
//!
//! let store = Store::new();
//! let table = Sst::open("000012.sst", &store)?;
//! let mut reader = Reader::new(&store);
//! if let Some(entry) = reader.get(&table, b"user/7")? {
//!     println!("{:?} {:?}", entry.kind, entry.value);
//! }
//! let mut scan = reader.scan_from(&table, b"user/")?;
//! while let Some(entry) = scan.next_entry()? {
//!     println!("{:?}", entry.key);
//! }
//! # Ok::<(), linerate_dict::Error>(())
//! ```
//!
//! Offsets of errors in data are positions in the file: that of the damaged block, or of a byte in
//! it.
//!
//! | file | content |
//! |---|---|
//! | `open.rs`, `options.rs` | an open file: the parts that are read once |
//! | `footer.rs`, `properties.rs`, `ranges.rs` | footer, properties, range deletions |
//! | `block.rs`, `index.rs` | entries and restart points of data blocks; of index blocks |
//! | `entry.rs`, `order.rs`, `handle.rs`, `bytes.rs` | internal keys, comparators, block handles, integers |
//! | `checksum.rs`, `compression.rs`, `codec.rs` | block trailers; decompression |
//! | `reader.rs`, `batch.rs`, `scan.rs`, `blocks.rs` | lookup of a key, batches, iteration, single blocks |
//! | `stats.rs`, `verify.rs` | sizes and counts; verification |

mod batch;
mod block;
mod blocks;
mod bytes;
mod checksum;
mod codec;
mod compression;
mod entry;
mod footer;
mod handle;
mod index;
mod open;
mod options;
mod order;
mod properties;
mod ranges;
mod reader;
mod scan;
mod stats;
mod verify;

pub use blocks::{Block, Entries};
pub use checksum::Checksum;
pub use compression::Compression;
pub use entry::{Entry, EntryKind};
pub use footer::MAGIC;
pub use handle::Handle;
pub use index::IndexKind;
pub use open::Sst;
pub use options::SstOptions;
pub use order::KeyOrder;
pub use properties::{Properties, Property};
pub use ranges::RangeDeletion;
pub use reader::Reader;
pub use scan::Scan;
pub use stats::{BlockCount, DictionaryKind, DictionaryStats, SstStats};
pub use verify::Verified;
