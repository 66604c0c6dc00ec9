//! Nx 1.x archives: many files in compressed blocks that can be read alone and in parallel.
//!
//! A small header in front says where everything is. Files no larger than a chunk share *solid*
//! blocks; a larger file has a run of blocks to itself. Blocks are stored, zstd frames or raw LZ4.
//!
//! [`Header`], [`Toc`], [`Pool`] and [`Layout`] are the parts of that header, each with its reader
//! and its writer. [`pack`] writes whole archives.

mod archive;
mod block;
mod cache;
mod decode;
mod error;
mod extract;
mod hash;
mod header;
mod layout;
mod limits;
pub mod metadata;
pub mod pack;
mod parallel;
mod paths;
mod pool;
mod queue;
pub mod r3a;
mod reader;
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
pub use parallel::Progress;
pub use paths::{MAX_NAME, check_path, collisions, not_portable};
pub use pool::{POOL_LEVEL, Pool};
pub use reader::Reader;
pub use toc::{Block, Codec, Entry, MAX_COMPRESSED, MAX_OFFSET, Toc};
pub use verify::{Compared, Note, Verified, Verifier};
