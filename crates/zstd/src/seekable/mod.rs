//! The seekable format: files of many frames whose sizes are known, so that any byte is read without those before it.
//!
//! The sizes come from a seek table, a skippable frame at the end of the file (zstd's contrib/seekable_format), or from
//! one pass over the frames of any other file.

mod index;
mod reader;

pub use self::index::{Entry, Index};
pub use self::reader::Reader;
