//! The seekable format: files of many frames whose sizes are known, so that any byte can be read
//! without those before it.
//!
//! The sizes come from a seek table, which is a skippable frame at the end of the file (zstd's
//! contrib/seekable_format). For files without a seek table, they come from one pass over the
//! frames.

mod index;
mod reader;

pub use self::index::{Entry, Index};
pub use self::reader::Reader;
