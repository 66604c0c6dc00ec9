//! [`Reader`]: reads the content of a file of many frames at any position.

use std::hash::Hasher;
use std::io::{self, BufRead, Read, Seek, SeekFrom};

use linerate_core::{Error, Kind, Result};
use twox_hash::XxHash64;

use super::index::{Entry, Index, read_error};
use crate::decoder::FrameDecoder;
use crate::dictionary::Dictionary;
use crate::options::Options;
use crate::scratch::Scratch;

/// Default of the largest frame that is decoded: 128 MiB of content.
const MAX_FRAME: u64 = 128 << 20;
/// Number of bytes that a frame of incompressible content may have beside its content: headers of
/// blocks.
const MAX_OVERHEAD: u64 = 1 << 20;

/// Reads the content of a file of many frames at any position. It holds one decoded frame, and
/// verifies the frame's checksums before it returns any byte of it.
///
/// ```
/// use std::io::{Read, Seek, SeekFrom};
///
/// let frame = b"\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello";
/// let file = std::io::Cursor::new(frame.repeat(2));
/// let mut reader = linerate_zstd::seekable::Reader::new(file)?;
/// assert_eq!(reader.len(), 10);
/// let mut bytes = [0; 4];
/// reader.seek(SeekFrom::Start(3))?;
/// reader.read_exact(&mut bytes)?;
/// assert_eq!(&bytes, b"lohe");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Reader<'a, R> {
    source: R,
    index: Index,
    decoder: FrameDecoder,
    scratch: Scratch,
    dictionary: Option<&'a Dictionary<'a>>,
    max_frame: u64,
    /// Position in the content.
    position: u64,
    /// The decoded frame; `content` has its content.
    frame: Option<Entry>,
    content: Vec<u8>,
    compressed: Vec<u8>,
}

impl<R: Read + Seek> Reader<'_, R> {
    /// Makes a reader from the file's seek table, or, if it has none, from one pass over its
    /// frames.
    ///
    /// # Errors
    /// Returns the errors of [`Index::from_seek_table`] and [`Index::scan`].
    pub fn new(mut source: R) -> io::Result<Self> {
        let index = match Index::from_seek_table(&mut source)? {
            Some(index) => index,
            None => Index::scan(&mut source, Options::new(), None)?,
        };
        Ok(Self::with_index(source, index))
    }
}

impl<'a, R> Reader<'a, R> {
    /// Makes a reader from the index of the same file.
    pub fn with_index(source: R, index: Index) -> Self {
        Reader {
            source,
            index,
            decoder: FrameDecoder::default(),
            scratch: Scratch::new(),
            dictionary: None,
            max_frame: MAX_FRAME,
            position: 0,
            frame: None,
            content: Vec::new(),
            compressed: Vec::new(),
        }
    }

    /// Sets the dictionary of all frames.
    #[must_use]
    pub fn dictionary(self, dictionary: &'a Dictionary<'a>) -> Self {
        Reader { dictionary: Some(dictionary), ..self }
    }

    /// Sets the largest content of a frame in bytes. It bounds memory, which holds the frame and
    /// its content. Default: 128 MiB.
    #[must_use]
    pub fn max_frame(self, bytes: u64) -> Self {
        Reader { max_frame: bytes, ..self }
    }

    /// Returns the frames of the file.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Returns the number of bytes of the content.
    pub fn len(&self) -> u64 {
        self.index.len()
    }

    /// Returns whether there is no content.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Returns a reference to the file.
    pub fn get_ref(&self) -> &R {
        &self.source
    }

    /// Returns the file.
    pub fn into_inner(self) -> R {
        self.source
    }
}

impl<R: Read + Seek> Reader<'_, R> {
    /// Decodes the frame of an entry.
    fn load(&mut self, entry: Entry) -> Result<()> {
        self.frame = None;
        let error = |kind, what| Err(Error::new(kind, entry.compressed_offset, what));
        if entry.len > self.max_frame || entry.compressed_len > self.max_frame.saturating_add(MAX_OVERHEAD) {
            return error(Kind::Limit, "the frame is above the limit");
        }
        self.compressed.clear();
        self.source
            .seek(SeekFrom::Start(entry.compressed_offset))
            .and_then(|_| (&mut self.source).take(entry.compressed_len).read_to_end(&mut self.compressed))
            .map_err(|e| read_error(entry.compressed_offset, &e))?;
        if self.compressed.len() as u64 != entry.compressed_len {
            return error(Kind::Truncated, "the file ends before the frame does");
        }
        let len = usize::try_from(entry.len).unwrap_or(usize::MAX);
        if self.content.try_reserve(len.saturating_sub(self.content.len())).is_err() {
            return error(Kind::Limit, "there is no memory for the frame");
        }
        self.content.resize(len, 0);
        let decoded =
            self.decoder.decode(&mut self.scratch, self.dictionary, &self.compressed, &mut self.content);
        match decoded {
            Ok(n) if n == len => {}
            Ok(_) | Err(Error { kind: Kind::OutputTooSmall, .. }) => {
                return error(
                    Kind::Corrupt,
                    "the content of the frame does not have the size that the index states",
                );
            }
            Err(e) => return Err(e.shifted(entry.compressed_offset)),
        }
        let mut hash = XxHash64::with_seed(0);
        hash.write(&self.content);
        if entry.checksum.is_some_and(|checksum| checksum != hash.finish() as u32) {
            return error(
                Kind::Corrupt,
                "the content of the frame does not match its checksum in the seek table",
            );
        }
        self.frame = Some(entry);
        Ok(())
    }
}

impl<R: Read + Seek> BufRead for Reader<'_, R> {
    /// Returns the rest of the frame at the position.
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let Some(entry) = self.index.find(self.position).copied() else { return Ok(&[]) };
        if self.frame != Some(entry) {
            self.load(entry)?;
        }
        Ok(&self.content[(self.position - entry.offset) as usize..])
    }

    fn consume(&mut self, count: usize) {
        self.position = self.position.saturating_add(count as u64);
    }
}

impl<R: Read + Seek> Read for Reader<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        let bytes = self.fill_buf()?;
        let n = bytes.len().min(buf.len());
        buf[..n].copy_from_slice(&bytes[..n]);
        self.consume(n);
        Ok(n)
    }
}

impl<R> Seek for Reader<'_, R> {
    /// Sets the position in the content, which may be after its end.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(by) => self.index.len().checked_add_signed(by),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        let before = Error::new(Kind::BadArgument, 0, "a position before the beginning of the content");
        self.position = target.ok_or(before)?;
        Ok(self.position)
    }
}
