//! Reads files and standard input, with the offset in bytes for messages.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, Read};

use crate::sys::closed;
use crate::ui::error::CliError;

/// Returns standard input without the buffer of the standard library. Fails if it was closed when
/// the program started.
pub(crate) fn stdin() -> io::Result<File> {
    closed::check_stdin()?;
    #[cfg(unix)]
    return std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned().map(File::from);
    #[cfg(windows)]
    return std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned().map(File::from);
}

/// A reader that counts the bytes it has read, and records whether reading has failed.
pub(crate) struct Counted<R> {
    inner: R,
    /// Bytes read so far.
    pub(crate) at: u64,
    /// Whether a call has returned an error other than [`ErrorKind::Interrupted`].
    pub(crate) failed: bool,
}

impl<R> Counted<R> {
    pub(crate) fn new(inner: R) -> Self {
        Counted { inner, at: 0, failed: false }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let result = self.inner.read(into);
        match &result {
            Ok(n) => self.at += *n as u64,
            Err(e) => self.failed |= e.kind() != ErrorKind::Interrupted,
        }
        result
    }
}

/// A buffered reader for decoders, which lends its buffered bytes and tracks their offset.
pub(crate) struct Source<R> {
    inner: R,
    /// Bytes that were pushed back. They are read after those in `buffer`, and before any of
    /// `inner`.
    returned: VecDeque<u8>,
    buffer: Box<[u8]>,
    /// `buffer[start..end]` was read and not yet consumed.
    start: usize,
    end: usize,
    /// Offset in the input of `buffer[start]`.
    at: u64,
}

impl<R: Read> Source<R> {
    /// Size of the buffer for inputs that are large or of unknown size, in bytes.
    const BUFFER: usize = 128 << 10;
    /// Size of the smallest buffer, in bytes. Decoders peek at 18 bytes or fewer, except the BGZF
    /// decoder, which works on buffers of [`BUFFER`](Self::BUFFER) bytes.
    const LEAST: usize = 4 << 10;

    pub(crate) fn new(inner: R) -> Self {
        Self::with_capacity(inner, Self::BUFFER)
    }

    /// Makes a reader of an input of `len` bytes, or of unknown size. If `len` is at most `most`,
    /// the buffer has room for the whole input.
    pub(crate) fn of_size(inner: R, len: Option<u64>, most: u64) -> Self {
        let small = len.filter(|len| *len <= most).map(|len| (len as usize).max(Self::LEAST));
        Self::with_capacity(inner, small.unwrap_or(Self::BUFFER))
    }

    fn with_capacity(inner: R, capacity: usize) -> Self {
        Source { inner, returned: VecDeque::new(), buffer: vec![0; capacity].into(), start: 0, end: 0, at: 0 }
    }

    /// Size of the buffer, in bytes.
    pub(crate) fn capacity(&self) -> usize {
        self.buffer.len()
    }

    /// Offset of the next byte in the input.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// Reads until at least `least` bytes are buffered, which may be at most
    /// [`capacity`](Self::capacity), or the input ends. Returns the buffered bytes.
    ///
    /// # Errors
    /// [`CliError::Read`] with the offset of the first byte that could not be read. Bytes read
    /// before stay in the buffer.
    pub(crate) fn peek(&mut self, least: usize) -> Result<&[u8], CliError> {
        debug_assert!(least <= self.buffer.len());
        while self.end - self.start < least {
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                (self.start, self.end) = (0, self.end - self.start);
            }
            let free = &mut self.buffer[self.end..];
            match if self.returned.is_empty() { self.inner.read(free) } else { self.returned.read(free) } {
                Ok(0) => break,
                Ok(n) => self.end += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(CliError::Read { error, offset: self.at + (self.end - self.start) as u64 });
                }
            }
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// Consumes the first `n` of the buffered bytes.
    pub(crate) fn consume(&mut self, n: usize) {
        debug_assert!(n <= self.end - self.start);
        self.start += n;
        self.at += n as u64;
    }

    /// Pushes back the bytes that were consumed last, so that they are read again.
    pub(crate) fn unread(&mut self, mut bytes: Vec<u8>) {
        self.at -= bytes.len() as u64;
        bytes.extend_from_slice(&self.buffer[self.start..self.end]);
        bytes.extend(self.returned.drain(..));
        (self.start, self.end) = (0, 0);
        self.returned = bytes.into();
    }

    /// Consumes and returns the next byte, or `None` at the end of the input.
    pub(crate) fn byte(&mut self) -> Result<Option<u8>, CliError> {
        let byte = self.peek(1)?.first().copied();
        self.consume(usize::from(byte.is_some()));
        Ok(byte)
    }
}

/// Reads buffered bytes first, then those that were pushed back, then from the input without the
/// buffer. After an error, [`Source::at`] is the offset of the error.
impl<R: Read> Read for Source<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let len = if self.start < self.end {
            let len = (&self.buffer[self.start..self.end]).read(into)?;
            self.start += len;
            len
        } else if self.returned.is_empty() {
            self.inner.read(into)?
        } else {
            self.returned.read(into)?
        };
        self.at += len as u64;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct ThreeAtATime<'a>(&'a [u8]);

    impl Read for ThreeAtATime<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Err(io::Error::other("no more"));
            }
            let n = 3.min(into.len()).min(self.0.len());
            into[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    #[test]
    fn peek_refills_the_buffer_and_offset_counts_consumed_bytes() {
        let mut source = Source::new(ThreeAtATime(b"abcdefgh"));
        assert_eq!(source.peek(1).unwrap(), b"abc");
        source.consume(2);
        assert_eq!(source.peek(4).unwrap(), b"cdef");
        assert_eq!(source.byte().unwrap(), Some(b'c'));
        assert_eq!(source.at(), 3);
        assert_eq!(source.peek(5).unwrap(), b"defgh");
        assert_eq!(source.peek(6).unwrap_err().offset(), Some(8));
    }

    #[test]
    fn unread_bytes_are_returned_again_at_their_offset() {
        let mut source = Source::new(ThreeAtATime(b"abcdefgh"));
        source.peek(5).unwrap();
        source.consume(4);
        source.unread(b"cd".to_vec());
        assert_eq!((source.at(), source.byte().unwrap()), (2, Some(b'c')));
        source.unread(b"bc".to_vec());
        assert_eq!((source.at(), source.peek(7).unwrap()), (1, &b"bcdefgh"[..]));
    }

    #[test]
    fn bytes_are_read_from_the_buffer_then_those_unread_then_the_input() {
        let mut source = Source::new(ThreeAtATime(b"abcdefgh"));
        source.peek(5).unwrap();
        source.consume(4);
        let mut bytes = [0; 8];
        assert_eq!((source.read(&mut bytes).unwrap(), &bytes[..2], source.at()), (2, &b"ef"[..], 6));
        source.unread(b"def".to_vec());
        assert_eq!((source.read(&mut bytes).unwrap(), &bytes[..3]), (3, &b"def"[..]));
        assert_eq!((source.read(&mut bytes).unwrap(), &bytes[..2]), (2, &b"gh"[..]));
        assert!(source.read(&mut bytes).is_err() && source.at() == 8);
    }

    #[test]
    fn end_of_input_is_not_an_error() {
        let mut source = Source::new(&b"x"[..]);
        assert_eq!(source.peek(5).unwrap(), b"x");
        assert_eq!((source.byte().unwrap(), source.byte().unwrap()), (Some(b'x'), None));
        assert_eq!(source.at(), 1);
    }
}
