//! [`GzipFile`]: the content of a gzip file, decoded on several threads and read from any position.

mod ahead;
mod serial;

use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::mem;

use linerate_core::{Error, Kind};

use self::ahead::Ahead;
use self::serial::Serial;
use crate::index::{Index, Reader};

/// Compressed bytes up to which a file is decoded by the thread that reads it.
const SMALL: u64 = 64 << 10;
/// Bytes of content that are skipped at a time.
const SKIPPED: usize = 128 << 10;
const LOST: Error = Error::new(Kind::Read, 0, "the file could not be read again");

/// The content of all members of a gzip file, as one file that is read in any order.
///
/// * Read from its beginning on, it is decoded ahead by another thread if `threads` is 2, and by
///   so many more, as [`parallel::decode`](crate::parallel::decode) does, from 3 on. With 0 or 1
///   the thread that reads decodes. Content and errors are the same for any number.
/// * With an index, [seeking](Seek) goes to any position at once, and what follows is decoded by
///   the thread that reads, as [`Reader`] does. Read from its beginning on, before any seeking, the
///   file is decoded as [`index::decode`](crate::index::decode) does if `threads` is 2 or more: an
///   index of another file is then no error, and damage is found where its member ends.
/// * Without one, seeking forward decodes what lies between, and seeking back begins again.
///
/// Zeros after a member are skipped, and another member must follow, or nothing. With an index the
/// content ends where that of the index does, which is before zeros or anything else that is no
/// member. An empty file has no content. Dropping it waits for its threads.
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
/// Reading and seeking fail with those of the source, and with an [`io::Error`] whose source is an
/// [`Error`]; its offset counts bytes of the file. Damage is an [`ErrorKind::InvalidData`], a
/// truncated file an [`ErrorKind::UnexpectedEof`]. Content before the error is returned first. It is
/// returned again by every call that would read on; seeking back is possible.
pub struct GzipFile<R> {
    engine: Engine<R>,
    threads: usize,
    position: u64,
    /// Bytes of the content, if they are known.
    len: Option<u64>,
    /// The error at the position.
    failure: Option<io::Error>,
}

enum Engine<R> {
    Serial(Box<Serial<R>>),
    Indexed(Box<Reader<R>>),
    Ahead(Ahead<R>),
    /// While it is exchanged, and after a failure to do so.
    None,
}

impl<R: Read + Seek + Send + 'static> GzipFile<R> {
    /// The content of a file, whose source is at its beginning: seeking back goes there. With one
    /// thread the source is sought only for this.
    ///
    /// # Errors
    /// Those of the source; [`Kind::Limit`] if memory runs out.
    pub fn new(source: R, threads: usize) -> io::Result<Self> {
        let engine = Engine::Serial(Box::new(Serial::new(source)?));
        Ok(GzipFile { engine, threads, position: 0, len: None, failure: None })
    }

    /// The content of a file, by its index.
    ///
    /// # Errors
    /// Those of [`Reader::with_index`].
    pub fn with_index(source: R, index: Index, threads: usize) -> io::Result<Self> {
        let len = Some(index.len());
        let engine = Engine::Indexed(Box::new(Reader::with_index(source, index)?));
        Ok(GzipFile { engine, threads, position: 0, len, failure: None })
    }

    /// Has another thread decode, if this is allowed and pays.
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

    /// Ends the thread that decodes ahead. Returns its error, if it had one. Without an index the position
    /// is lost.
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

    /// Goes to a position with an index, or back to the beginning.
    fn restart(&mut self, position: u64) -> io::Result<()> {
        if matches!(self.engine, Engine::Ahead(_)) {
            // Nothing is read from where the thread leaves the file, if it cannot be sought.
            self.failure = Some(LOST.into());
        }
        // An error of what was decoded ahead is met again.
        let _ = self.stop();
        self.position = match &mut self.engine {
            Engine::Indexed(reader) => {
                // Who has sought once will do so again: what is decoded ahead would be in vain.
                self.threads = 0;
                reader.seek(SeekFrom::Start(position))?
            }
            Engine::Serial(serial) => serial.rewind().map(|()| 0)?,
            _ => return Err(LOST.into()),
        };
        self.failure = None;
        Ok(())
    }

    /// Reads up to a position, or to the end.
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
    /// Whether it goes to any position at once.
    pub fn has_index(&self) -> bool {
        match &self.engine {
            Engine::Indexed(_) => true,
            Engine::Ahead(ahead) => ahead.has_index,
            _ => false,
        }
    }

    /// Bytes of the content, if they are known: by the index, or because the end was read once.
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
    /// Sets the position in the content, at most its end. [`SeekFrom::End`] decodes everything, unless
    /// there is an index.
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
        let before = Error::new(Kind::BadArgument, 0, "a position before the beginning of the content");
        let target = target.ok_or(before)?.min(self.len.unwrap_or(u64::MAX));
        if self.has_index() && target != self.position || target < self.position {
            self.restart(target)?;
        }
        self.skip_to(target)?;
        Ok(self.position)
    }
}

/// The same error once more.
fn again(error: &io::Error) -> io::Error {
    if let Some(own) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        return (*own).into();
    }
    match error.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}
