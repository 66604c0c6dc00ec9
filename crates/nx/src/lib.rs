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
//! Whatever encodes - [`pack`], and writing R3A and metadata - is behind the feature `pack`, on by default, which compiles
//! the C libraries libzstd and liblz4. Blocks are decoded by Rust alone, but LZ4 by liblz4 where it is there. Without `pack`
//! nothing needs a C compiler.
//!
//! | module | content |
//! |---|---|
//! | `format/` | header, tables, paths, limits: what an archive holds and what is accepted |
//! | `block/` | decodes one block; caches decoded ones |
//! | `read/` | an open archive; reads one file, or many in parallel, into a folder, memory or nothing |
//! | `error` | errors of single files |
//! | [`filter`], `kernel/` | filters for textures, and their hot loops |
//! | `sys/` | foreign functions (liblz4) |
//! | [`metadata`], `mount`, [`pack`], [`r3a`], [`shared`] | each with a table of its own modules |
//!
//! From the ground up: `error`, `format`, `kernel`, `filter`, `block`, `metadata`, `read`, then `r3a`, `pack`, `shared`, `mount`.

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
pub use read::extract::{Extracted, Extractor};
pub use read::loader::{Delivered, Loaded, Loader};
pub use read::order::Disorder;
pub use read::parallel::{Destination, Progress};
pub use read::reader::Reader;
pub use read::verify::{Compared, Note, Verified, Verifier};
