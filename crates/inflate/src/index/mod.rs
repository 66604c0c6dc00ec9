//! Random access to gzip files by an index of access points. Any encoder may have written the file.
//!
//! Decoding can begin at any deflate block if the 32 KiB of content before it are known. An
//! [`Index`] holds such windows, about one for every 4 MiB of content, as `zran.c` of zlib's
//! examples does (Adler 2005). [`Builder`] or [`Reader`] makes it while decoding the file once.
//! [`Index::write_gzidx`] and [`Index::read_gzidx`] use the format of indexed_gzip; [`Index::read`]
//! also reads that of gztool.
//!
//! * [`Reader`] reads the content at any position.
//! * [`decode`] decodes all content on several threads, each of which begins at a point.
//!   [`decode_with`] also reports progress.
//!
//! ```
//! use std::io::{Cursor, Read, Seek, SeekFrom};
//! use linerate_inflate::index::{Index, Reader};
//!
//! // Or a `File`.
//! let file = &b"\x1f\x8b\x08\0\0\0\0\0\x04\x03\x4b\x4c\x4a\x06\0\xc2\x41\x24\x35\x03\0\0\0"[..];
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
//! An index is untrusted. Its file identifies the gzip file by its size at most.
//!
//! * Reading an index checks that its points are in order and within the file.
//! * [`Reader::with_index`] compares the size of the file.
//! * [`Reader`] compares each point that decoding passes, when content after it is read: a block
//!   must begin at its bit, after the bytes of its window. Otherwise the index does not belong to
//!   the file, and reading fails. Zero bytes of a window are not compared, because most of them are
//!   bytes that no match refers to.
//! * A member that is decoded from its first byte is verified by CRC-32 and length, as always.
//! * Content read after a point within a member and before the next point cannot be compared with
//!   anything. A wrong window may give wrong bytes; a wrong position nearly always gives an error.
//! * [`decode`] uses an index as a hint: it compares each window with the content before it, and
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
    /// Minimum content between two points within a member, in bytes; the next block after it gets a
    /// point. Less than 64 KiB counts as 64 KiB. A new member gets a point if it is the first, or
    /// if the last point is at least 64 KiB of content before it. Default: 4 MiB.
    pub spacing: u64,
}

impl Options {
    /// Returns the default options.
    pub const fn new() -> Self {
        Options { spacing: 4 << 20 }
    }

    /// Sets the minimum content between two points, in bytes.
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
