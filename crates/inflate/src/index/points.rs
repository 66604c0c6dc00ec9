//! [`Index`]: the points of a file at which decoding can begin.

use std::io::{self, Read};

use super::build::Builder;
use super::sparse_window::SparseWindow;
use super::{Options, WINDOW};

/// A position in a gzip file at which decoding can begin: before a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    pub(super) bit: u64,
    pub(super) offset: u64,
    /// The content before it, for a block; none for the first block of a member.
    pub(super) window: Option<SparseWindow>,
}

impl Point {
    /// The first bit of the block: its byte in the file times 8, and bits of this byte that belong
    /// to the block before.
    pub fn bit(&self) -> u64 {
        self.bit
    }

    /// Bytes of content before it.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether the block is the first of a gzip member, so that no window is needed, and the member
    /// is verified.
    pub fn is_member(&self) -> bool {
        self.window.is_none()
    }

    /// The byte of the file in which the block begins.
    pub(super) fn byte(&self) -> u64 {
        self.bit / 8
    }

    /// Replaces bytes of the window that are not referred to by zeros.
    pub(super) fn thin(&mut self, referred: &[bool]) {
        let Some(window) = &mut self.window else { return };
        let mut bytes = window.to_vec();
        let last = &referred[WINDOW - bytes.len()..];
        bytes.iter_mut().zip(last).filter(|(_, referred)| !**referred).for_each(|(byte, _)| *byte = 0);
        *window = SparseWindow::new(&bytes);
    }
}

/// The points of a gzip file, in order. Windows are held without the bytes that no match refers to.
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
    /// Those of [`Builder`].
    pub fn build(reader: impl Read, options: &Options) -> io::Result<Index> {
        Builder::new(reader, options).finish()
    }

    /// The points.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Bytes of content: up to now, while the index is being made.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is no content.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of the file, with what follows its last member.
    pub fn compressed_len(&self) -> u64 {
        self.compressed_len
    }

    /// Whether the whole file has been decoded: false only for the index of a
    /// [`Reader`](super::Reader) that is making it.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Bytes that it occupies.
    pub fn memory(&self) -> usize {
        let windows = self.points.iter().filter_map(|point| point.window.as_ref());
        size_of::<Self>()
            + self.points.capacity() * size_of::<Point>()
            + windows.map(SparseWindow::memory).sum::<usize>()
    }

    /// The number of points at `offset` of the content or before it.
    pub(super) fn count_up_to(&self, offset: u64) -> usize {
        self.points.partition_point(|point| point.offset <= offset)
    }
}
