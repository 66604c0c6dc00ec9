//! Reads and writes Nx 1.x archives: many files in compressed blocks that are decoded independently
//! and in parallel.
//!
//! A small header at the start locates everything. Files no larger than a chunk can share *solid*
//! blocks; a larger file has one block per chunk. Blocks are stored, zstd frames or raw LZ4.
//!
//! [`Archive`] opens an archive. [`Reader`] reads single files; [`Loader`], [`Extractor`] and
//! [`Verifier`] read many in parallel. [`shared`] is for games and servers: file handles without
//! lifetimes, and one cache of decoded blocks for all threads. [`pack`] writes archives, [`r3a`]
//! reads and writes the related draft format R3A, and [`metadata`] stores times, modes and links.
//!
//! ```
//! # #[cfg(feature = "pack")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use linerate_nx::Archive;
//! use linerate_nx::pack::{Builder, PackOptions};
//!
//! let mut builder = Builder::new(PackOptions::default())?;
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
//! Packing ([`pack`], and writing R3A and metadata) needs the feature `pack`. It is on by
//! default and compiles the C libraries libzstd and liblz4. zstd is decoded in Rust; LZ4 by liblz4
//! if the feature `pack` is on, else by `lz4_flex`. Without `pack` and `remote`, no C compiler is
//! needed.
//!
//! | module | content |
//! |---|---|
//! | `format/` | header, tables, paths; limits on untrusted archives |
//! | `block/` | decodes one block; caches decoded blocks |
//! | `read/` | an open archive; reads one file, or many in parallel; extracts, loads, verifies |
//! | `error` | errors of single files |
//! | [`filter`], `kernel/` | filters for textures, and their hot loops |
//! | `sys/` | foreign functions (liblz4) |
//! | [`metadata`], `mount`, [`pack`], [`r3a`], [`shared`] | each with a table of its own modules |
//!
//! Apart from tests, and from `format`, which uses `block::memory`, each module uses only modules
//! before it: `error`, `format`, `sys`, `kernel`, `filter`, `block`, `metadata`, `read`, then
//! `r3a`, `pack`, `shared`, `mount`.

#![cfg_attr(not(feature = "pack"), allow(dead_code, reason = "what only writers use"))]

mod block;
mod error;
pub mod filter;
mod format;
mod kernel;
pub mod metadata;
#[cfg(all(feature = "mount", target_os = "linux"))]
pub mod mount;
#[cfg(feature = "pack")]
pub mod pack;
pub mod r3a;
mod read;
pub mod shared;
#[cfg(feature = "pack")]
mod sys;

pub use block::regions::Region;
pub use error::{FileError, PathError};
pub use format::hash::{ContentHasher, HashKind};
pub use format::header::{ChunkSize, HEADER, Header, MAX_BLOCKS, PAGE, TocForm};
pub use format::layout::Layout;
pub use format::limits::Limits;
pub use format::paths::{check_path, collisions, folder_clashes, not_portable, portable_clashes};
pub use format::string_pool::StringPool;
pub use format::toc::{Block, Codec, Entry, MAX_COMPRESSED, MAX_OFFSET, Toc};
pub use format::tree::Existing;
pub use linerate_core::{Error, Kind, Result};
#[cfg(feature = "s3")]
pub use linerate_io::S3Source;
pub use linerate_io::{CountingSource, FileSource, MapSource, ReadAt, is_s3_url, is_url};
#[cfg(feature = "remote")]
pub use linerate_io::{HttpOptions, HttpSource};
pub use read::archive::{Archive, File};
pub use read::destination::{Destination, Progress};
pub use read::extract::{Extracted, Extractor};
pub use read::loader::{Delivered, Loaded, Loader};
pub use read::order::Disorder;
pub use read::reader::Reader;
pub use read::verify::{Compared, Note, Verified, Verifier};
