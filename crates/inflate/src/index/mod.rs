//! Random access to gzip files of any origin, by an index of access points.
//!
//! Deflate data can be decoded from any block on, if the 32 KiB of content before it are known. An
//! [`Index`] has such windows, about every 4 MiB of content, as zran of zlib's examples does (Adler
//! 2005). It is made while the file is decoded once, by [`Builder`] or [`Reader`], and is read and
//! written as the files of indexed_gzip are: [`Index::read_gzidx`], [`Index::write_gzidx`]. Those of
//! gztool are read, too: [`Index::read`].
//!
//! * [`Reader`]: the content as a file that can be read at any position.
//! * [`decode`]: all content on several threads, each of which begins at a point; [`decode_with`]
//!   tells how far it is.
//!
//! ```
//! use std::io::{Cursor, Read, Seek, SeekFrom};
//! use linerate_inflate::index::{Index, Reader};
//!
//! let file = &b"\x1f\x8b\x08\0\0\0\0\0\x04\x03\x4b\x4c\x4a\x06\0\xc2\x41\x24\x35\x03\0\0\0"[..]; // or a File
//! let index = Index::build(file, &Default::default())?;
//! assert_eq!(index.len(), 3);
//! let mut reader = Reader::with_index(Cursor::new(file), index)?;
//! reader.seek(SeekFrom::Start(1))?;
//! assert_eq!(std::io::read_to_string(reader)?, "bc");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # What is verified
//!
//! An index is untrusted, and its file knows nothing of the other one but its size.
//!
//! * Reading an index checks that its points are in order and within the file.
//! * [`Reader::with_index`] compares the size of the file.
//! * [`Reader`] compares each point that decoding passes, when content after it is read: a block
//!   must begin at its bit, after the bytes of its window. Otherwise the index does not belong to
//!   the file, and reading is an error. Zero bytes of a window are not compared, since most are
//!   zero because no match refers to them.
//! * A member that is decoded from its first byte on is verified as always, by CRC-32 and length.
//! * What is read after a point within a member, and ends before the next point, is compared with
//!   nothing: after a wrong window it may be wrong bytes; after a wrong position it is nearly
//!   always an error.
//! * [`decode`] takes an index as a hint: each window is compared with the content before it, and
//!   content and verdict never depend on the index.

mod build;
mod content;
mod decode;
mod gzidx;
mod gztool;
mod input;
mod points;
mod reader;
mod walk;

pub use self::build::Builder;
pub use self::decode::{decode, decode_with};
pub use self::points::{Index, Point};
pub use self::reader::Reader;

use crate::sparse_window;
use crate::window::WINDOW;

/// Options of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Bytes of content between two points within a member, at least: the next block is one. At
    /// least 64 KiB; less counts as that. Default: 4 MiB. A member begins with a point after 64 KiB
    /// of content.
    pub spacing: u64,
}

impl Options {
    /// The defaults.
    pub const fn new() -> Self {
        Options { spacing: 4 << 20 }
    }

    /// Sets the bytes of content between two points.
    #[must_use]
    pub const fn spacing(self, bytes: u64) -> Self {
        Options { spacing: bytes }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
