//! [`Builder`]: makes an index while it decodes a file.

use std::io::{self, BufRead, BufReader, Read};

use linerate_core::{Error, Kind, Result};

use super::points::{Index, Point};
use super::sparse_window::SparseWindow;
use super::walk::Walk;
use super::{Options, WINDOW};
use crate::block_decoder::{NO_STOP, Progress, Status};
use crate::references::References;
use crate::stream::BUFFER;

/// Minimum content between two points, in bytes. It exceeds the 32 KiB after a point in which
/// matches that refer to its window are looked for.
const LEAST_SPACING: u64 = 64 << 10;

/// Decodes a file from its beginning, and adds points to its index.
pub(super) struct Frontier {
    pub(super) walk: Walk,
    references: References,
    spacing: u64,
    /// Offset of the last point in the content.
    last: u64,
}

impl Frontier {
    pub(super) fn new(options: &Options) -> Result<Self> {
        let spacing = options.spacing.max(LEAST_SPACING);
        Ok(Frontier { walk: Walk::new()?, references: References::new(), spacing, last: 0 })
    }

    /// Does a step of the walk, like [`Walk::step`], and adds a point if one is due.
    pub(super) fn step(&mut self, index: &mut Index, src: &[u8], dst: &mut [u8]) -> Result<Progress> {
        if let Some(bit) = self.walk.decoder().block_bit()
            && self.is_due(index.points.is_empty())
            && index.points.last().is_none_or(|last| last.bit < bit)
        {
            self.note(index, bit)?;
        }
        let left = self.spacing.saturating_sub(self.walk.offset - self.last);
        let is_in_data = self.walk.decoder().is_in_data();
        // Stops after every header, and before the first block that is far enough from the last
        // point.
        let most = match left {
            _ if !is_in_data => 0,
            0 => dst.len(),
            _ => dst.len().min(usize::try_from(left).unwrap_or(usize::MAX)),
        };
        let stop = if left == 0 || !is_in_data { i64::MIN } else { NO_STOP };
        let progress = self.walk.step(src, &mut dst[..most], stop)?;
        if !self.references.is_done() {
            self.references.feed(&src[..progress.read]);
            if self.references.is_done() {
                self.thin(index);
            }
        }
        index.len = self.walk.offset;
        if progress.status == Status::End {
            index.is_complete = true;
        }
        Ok(progress)
    }

    fn is_due(&self, is_first: bool) -> bool {
        let content = self.walk.offset - self.last;
        content >= self.spacing || self.walk.is_at_member() && (content >= LEAST_SPACING || is_first)
    }

    fn note(&mut self, index: &mut Index, bit: u64) -> Result<()> {
        let no_memory = Error::new(Kind::Limit, bit / 8, "out of memory for the index");
        index.points.try_reserve(1).map_err(|_| no_memory)?;
        let window = (!self.walk.is_at_member()).then(|| {
            let history = self.walk.decoder().history();
            let mut window = vec![0; history.len()];
            history.copy(history.len(), &mut window);
            self.references.begin(self.walk.decoder().block_decoder());
            SparseWindow::new(&window)
        });
        self.last = self.walk.offset;
        index.points.push(Point { bit, offset: self.walk.offset, window });
        Ok(())
    }

    /// Replaces bytes of the last window that no match refers to by zeros.
    fn thin(&self, index: &mut Index) {
        // The last point may be the beginning of a later member, which has no window.
        if let Some(point) = index.points.iter_mut().rev().find(|point| !point.is_member()) {
            point.thin(&self.references.referred());
        }
    }
}

/// Reads the content of a gzip file like [`read::Decoder`](crate::read::Decoder), and makes its
/// index. It holds the index, and less than 1 MiB besides. Bytes after the last member that do not
/// begin as another one, such as zeros or garbage, are not decoded.
///
/// # Errors
/// Reading returns the errors of [`read::Decoder`](crate::read::Decoder), except for bytes after
/// the last member, and [`Kind::Limit`] if memory for the index runs out.
pub struct Builder<R> {
    reader: R,
    frontier: Result<Frontier>,
    index: Index,
}

impl<R: Read> Builder<BufReader<R>> {
    /// Creates a builder that buffers the reader, 64 KiB at a time.
    pub fn new(reader: R, options: &Options) -> Self {
        Self::with_buffer(BufReader::with_capacity(BUFFER, reader), options)
    }
}

impl<R: BufRead> Builder<R> {
    /// Creates a builder for a reader that has a buffer.
    pub fn with_buffer(reader: R, options: &Options) -> Self {
        let index = Index { spacing: options.spacing, ..Index::default() };
        Builder { reader, frontier: Frontier::new(options), index }
    }

    /// Decodes the rest, and returns the index. This reads the reader to its end.
    ///
    /// # Errors
    /// Returns the errors of reading.
    pub fn finish(mut self) -> io::Result<Index> {
        let mut rest = vec![0; 4 * BUFFER];
        while !self.index.is_complete {
            match self.read(&mut rest) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
        }
        loop {
            let len = match self.reader.fill_buf() {
                Ok(bytes) => bytes.len(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if len == 0 {
                return Ok(self.index);
            }
            self.reader.consume(len);
            self.index.compressed_len += len as u64;
        }
    }
}

impl<R: BufRead> Read for Builder<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let frontier = self.frontier.as_mut().map_err(|error| *error)?;
        loop {
            if buf.is_empty() || self.index.is_complete {
                return Ok(0);
            }
            let progress = frontier.step(&mut self.index, self.reader.fill_buf()?, buf)?;
            self.reader.consume(progress.read);
            self.index.compressed_len += progress.read as u64;
            if progress.written > 0 {
                return Ok(progress.written);
            }
        }
    }
}

const _: () = assert!(LEAST_SPACING as usize >= 2 * WINDOW);
