//! [`Reader`]: the content of a gzip file, readable at any position.

use std::io::{self, BufRead, ErrorKind, Read, Seek, SeekFrom};

use linerate_core::{Error, Kind};

use super::Options;
use super::build::Frontier;
use super::content::Content;
use super::points::Index;
use crate::stream::BUFFER;

/// Reads of fewer bytes go through the buffer.
const SHORT: usize = 4 << 10;

/// The content of a gzip file, readable at any position. Decoding begins at the last point up to
/// the position, or continues from where it is if that is nearer. A reader holds the index, and
/// less than 1 MiB besides.
///
/// [The module](super) describes what is verified, and has an example.
///
/// # Errors
/// Reading fails with an [`io::Error`] whose source is an [`Error`] with an offset in the file.
/// Damage and the index of another file give [`ErrorKind::InvalidData`], and a truncated file gives
/// [`ErrorKind::UnexpectedEof`]. Content before the error is returned first. Other positions can be
/// read afterwards.
pub struct Reader<R> {
    content: Content<R>,
    position: u64,
    buffer: Box<[u8]>,
    /// Offset of the buffer in the content.
    buffer_at: u64,
    /// Number of bytes in the buffer.
    buffered: usize,
}

impl<R: Read + Seek> Reader<R> {
    /// Creates a reader that makes the index: data decoded for the first time is indexed.
    /// [`SeekFrom::End`] decodes everything.
    ///
    /// # Errors
    /// Returns no error at present; memory that runs out may become [`Kind::Limit`].
    pub fn new(source: R, options: &Options) -> io::Result<Self> {
        let index = Index { spacing: options.spacing, ..Index::default() };
        Ok(Self::of(Content::new(source, index, Some(Frontier::new(options)?))))
    }

    /// Creates a reader with an index of the same file.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] if the index is of a file of another size, or not complete,
    /// and [`Kind::Read`] if the file cannot be read.
    pub fn with_index(source: R, index: Index) -> io::Result<Self> {
        let mut reader = Self::of(Content::new(source, index, None));
        let len = reader.content.input.len()?;
        let wrong = |what| Err(Error::new(Kind::BadArgument, len, what).into());
        match reader.index() {
            index if !index.is_complete => wrong("the index is not complete"),
            index if index.compressed_len != len => wrong("the index is of a file of another size"),
            _ => Ok(reader),
        }
    }

    fn of(content: Content<R>) -> Self {
        Reader { content, position: 0, buffer: Box::default(), buffer_at: 0, buffered: 0 }
    }

    /// Reads content from `offset` until `buf` is full or the content ends, and returns the number
    /// of bytes. The position does not change.
    ///
    /// # Errors
    /// Returns the errors of reading, which [`Reader`] describes.
    pub fn read_at(&mut self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let before = std::mem::replace(&mut self.position, offset);
        let mut len = 0;
        let result = loop {
            match self.read(&mut buf[len..]) {
                Ok(0) => break Ok(len),
                Ok(n) => len += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        self.position = before;
        result
    }

    /// Returns the length of the content in bytes. Unless the index is complete, this decodes the
    /// rest of the file first.
    ///
    /// # Errors
    /// Returns the errors of reading, which [`Reader`] describes.
    pub fn content_len(&mut self) -> io::Result<u64> {
        self.content.finish()?;
        Ok(self.content.index.len)
    }
}

impl<R> Reader<R> {
    /// Returns the index. Unless it is [complete](Index::is_complete), it covers the data decoded
    /// so far.
    pub fn index(&self) -> &Index {
        &self.content.index
    }

    /// Returns the file. Do not change its position: reading continues from there.
    pub fn get_ref(&self) -> &R {
        &self.content.input.source
    }

    /// Returns the file.
    pub fn into_inner(self) -> R {
        self.content.input.source
    }

    /// Returns the file, so that the caller can seek in it before
    /// [`into_parts`](Self::into_parts).
    pub(crate) fn source_mut(&mut self) -> &mut R {
        &mut self.content.input.source
    }

    /// Returns the file and the index.
    pub(crate) fn into_parts(self) -> (R, Index) {
        (self.content.input.source, self.content.index)
    }

    /// Returns the bytes of the buffer from the position.
    fn rest(&self) -> &[u8] {
        let from = self.position.checked_sub(self.buffer_at).and_then(|from| usize::try_from(from).ok());
        from.and_then(|from| self.buffer[..self.buffered].get(from..)).unwrap_or_default()
    }
}

impl<R: Read + Seek> BufRead for Reader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.rest().is_empty() {
            if self.buffer.is_empty() {
                self.buffer = vec![0; BUFFER].into();
            }
            (self.buffer_at, self.buffered) = (self.position, 0);
            self.buffered = self.content.decode(self.position, &mut self.buffer)?;
        }
        Ok(self.rest())
    }

    fn consume(&mut self, count: usize) {
        self.position = self.position.saturating_add(count as u64);
    }
}

impl<R: Read + Seek> Read for Reader<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = if buf.len() >= SHORT && self.rest().is_empty() {
            self.content.decode(self.position, buf)?
        } else if buf.is_empty() {
            0
        } else {
            let bytes = self.fill_buf()?;
            let len = bytes.len().min(buf.len());
            buf[..len].copy_from_slice(&bytes[..len]);
            len
        };
        self.consume(len);
        Ok(len)
    }
}

impl<R: Read + Seek> Seek for Reader<R> {
    /// Sets the position in the content. It may be after the end.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(by) => self.content_len()?.checked_add_signed(by),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        let before = Error::new(Kind::BadArgument, 0, "the position is before the beginning of the content");
        self.position = target.ok_or(before)?;
        Ok(self.position)
    }
}
