//! Nx 1.x archives: many files in compressed blocks that can be read alone and in parallel.
//!
//! A small header in front says where everything is. Files no larger than a chunk share *solid*
//! blocks; a larger file has a run of blocks to itself. Blocks are stored, zstd frames or raw LZ4.
//!
//! [`Header`], [`Toc`], [`Pool`] and [`Layout`] are the parts of that header, each with its reader
//! and its writer. [`pack`] writes whole archives.

mod archive;
mod block;
mod decode;
mod extract;
mod failure;
mod folder;
mod hash;
mod header;
mod kernel;
mod layout;
mod leftovers;
mod limits;
pub mod metadata;
pub mod pack;
mod paths;
mod pool;
mod queue;
pub mod r3a;
mod reader;
#[cfg(feature = "remote")]
mod remote;
mod run;
mod source;
mod toc;
mod tree;
mod url;
mod verify;

pub use archive::{Archive, File};
pub use decode::Ending;
pub use extract::{Existing, Extracted, Extractor};
pub use failure::{Cause, Failure};
pub use hash::{ContentHasher, HashKind};
pub use header::{
    ChunkSize, HEADER, Header, MAGIC, MAX_BLOCKS, MAX_CHUNK_READ, MAX_CHUNK_WRITTEN, MAX_FILES, MAX_PAGES,
    MAX_POOL, PAGE, TocForm,
};
pub use kernel::MapSource;
pub use layout::Layout;
pub use leftovers::remove_leftovers;
pub use limits::Limits;
pub use linerate_core::{Error, Kind, Result};
pub use paths::{MAX_NAME, check_path, collisions};
pub use pool::{POOL_LEVEL, Pool};
pub use reader::Reader;
#[cfg(feature = "s3")]
pub use remote::S3Source;
#[cfg(feature = "remote")]
pub use remote::{HttpOptions, HttpSource};
pub use run::Progress;
pub use source::{Counting, FileSource, Source};
pub use toc::{Block, Codec, Entry, MAX_COMPRESSED, MAX_OFFSET, Toc};
pub use url::{is_s3_url, is_url};
pub use verify::{Compared, Note, Verified, Verifier};
