//! A file of a shared archive, read as a stream.

use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::sync::Arc;

use linerate_core::{Error, Kind, Result};
use linerate_io::ReadAt;

use super::Inner;
use super::cache::{Content, Purpose};
#[cfg(any(feature = "tokio", feature = "futures-io"))]
use super::executor::Executor;
use crate::format::hash::ContentHasher;
use crate::read::archive::File;
use crate::read::reader::{Piece, check_file_limit, pieces};

/// Bytes of a stored block to read at once, and of a damaged block to decode at once. Equals the
/// size of zstd's largest block.
const STEP: u64 = 128 << 10;

/// An open file of a [`SharedArchive`](super::SharedArchive), with a position. It has no lifetime:
/// it can be stored, sent to other threads, and passed to anything that takes a reader.
///
/// The file reads through the cache, a block at a time, and pins the block at its position. Stored
/// blocks of a local source are read without the cache. A file whose bytes are all read in order
/// from start to end is checked against its hash, also if other bytes are read in between.
/// If the hash does not match, reading the last block is an error. After a [seek](Seek) over bytes
/// that were not read, only checksums of zstd frames are checked.
///
/// Seeking works as in `std::fs::File`: a position beyond the end is allowed, and nothing can be
/// read there. A position before the start is an error of kind [`io::ErrorKind::InvalidInput`].
///
/// # Errors
///
/// A failed read returns an [`io::Error`] that contains a [`linerate_core::Error`].
/// [`Kind::Corrupt`] becomes [`io::ErrorKind::InvalidData`]. The position does not change, and
/// bytes before the damage can be read.
pub struct OpenFile<S> {
    shared: Arc<Inner<S>>,
    index: u32,
    size: u64,
    position: u64,
    window: Option<Window>,
    /// The hasher and the number of bytes hashed, from the start of the file. `None` if hashes are
    /// not checked.
    hasher: Option<(ContentHasher, u64)>,
    /// The block that failed last, and its error. This block is read only as far as it can be
    /// decoded.
    damaged: Option<(usize, Error)>,
}

/// The bytes of the file around its position.
struct Window {
    /// Offset of the window in the file.
    start: u64,
    block: usize,
    /// Number of bytes in the window.
    len: usize,
    bytes: Bytes,
}

enum Bytes {
    /// A cached block, and the offset in it where the window starts.
    Cached(Arc<Content>, usize),
    Own(Vec<u8>),
}

impl Window {
    fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Cached(content, from) => &content.bytes()[*from..*from + self.len],
            Bytes::Own(bytes) => bytes,
        }
    }

    /// Returns the bytes of the window from a position in the file, if the window contains it.
    fn from(&self, position: u64) -> Option<&[u8]> {
        let skipped = usize::try_from(position.checked_sub(self.start)?).ok()?;
        self.bytes().get(skipped..).filter(|rest| !rest.is_empty())
    }
}

impl<S: ReadAt + 'static> OpenFile<S> {
    pub(super) fn new(shared: Arc<Inner<S>>, file: File<'_>) -> Result<OpenFile<S>> {
        let own = shared.archive.get(file.index()).expect("a file of this archive");
        check_file_limit(&shared.archive, own)?;
        let hasher = shared.archive.hash_kind().hasher();
        if shared.verify && own.size() == 0 {
            own.check_hash(hasher.finish())?;
        }
        let hasher = (shared.verify && shared.archive.has_hashes()).then_some((hasher, 0));
        let (index, size) = (own.index() as u32, own.size());
        Ok(OpenFile { shared, index, size, position: 0, window: None, hasher, damaged: None })
    }

    /// The path in the archive.
    pub fn path(&self) -> &str {
        self.file().path()
    }

    /// The size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The position in bytes.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Reads from an offset and returns the number of bytes. Fills `out` unless the file ends
    /// before. The position moves to the end of the bytes read.
    ///
    /// # Errors
    ///
    /// Returns the errors that [`OpenFile`] describes. `out` is then unspecified, and the position
    /// is that of the bytes that failed.
    pub fn read_at(&mut self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        self.position = offset;
        let mut filled = 0;
        while filled < out.len() {
            match self.read(&mut out[filled..])? {
                0 => break,
                len => filled += len,
            }
        }
        Ok(filled)
    }

    #[cfg(any(feature = "tokio", feature = "futures-io"))]
    pub(super) fn executor(&self) -> &Executor {
        &self.shared.executor
    }

    /// Whether [`BufRead::fill_buf`] would return without decoding or reading.
    #[cfg(any(feature = "tokio", feature = "futures-io"))]
    pub(super) fn is_ready(&self) -> bool {
        let is_cached = |(piece, _): (Piece, u64)| self.shared.cache.holds(self.shared.key(piece.block));
        self.is_loaded() || self.block_at(self.position).is_some_and(is_cached)
    }

    /// Whether the window contains the position, or the position is at or beyond the end.
    fn is_loaded(&self) -> bool {
        self.position >= self.size || self.at_position().is_some()
    }

    fn at_position(&self) -> Option<&[u8]> {
        self.window.as_ref()?.from(self.position)
    }

    fn file(&self) -> File<'_> {
        self.shared.archive.get(self.index as usize).expect("checked when it was opened")
    }

    /// Returns the file's piece of the block at a position, and the offset of the piece in the
    /// file.
    fn block_at(&self, position: u64) -> Option<(Piece, u64)> {
        let chunk = self.shared.archive.header().chunk.bytes();
        let start = position / chunk * chunk;
        let end = start.saturating_add(chunk).min(self.size);
        Some((pieces(&self.shared.archive, self.file(), start, end).next()?, start))
    }

    /// Loads at least one byte at the position into the window, unless the position is at or beyond
    /// the end.
    pub(super) fn load(&mut self) -> Result<()> {
        if self.is_loaded() {
            return Ok(());
        }
        let Some((piece, start)) = self.block_at(self.position) else { return Ok(()) };
        self.leave_window(piece.block);
        let window = match self.shared.is_direct(piece.block) {
            true => self.read_stored(&piece, start)?,
            false => self.read_block(&piece, start)?,
        };
        self.check(&window)?;
        self.window = Some(window);
        Ok(())
    }

    /// Unpins the block before another is read. Marks it as finished if it is a chunk of a larger
    /// file that was read to its end.
    fn leave_window(&mut self, next: usize) {
        let Some(window) = self.window.take() else { return };
        let is_read = self.position == window.start + window.len as u64;
        if matches!(window.bytes, Bytes::Cached(..))
            && is_read
            && next != window.block
            && self.file().is_chunked()
        {
            self.shared.cache.finish(self.shared.key(window.block));
        }
        drop(window);
        self.shared.cache.release();
    }

    fn read_stored(&self, piece: &Piece, start: u64) -> Result<Window> {
        let skipped = self.position - start;
        let len = (piece.to - piece.from - skipped).min(STEP) as usize;
        let mut bytes = vec![0; len];
        self.shared
            .with_reader(|reader| reader.read_stored(piece.block, piece.from + skipped, &mut bytes))?;
        Ok(Window { start: self.position, block: piece.block, len, bytes: Bytes::Own(bytes) })
    }

    fn read_block(&mut self, piece: &Piece, start: u64) -> Result<Window> {
        let error = match self.damaged.filter(|(block, _)| *block == piece.block) {
            Some((_, error)) => error,
            None => match self.shared.block(piece.block, Purpose::Read) {
                Ok(content) => {
                    let (len, from) = ((piece.to - piece.from) as usize, piece.from as usize);
                    return Ok(Window {
                        start,
                        block: piece.block,
                        len,
                        bytes: Bytes::Cached(content, from),
                    });
                }
                Err(error) => error,
            },
        };
        if error.kind != Kind::Corrupt {
            return Err(error);
        }
        self.damaged = Some((piece.block, error));
        self.read_prefix(piece, start).map_err(|_| error)
    }

    /// Decodes a damaged block some way past the position or, if that fails, only up to the byte at
    /// the position.
    fn read_prefix(&self, piece: &Piece, start: u64) -> Result<Window> {
        let position = piece.from + (self.position - start);
        let step = (position + 1).next_multiple_of(STEP).min(piece.to);
        let prefix = self.shared.prefix(piece.block, step);
        let mut bytes = prefix.or_else(|_| self.shared.prefix(piece.block, position + 1))?;
        bytes.drain(..piece.from as usize);
        Ok(Window { start, block: piece.block, len: bytes.len(), bytes: Bytes::Own(bytes) })
    }

    /// Hashes the bytes that follow those hashed before. At the end of the file, compares the hash.
    fn check(&mut self, window: &Window) -> Result<()> {
        // The window of a damaged block may begin before the end of the last window.
        let Some((hasher, hashed)) = &self.hasher else { return Ok(()) };
        let Some(fresh) = window.from(*hashed) else { return Ok(()) };
        let (mut next, end) = (hasher.clone(), hashed + fresh.len() as u64);
        next.update(fresh);
        if end == self.size {
            let hash = next.finish();
            self.file().check_hash(hash)?;
        }
        self.hasher = Some((next, end));
        Ok(())
    }
}

impl<S: ReadAt + 'static> Read for OpenFile<S> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        let bytes = self.fill_buf()?;
        let len = bytes.len().min(out.len());
        out[..len].copy_from_slice(&bytes[..len]);
        self.consume(len);
        Ok(len)
    }
}

impl<S: ReadAt + 'static> BufRead for OpenFile<S> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.load().map_err(io::Error::from)?;
        Ok(self.at_position().unwrap_or_default())
    }

    fn consume(&mut self, count: usize) {
        // A count that is too large moves the position no further than a seek could.
        self.position = self.position.saturating_add(count as u64);
    }
}

impl<S: ReadAt + 'static> Seek for OpenFile<S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.size.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        let outside =
            || io::Error::new(io::ErrorKind::InvalidInput, "a position before the start or beyond 2^64");
        self.position = position.ok_or_else(outside)?;
        Ok(self.position)
    }

    fn stream_position(&mut self) -> io::Result<u64> {
        Ok(self.position)
    }
}

impl<S> Drop for OpenFile<S> {
    fn drop(&mut self) {
        self.window = None;
        self.shared.cache.release();
    }
}
