//! [`Index`]: the points of a file at which decoding can begin.

use std::io::{self, Read};

use super::build::Builder;
use super::sparse_window::SparseWindow;
use super::{Options, WINDOW};

/// A position before a block of a gzip file, at which decoding can begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    pub(super) bit: u64,
    pub(super) offset: u64,
    /// The last content before the block, up to 32 KiB, or `None` for the first block of a member.
    pub(super) window: Option<SparseWindow>,
}

impl Point {
    /// Returns the position of the block's first bit: 8 times the offset of its byte in the file,
    /// plus the number of bits of this byte that belong to the previous block.
    pub fn bit(&self) -> u64 {
        self.bit
    }

    /// Returns the number of bytes of content before the point.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns whether the block is the first of a gzip member. Then decoding needs no window, and
    /// the member is verified.
    pub fn is_member(&self) -> bool {
        self.window.is_none()
    }

    /// Returns the offset in the file of the byte in which the block begins.
    pub(super) fn byte(&self) -> u64 {
        self.bit / 8
    }

    /// Replaces bytes of the window that no match refers to by zeros.
    pub(super) fn thin(&mut self, referred: &[bool]) {
        let Some(window) = &mut self.window else { return };
        let mut bytes = window.to_vec();
        let last = &referred[WINDOW - bytes.len()..];
        bytes.iter_mut().zip(last).filter(|(_, referred)| !**referred).for_each(|(byte, _)| *byte = 0);
        *window = SparseWindow::new(&bytes);
    }
}

/// The points of a gzip file, in order. Windows are stored without their zeros. [`Builder`] and
/// [`Reader`](super::Reader) replace bytes that no match refers to by zeros.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    pub(super) points: Vec<Point>,
    pub(super) compressed_len: u64,
    pub(super) len: u64,
    pub(super) spacing: u64,
    pub(super) is_complete: bool,
}

impl Index {
    /// Decodes a gzip file, and returns its index.
    ///
    /// # Errors
    /// Returns the errors of [`Builder`].
    pub fn build(reader: impl Read, options: &Options) -> io::Result<Index> {
        Builder::new(reader, options).finish()
    }

    /// Returns the points.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Returns the number of bytes of content, so far if the index is still being made.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether there is no content.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the size of the file in bytes, including any data after its last member; 0 while a
    /// [`Reader`](super::Reader) is making the index.
    pub fn compressed_len(&self) -> u64 {
        self.compressed_len
    }

    /// Returns whether the index was made to the end of the file. This is false only while a
    /// [`Reader`](super::Reader) is making the index, and for the default index.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Returns the memory of the index, in bytes.
    pub fn memory(&self) -> usize {
        let windows = self.points.iter().filter_map(|point| point.window.as_ref());
        size_of::<Self>()
            + self.points.capacity() * size_of::<Point>()
            + windows.map(SparseWindow::memory).sum::<usize>()
    }

    /// Returns the number of points at `offset` of the content or before it.
    pub(super) fn count_up_to(&self, offset: u64) -> usize {
        self.points.partition_point(|point| point.offset <= offset)
    }
}
