//! [`GzipFile`]: the content of a gzip file, decoded on several threads and read from any position.

mod ahead;
mod serial;

use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::mem;

use linerate_core::{Error, Kind};

use self::ahead::Ahead;
use self::serial::Serial;
use crate::index::{Index, Reader};

/// Largest compressed size, in bytes, of a file that the reading thread decodes alone whatever the
/// number of threads.
const SMALL: u64 = 64 << 10;
/// Number of bytes of content skipped at a time.
const SKIPPED: usize = 128 << 10;
const LOST: Error = Error::new(Kind::Read, 0, "the file could not be read again");

/// The content of all members of a gzip file, as one file that you can read in any order.
///
/// * If you read from the beginning, other threads decode ahead: without an index one if `threads`
///   is 2, and `threads` together, as in [`parallel::decode`](crate::parallel::decode), if it is 3
///   or more. With 0 or 1, or a file of at most 64 KiB, the reading thread decodes. Without an
///   index content and errors are the same for any number.
/// * With an index, [seeking](Seek) goes to any position at once. From then on the reading thread
///   decodes, as [`Reader`] does. If you read from the beginning before any seek and `threads` is 2
///   or more, the file is decoded as in [`index::decode`](crate::index::decode): an index of
///   another file is then no error, and damage is found at the end of its member.
/// * Without an index, seeking forward decodes the data in between, and seeking back begins again.
///
/// Zeros after a member are skipped; after them only another member may follow. With an index the
/// content ends before zeros or any other bytes that are not a member. An empty file has no
/// content. Dropping a `GzipFile` waits for its threads.
///
/// ```
/// use std::io::{Cursor, Read, Seek, SeekFrom};
/// use linerate_inflate::GzipFile;
///
/// let file = &b"\x1f\x8b\x08\0\0\0\0\0\x04\x03\x4b\x4c\x4a\x06\0\xc2\x41\x24\x35\x03\0\0\0"[..];
/// let mut content = GzipFile::new(Cursor::new(file), 4)?; // or a File
/// content.seek(SeekFrom::End(-2))?;
/// assert_eq!(std::io::read_to_string(content)?, "bc");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Reading and seeking fail with errors of the source, and with an [`io::Error`] whose source is an
/// [`Error`] with an offset in the file. Damage gives [`ErrorKind::InvalidData`], and a truncated
/// file [`ErrorKind::UnexpectedEof`]. Content before the error is returned first. Every call that
/// would read further returns the error again. Seeking back is possible.
pub struct GzipFile<R> {
    engine: Engine<R>,
    threads: usize,
    position: u64,
    /// Length of the decompressed content in bytes, if known.
    len: Option<u64>,
    /// The error that reading at the position returns.
    failure: Option<io::Error>,
}

enum Engine<R> {
    Serial(Box<Serial<R>>),
    Indexed(Box<Reader<R>>),
    Ahead(Ahead<R>),
    /// Placeholder while another engine is being made, and after making it has failed.
    None,
}

impl<R: Read + Seek + Send + 'static> GzipFile<R> {
    /// Opens a file, whose source must be at its beginning, because seeking back goes there. With
    /// 0 or 1 threads the source is sought only for that.
    ///
    /// # Errors
    /// Returns no error at present; memory that runs out may become [`Kind::Limit`]. The source is
    /// not read yet.
    pub fn new(source: R, threads: usize) -> io::Result<Self> {
        let engine = Engine::Serial(Box::new(Serial::new(source)?));
        Ok(GzipFile { engine, threads, position: 0, len: None, failure: None })
    }

    /// Opens a file with its index.
    ///
    /// # Errors
    /// Returns the errors of [`Reader::with_index`].
    pub fn with_index(source: R, index: Index, threads: usize) -> io::Result<Self> {
        let len = Some(index.len());
        let engine = Engine::Indexed(Box::new(Reader::with_index(source, index)?));
        Ok(GzipFile { engine, threads, position: 0, len, failure: None })
    }

    /// Starts decoding on another thread, if `threads` allows it, the position is at the beginning,
    /// and the file is large enough.
    fn go_ahead(&mut self) -> io::Result<()> {
        let threads = self.threads;
        if threads < 2 || self.position > 0 {
            return Ok(());
        }
        let file = match &mut self.engine {
            Engine::Serial(serial) => {
                let at = serial.source.stream_position()?;
                let len = serial.source.seek(SeekFrom::End(0))?;
                serial.source.seek(SeekFrom::Start(at))?;
                if len - at.min(len) <= SMALL {
                    return Ok(());
                }
                match mem::replace(&mut self.engine, Engine::None) {
                    Engine::Serial(serial) => (serial.source, None),
                    _ => return Ok(()),
                }
            }
            Engine::Indexed(reader) if reader.index().compressed_len() > SMALL => {
                reader.source_mut().rewind()?;
                match mem::replace(&mut self.engine, Engine::None) {
                    Engine::Indexed(reader) => {
                        let (source, index) = reader.into_parts();
                        (source, Some(index))
                    }
                    _ => return Ok(()),
                }
            }
            _ => return Ok(()),
        };
        self.engine = match Ahead::start(file, threads) {
            Ok(ahead) => Engine::Ahead(ahead),
            Err((source, index)) => Engine::of(source, index)?,
        };
        Ok(())
    }

    fn decode(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.go_ahead()?;
        match &mut self.engine {
            Engine::Serial(serial) => serial.read(buf),
            Engine::Indexed(reader) => reader.read(buf),
            Engine::Ahead(ahead) => match ahead.read(buf)? {
                0 if !buf.is_empty() => self.stop().map(|()| 0),
                len => Ok(len),
            },
            Engine::None => Err(LOST.into()),
        }
    }

    /// Ends the thread that decodes ahead, and returns its error if it had one. Without an index
    /// the position is lost.
    fn stop(&mut self) -> io::Result<()> {
        match mem::replace(&mut self.engine, Engine::None) {
            Engine::Ahead(ahead) => {
                let ((source, index), result) = ahead.stop();
                self.engine = Engine::of(source, index)?;
                if let Engine::Indexed(reader) = &mut self.engine {
                    reader.seek(SeekFrom::Start(self.position))?;
                }
                result
            }
            engine => {
                self.engine = engine;
                Ok(())
            }
        }
    }

    /// Goes to a position by the index, or without one back to the beginning.
    fn restart(&mut self, position: u64) -> io::Result<()> {
        if matches!(self.engine, Engine::Ahead(_)) {
            // If seeking the source fails, nothing may be read from where the thread left it.
            self.failure = Some(LOST.into());
        }
        // An error of the data decoded ahead will occur again.
        let _ = self.stop();
        self.position = match &mut self.engine {
            Engine::Indexed(reader) => {
                // A program that has sought once will probably seek again, and decoding ahead would
                // be in vain.
                self.threads = 0;
                reader.seek(SeekFrom::Start(position))?
            }
            Engine::Serial(serial) => serial.rewind().map(|()| 0)?,
            _ => return Err(LOST.into()),
        };
        self.failure = None;
        Ok(())
    }

    /// Reads up to a position, or to the end if that comes first.
    fn skip_to(&mut self, position: u64) -> io::Result<()> {
        let mut skipped = Vec::new();
        while self.position < position {
            let len = (position - self.position).min(SKIPPED as u64) as usize;
            skipped.resize(len, 0);
            match self.read(&mut skipped) {
                Ok(0) => break,
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

impl<R> GzipFile<R> {
    /// Returns whether there is an index, so that seeking goes to any position at once.
    pub fn has_index(&self) -> bool {
        match &self.engine {
            Engine::Indexed(_) => true,
            Engine::Ahead(ahead) => ahead.has_index,
            _ => false,
        }
    }

    /// Returns the length of the content in bytes, if it is known from the index or because the end
    /// has been read.
    pub fn content_len(&self) -> Option<u64> {
        self.len
    }
}

impl<R: Read + Seek> Engine<R> {
    fn of(source: R, index: Option<Index>) -> io::Result<Self> {
        Ok(match index {
            Some(index) => Engine::Indexed(Box::new(Reader::with_index(source, index)?)),
            None => Engine::Serial(Box::new(Serial::new(source)?)),
        })
    }
}

impl<R: Read + Seek + Send + 'static> Read for GzipFile<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if let Some(failure) = &self.failure {
            return Err(again(failure));
        }
        if buf.is_empty() || self.len.is_some_and(|len| self.position >= len) && !self.has_index() {
            return Ok(0);
        }
        match self.decode(buf) {
            Ok(0) => {
                self.len = Some(self.position);
                Ok(0)
            }
            Ok(len) => {
                self.position += len as u64;
                Ok(len)
            }
            Err(error) => {
                if error.kind() != ErrorKind::Interrupted {
                    self.failure = Some(again(&error));
                }
                Err(error)
            }
        }
    }
}

impl<R: Read + Seek + Send + 'static> Seek for GzipFile<R> {
    /// Sets the position in the content, at most to its end. Without an index [`SeekFrom::End`]
    /// decodes everything, unless the end has been read before.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => {
                if self.len.is_none() {
                    self.skip_to(u64::MAX)?;
                }
                self.len.unwrap_or(self.position).checked_add_signed(by)
            }
        };
        let before = Error::new(Kind::BadArgument, 0, "the position is before the beginning of the content");
        let target = target.ok_or(before)?.min(self.len.unwrap_or(u64::MAX));
        if self.has_index() && target != self.position || target < self.position {
            self.restart(target)?;
        }
        self.skip_to(target)?;
        Ok(self.position)
    }
}

/// Returns a copy of an error.
fn again(error: &io::Error) -> io::Error {
    if let Some(own) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        return (*own).into();
    }
    match error.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}
