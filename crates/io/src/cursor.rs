//! [`Cursor`]: a source as a reader with a position.

use std::io::{self, ErrorKind, Read, Seek, SeekFrom};

use crate::read_at::ReadAt;

/// Maximum number of bytes of a request, unless more are wanted at once.
const AHEAD: u64 = 512 << 10;

/// Reads a [`ReadAt`] in order, from any position.
///
/// If requests have a cost ([`ReadAt::coalesce_limit`] is above 0), each request that continues the
/// one before asks for twice as many bytes, up to that limit, 512 KiB and the end of the source, or
/// for the wanted bytes if those are more. Any other request asks only for the wanted bytes. The
/// cursor holds up to 512 KiB, or one read if that is larger. Without a cost it holds nothing.
///
/// ```
/// use std::io::{Read, Seek, SeekFrom};
///
/// let mut cursor = linerate_io::Cursor::new(&b"some notes"[..]);
/// cursor.seek(SeekFrom::Start(5))?;
/// assert_eq!(std::io::read_to_string(cursor)?, "notes");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Cursor<S> {
    source: S,
    position: u64,
    /// The bytes of the last request, or none if it failed; `buffer_at` is their offset.
    buffer: Vec<u8>,
    buffer_at: u64,
}

impl<S: ReadAt> Cursor<S> {
    /// Makes a cursor at the beginning of a source.
    pub fn new(source: S) -> Self {
        Cursor { source, position: 0, buffer: Vec::new(), buffer_at: 0 }
    }

    /// Returns the buffered bytes from the position.
    fn buffered(&self) -> &[u8] {
        let from = self.position.checked_sub(self.buffer_at).and_then(|from| usize::try_from(from).ok());
        from.and_then(|from| self.buffer.get(from..)).unwrap_or_default()
    }

    /// Requests at least `least` bytes from the position on, and at most `left`, the number of
    /// bytes from there to the end of the source.
    fn request(&mut self, least: usize, left: u64) -> io::Result<()> {
        let follows = self.position == self.buffer_at + self.buffer.len() as u64;
        let doubled = if follows { 2 * self.buffer.len() as u64 } else { 0 };
        let len = doubled.min(self.source.coalesce_limit()).min(AHEAD).max(least as u64).min(left);
        self.buffer.clear();
        self.buffer_at = self.position;
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.resize(len as usize, 0);
        self.source.read_at(self.position, &mut buffer)?;
        self.buffer = buffer;
        Ok(())
    }
}

impl<S: ReadAt> Read for Cursor<S> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = self.source.len().saturating_sub(self.position);
        let mut len = out.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        if len == 0 {
            return Ok(0);
        }
        if self.source.coalesce_limit() == 0 {
            self.source.read_at(self.position, &mut out[..len])?;
        } else {
            if self.buffered().is_empty() {
                self.request(len, left)?;
            }
            let bytes = self.buffered();
            len = len.min(bytes.len());
            out[..len].copy_from_slice(&bytes[..len]);
        }
        self.position += len as u64;
        Ok(len)
    }
}

impl<S: ReadAt> Seek for Cursor<S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(by) => self.source.len().checked_add_signed(by),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        self.position = position.ok_or(ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_at::CountingSource;

    /// A source of bytes whose requests have a cost.
    struct Far(Vec<u8>, u64);

    impl ReadAt for Far {
        fn len(&self) -> u64 {
            self.0.len() as u64
        }

        fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            self.0.read_at(offset, out)
        }

        fn coalesce_limit(&self) -> u64 {
            self.1
        }
    }

    #[test]
    fn every_position_has_the_bytes_of_the_source() {
        let bytes: Vec<u8> = (0..1000u32).map(|i| (i % 251) as u8).collect();
        for limit in [0, 7, 4096] {
            let mut cursor = Cursor::new(Far(bytes.clone(), limit));
            for (to, at) in [
                (SeekFrom::Start(0), 0),
                (SeekFrom::End(-3), 997),
                (SeekFrom::Start(10), 10),
                (SeekFrom::Current(-5), 905),
                (SeekFrom::Start(5000), 5000),
                (SeekFrom::Start(990), 990),
            ] {
                assert_eq!(cursor.seek(to).unwrap(), at, "{limit}");
                let mut read = Vec::new();
                cursor.by_ref().take(900).read_to_end(&mut read).unwrap();
                let from = bytes.len().min(at as usize);
                assert_eq!(read, bytes[from..bytes.len().min(from + 900)], "{limit} {at}");
            }
            assert!(cursor.seek(SeekFrom::End(-1001)).is_err());
        }
    }

    #[test]
    fn requests_double_up_to_the_limit_and_begin_anew_after_a_seek() {
        let mut cursor = Cursor::new(CountingSource::new(Far(vec![7; 10_000], 1000)));
        let read = |cursor: &mut Cursor<CountingSource<Far>>, times| {
            (0..times).for_each(|_| cursor.read_exact(&mut [0; 100]).unwrap());
            (cursor.source.reads(), cursor.source.bytes())
        };
        // The requests have 100, 200, 400, 800, and then at most 1000 bytes.
        assert_eq!(read(&mut cursor, 15), (4, 1500));
        assert_eq!(read(&mut cursor, 1), (5, 2500));
        cursor.seek(SeekFrom::Start(9000)).unwrap();
        assert_eq!(read(&mut cursor, 1), (6, 2600));
        // The last request has no more bytes than the source has left.
        assert_eq!(read(&mut cursor, 9), (9, 3500));
    }

    #[test]
    fn bytes_that_could_not_be_read_are_requested_again() {
        use std::sync::atomic::{AtomicBool, Ordering};
        struct Once(Far, AtomicBool);
        impl ReadAt for Once {
            fn len(&self) -> u64 {
                self.0.len()
            }
            fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
                match self.1.swap(true, Ordering::Relaxed) {
                    false => Err(ErrorKind::TimedOut.into()),
                    true => self.0.read_at(offset, out),
                }
            }
            fn coalesce_limit(&self) -> u64 {
                self.0.coalesce_limit()
            }
        }
        let mut cursor = Cursor::new(Once(Far(b"bytes".to_vec(), 10), AtomicBool::new(false)));
        assert_eq!(cursor.read(&mut [0; 5]).unwrap_err().kind(), ErrorKind::TimedOut);
        let mut out = [0; 5];
        cursor.read_exact(&mut out).unwrap();
        assert_eq!(&out, b"bytes");
    }
}
