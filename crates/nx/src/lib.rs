//! Nx 1.x archives: many files in compressed blocks that can be decoded independently and in parallel.
//!
//! A small header at the start locates everything. Files no larger than a chunk share *solid* blocks; a
//! larger file has one block per chunk. Blocks are stored, zstd frames or raw LZ4.
//!
//! [`Archive`] opens an archive, [`Reader`] reads single files, [`Loader`], [`Extractor`] and [`Verifier`] many in
//! parallel. [`shared`] has files that own what they need, and a cache for many threads, as games want them. [`pack`] writes archives, [`r3a`] reads and writes the related draft format R3A, and
//! [`metadata`] stores times, modes and links.
//!
//! ```
//! # #[cfg(feature = "pack")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use linerate_nx::Archive;
//! use linerate_nx::pack::{Builder, Options};
//!
//! let mut builder = Builder::new(Options::default())?;
//! builder.add_bytes("textures/wall.dds", b"some texture".to_vec())?;
//! let (bytes, _) = builder.to_bytes()?;
//!
//! let archive = Archive::open(bytes)?;
//! let file = archive.find("textures/wall.dds").expect("a file of that path");
//! assert_eq!(archive.reader()?.read(file)?, b"some texture");
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "pack"))]
//! # fn main() {}
//! ```
//!
//! Whatever encodes - [`pack`], and writing R3A and metadata - is behind the feature `pack`, on by default, which compiles
//! the C libraries libzstd and liblz4. Blocks are decoded by Rust alone, but LZ4 by liblz4 where it is there. Without `pack`
//! nothing needs a C compiler.
//!
//! | module | content |
//! |---|---|
//! | `header`, `toc`, `pool` | header fields, tables and paths, read and written |
//! | `layout` | offsets and content lengths of the blocks; checks between the tables |
//! | `order` | the order of entries that other programs rely on |
//! | `archive` | an open archive; files by path |
//! | `block`, `decode`, `lz4` | reads blocks with coalesced reads; decodes one block, of LZ4 too |
//! | `frame` | decompresses a zstd frame of unknown size |
//! | `regions` | the table of a filtered block: which regions, by which filter |
//! | `reader`, `cache` | reads single files, whole or in part; LRU cache of decoded blocks |
//! | `lru` | values by key in the order of eviction, for both caches |
//! | `queue`, `parallel` | reads many files: block order, threads, destinations |
//! | `extract`, `verify`, `loader` | the destinations: a folder, none, memory; comparison with a folder |
//! | `paths`, `tree` | safe and portable paths; folders, opened once and never through a link |
//! | `limits`, `error`, `hash` | resource limits; errors of single files; content hashes |
//! | `sys` | foreign functions (liblz4) |
//! | `kernel` | hot loops of [`filter`] |
//! | `filter`, `metadata`, `mount`, `pack`, `r3a`, `shared` | each with a table of its own modules |

#![cfg_attr(not(feature = "pack"), allow(dead_code, reason = "what only writers use"))]

mod archive;
mod block;
mod cache;
mod decode;
mod error;
mod extract;
pub mod filter;
mod frame;
mod hash;
mod header;
mod kernel;
mod layout;
mod limits;
mod loader;
mod lru;
mod lz4;
pub mod metadata;
#[cfg(all(feature = "mount", target_os = "linux"))]
pub mod mount;
mod order;
#[cfg(feature = "pack")]
pub mod pack;
mod parallel;
mod paths;
mod pool;
mod queue;
pub mod r3a;
mod reader;
mod regions;
pub mod shared;
#[cfg(feature = "pack")]
mod sys;
mod toc;
mod tree;
mod verify;

pub use archive::{Archive, File};
pub use decode::Ending;
pub use error::{FileError, PathError};
pub use extract::{Existing, Extracted, Extractor};
pub use hash::{ContentHasher, HashKind};
pub use header::{
    ChunkSize, HEADER, Header, MAGIC, MAX_BLOCKS, MAX_CHUNK_READ, MAX_CHUNK_WRITTEN, MAX_FILES, MAX_PAGES,
    MAX_POOL, PAGE, TocForm,
};
pub use layout::Layout;
pub use limits::Limits;
pub use linerate_core::{Error, Kind, Result};
#[cfg(feature = "s3")]
pub use linerate_io::S3Source;
pub use linerate_io::{CountingSource, FileSource, MapSource, ReadAt, is_s3_url, is_url};
#[cfg(feature = "remote")]
pub use linerate_io::{HttpOptions, HttpSource};
pub use loader::{Delivered, Loaded, Loader};
pub use order::Disorder;
pub use parallel::{Destination, Progress};
pub use paths::{MAX_NAME, check_path, collisions, folder_clashes, not_portable, portable_clashes};
#[cfg(feature = "pack")]
pub use pool::POOL_LEVEL;
pub use pool::Pool;
pub use reader::Reader;
pub use regions::{MAX_REGIONS, Region};
pub use toc::{Block, Codec, Entry, MAX_COMPRESSED, MAX_OFFSET, Toc};
pub use verify::{Compared, Note, Verified, Verifier};
