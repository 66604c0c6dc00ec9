//! Reads a file or a pipe in order, and counts the offset of the next byte.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};

#[cfg(any(unix, windows))]
use linerate_core::parallel_map;
use linerate_core::{Error, Kind, Result};

use super::{NO_MEMORY, npy, wav};
use crate::Options;

/// Number of bytes for which room is made at a time while input arrives. A damaged length thus
/// takes memory in proportion to the input, not to the length.
const STEP: usize = 16 << 20;

/// Size of the read buffer in bytes.
const BUFFER: usize = 128 << 10;

/// Fewest bytes that a thread is started to read. Copying them from the system's cache takes about
/// five times as long as starting the thread.
#[cfg(any(unix, windows))]
const READ_PER_THREAD: usize = 2 << 20;

/// A file or another reader, read in order.
///
/// A regular file has a length and can be read twice. It may be mapped where segments or streams
/// are long, so it must not change meanwhile.
pub struct Input {
    inner: BufReader<Inner>,
    /// Bytes that [`Input::peek`] has returned and that are still to be read.
    ahead: Vec<u8>,
    /// Offset of the next byte.
    position: u64,
    /// Size in bytes, if the input is a regular file.
    len: Option<u64>,
    /// Number of threads that may read a regular file at the same time.
    threads: usize,
}

enum Inner {
    File(File),
    Stream(Box<dyn Read + Send>),
}

impl Read for Inner {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Inner::File(file) => file.read(into),
            Inner::Stream(stream) => stream.read(into),
        }
    }
}

impl Seek for Inner {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Inner::File(file) => file.seek(to),
            Inner::Stream(_) => Err(ErrorKind::NotSeekable.into()),
        }
    }
}

impl Input {
    /// Reads a file, which must be at its first byte. Anything but a regular file is read as by
    /// [`from_reader`](Self::from_reader).
    ///
    /// # Errors
    /// [`Kind::Read`] if the file's metadata cannot be read.
    pub fn from_file(file: File) -> Result<Input> {
        let meta = file.metadata().map_err(|e| Error::from_io(Kind::Read, 0, "cannot open", &e))?;
        Ok(Input::new(Inner::File(file), meta.is_file().then_some(meta.len())))
    }

    /// Reads another source, such as a pipe. An operation that must know where the source ends
    /// before it begins holds all of it in memory.
    pub fn from_reader(reader: impl Read + Send + 'static) -> Input {
        Input::new(Inner::Stream(Box::new(reader)), None)
    }

    fn new(inner: Inner, len: Option<u64>) -> Input {
        let inner = BufReader::with_capacity(BUFFER, inner);
        Input { inner, ahead: Vec::new(), position: 0, len, threads: 1 }
    }

    /// Makes large reads of a regular file use the threads of `options`.
    pub(super) fn set_threads(&mut self, options: Options) {
        self.threads = options.thread_count();
    }

    /// Offset of the next byte.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Size in bytes, if the input is a regular file.
    pub fn file_len(&self) -> Option<u64> {
        self.len
    }

    /// Whether the next bytes begin a `.npy` file. Consumes nothing.
    ///
    /// # Errors
    /// [`Kind::Read`] if reading fails.
    pub fn is_npy(&mut self) -> Result<bool> {
        Ok(self.peek(npy::MAGIC.len())? == npy::MAGIC)
    }

    /// Whether the next bytes begin a WAV file, in a form that [`WavEncoder`](super::WavEncoder)
    /// reads. Consumes nothing.
    ///
    /// # Errors
    /// [`Kind::Read`] if reading fails.
    pub fn is_wav(&mut self) -> Result<bool> {
        Ok(wav::is_wav(self.peek(12)?))
    }

    /// Returns the regular file, for mapping it; `None` for another reader.
    pub(super) fn file(&self) -> Option<&File> {
        match self.inner.get_ref() {
            Inner::File(file) if self.len.is_some() => Some(file),
            _ => None,
        }
    }

    /// Checks that a regular file still has its first `end` bytes, which are mapped. Without them,
    /// an access would end the program by a signal.
    ///
    /// # Errors
    /// [`Kind::Truncated`] with `message` if another program has cut it short, and [`Kind::Read`] if
    /// its length cannot be read.
    pub(super) fn check_mapped(&self, end: u64, message: &'static str) -> Result<()> {
        let Some(file) = self.file() else { return Ok(()) };
        let now =
            file.metadata().map_err(|e| Error::from_io(Kind::Read, self.position, "cannot read", &e))?;
        match now.len() < end {
            true => Err(Error::new(Kind::Truncated, now.len(), message)),
            false => Ok(()),
        }
    }

    fn read_some(&mut self, into: &mut [u8]) -> Result<usize> {
        loop {
            match self.inner.read(into) {
                Ok(n) => return Ok(n),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(self.read_error(&e)),
            }
        }
    }

    /// Returns the next `n` bytes, or fewer if the input ends before. Consumes nothing.
    pub(super) fn peek(&mut self, n: usize) -> Result<&[u8]> {
        let mut byte = [0];
        while self.ahead.len() < n && self.read_some(&mut byte)? == 1 {
            self.ahead.push(byte[0]);
        }
        Ok(&self.ahead[..n.min(self.ahead.len())])
    }

    /// Fills `into` as far as the input reaches. Returns the number of bytes read.
    ///
    /// # Errors
    /// [`Kind::Read`] if reading fails.
    pub fn fill(&mut self, into: &mut [u8]) -> Result<usize> {
        let mut filled = self.ahead.len().min(into.len());
        into[..filled].copy_from_slice(&self.ahead[..filled]);
        self.ahead.drain(..filled);
        self.position += filled as u64;
        #[cfg(any(unix, windows))]
        {
            filled += self.fill_by_threads(&mut into[filled..])?;
        }
        while filled < into.len() {
            match self.read_some(&mut into[filled..])? {
                0 => break,
                n => {
                    filled += n;
                    self.position += n as u64;
                }
            }
        }
        Ok(filled)
    }

    /// Fills `into` by several threads. Returns the number of bytes read: fewer if the input is no
    /// regular file, if there is too little to read for two threads, or if a thread fails. One
    /// thread then reads the rest, and meets the error if it is still there.
    #[cfg(any(unix, windows))]
    fn fill_by_threads(&mut self, into: &mut [u8]) -> Result<usize> {
        let threads = self.threads.min(into.len() / READ_PER_THREAD);
        if threads < 2 || self.len.is_none_or(|len| len.saturating_sub(self.position) < into.len() as u64) {
            return Ok(0);
        }
        let buffered = self.inner.buffer().len().min(into.len());
        let (first, rest) = into.split_at_mut(buffered);
        self.inner.read_exact(first).map_err(|e| self.read_error(&e))?;
        self.position += buffered as u64;
        let Some(file) = self.file() else { return Ok(buffered) };
        let (start, share) = (self.position, rest.len().div_ceil(threads).max(1));
        let shares = rest.chunks_mut(share).enumerate();
        let read = |(i, into): (usize, &mut [u8])| {
            linerate_io::read_exact_at(file, start + (i * share) as u64, into)
        };
        let is_read = parallel_map(threads, shares, || read).iter().all(io::Result::is_ok);
        let read = if is_read { rest.len() } else { 0 };
        // On Windows, the threads have moved the position of the file.
        self.position = start + read as u64;
        self.inner.seek(SeekFrom::Start(self.position)).map_err(|e| self.seek_error(&e))?;
        Ok(buffered + read)
    }

    /// Fills `into`. If the input ends before, the error is [`Kind::Truncated`] with `message`,
    /// here and in the functions below.
    pub(super) fn read_exact(&mut self, into: &mut [u8], message: &'static str) -> Result<()> {
        match self.fill(into)? == into.len() {
            true => Ok(()),
            false => Err(Error::new(Kind::Truncated, self.position, message)),
        }
    }

    /// Reads a little-endian 32-bit word.
    pub(super) fn word(&mut self, message: &'static str) -> Result<u32> {
        let mut word = [0; 4];
        self.read_exact(&mut word, message)?;
        Ok(u32::from_le_bytes(word))
    }

    /// Appends the next `n` bytes to `into`.
    pub(super) fn append(&mut self, into: &mut Vec<u8>, n: u64, message: &'static str) -> Result<()> {
        let mut left = n;
        while left > 0 {
            let step = left.min(STEP as u64) as usize;
            let start = into.len();
            into.try_reserve(step).map_err(|_| NO_MEMORY.with_offset(self.position))?;
            into.resize(start + step, 0);
            self.read_exact(&mut into[start..], message)?;
            left -= step as u64;
        }
        Ok(())
    }

    /// Skips `n` bytes.
    pub(super) fn skip(&mut self, n: u64, message: &'static str) -> Result<()> {
        let held = n.min(self.ahead.len() as u64);
        self.ahead.drain(..held as usize);
        self.position += held;
        let mut left = n - held;
        if let Some(len) = self.len {
            if left > len.saturating_sub(self.position) {
                return Err(Error::new(Kind::Truncated, len, message));
            }
            // The cast gives no negative number: `left` is at most the length of a file.
            self.inner.seek_relative(left as i64).map_err(|e| self.seek_error(&e))?;
            self.position += left;
            return Ok(());
        }
        let mut buffer = [0; 16 << 10];
        while left > 0 {
            let step = left.min(buffer.len() as u64) as usize;
            self.read_exact(&mut buffer[..step], message)?;
            left -= step as u64;
        }
        Ok(())
    }

    /// Goes back to an offset of a regular file. Keeps the buffer if it holds the bytes there.
    pub(super) fn rewind(&mut self, position: u64) -> Result<()> {
        let next = self.position + self.ahead.len() as u64;
        self.ahead.clear();
        // The cast gives no wrong number: both are at most the length of a file.
        let distance = position.wrapping_sub(next).cast_signed();
        self.inner.seek_relative(distance).map_err(|e| self.seek_error(&e))?;
        self.position = position;
        Ok(())
    }

    fn read_error(&self, error: &io::Error) -> Error {
        Error::from_io(Kind::Read, self.position + self.ahead.len() as u64, "cannot read", error)
    }

    fn seek_error(&self, error: &io::Error) -> Error {
        Error::from_io(Kind::Read, self.position, "cannot seek", error)
    }

    /// Whether there are no more bytes.
    pub(super) fn has_ended(&mut self) -> Result<bool> {
        Ok(self.peek(1)?.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use super::*;

    /// Returns inputs that read the same bytes from a regular file and from another reader.
    fn inputs(bytes: &'static [u8]) -> [Input; 2] {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        [Input::from_file(file).unwrap(), Input::from_reader(Cursor::new(bytes))]
    }

    #[test]
    fn position_counts_bytes_read_and_skipped_but_not_peeked() {
        for mut input in inputs(b"abcdefghij") {
            assert_eq!(input.peek(3).unwrap(), b"abc");
            assert_eq!(input.peek(2).unwrap(), b"ab");
            assert_eq!(input.position(), 0);
            input.skip(1, "x").unwrap();
            let mut two = [0; 2];
            input.read_exact(&mut two, "x").unwrap();
            assert_eq!((&two, input.position()), (b"bc", 3));
            let mut more = b"!".to_vec();
            input.append(&mut more, 2, "x").unwrap();
            input.skip(2, "x").unwrap();
            assert_eq!((more.as_slice(), input.position()), (&b"!de"[..], 7));
            assert!(!input.has_ended().unwrap());
        }
    }

    #[test]
    fn missing_bytes_are_truncation_at_the_end_of_the_input() {
        for mut input in inputs(b"abcdefghij") {
            input.skip(7, "x").unwrap();
            let error = input.read_exact(&mut [0; 4], "three are left").unwrap_err();
            assert_eq!((error.kind, error.offset), (Kind::Truncated, 10));
            assert!(input.has_ended().unwrap());
        }
        for mut input in inputs(b"abcdefghij") {
            input.skip(9, "x").unwrap();
            let error = input.skip(2, "one is left").unwrap_err();
            assert_eq!((error.kind, error.offset), (Kind::Truncated, 10));
        }
    }

    #[test]
    fn rewind_reads_a_file_again_and_fails_for_a_stream() {
        let [mut file, mut stream] = inputs(b"abcdefghij");
        file.peek(5).unwrap();
        file.rewind(9).unwrap();
        assert_eq!(file.peek(5).unwrap(), b"j");
        assert_eq!(file.position(), 9);
        assert_eq!(stream.rewind(9).unwrap_err().kind, Kind::Read);
    }

    #[cfg(any(unix, windows))]
    #[test]
    fn threads_read_the_bytes_that_one_thread_reads() {
        let bytes: Vec<u8> = (0..5 * READ_PER_THREAD as u32 / 4).flat_map(u32::to_le_bytes).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        file.rewind().unwrap();
        let mut input = Input::from_file(file.try_clone().unwrap()).unwrap();
        input.set_threads(Options::new().threads(3));
        assert_eq!(input.peek(7).unwrap(), &bytes[..7]);
        let mut read = vec![0; bytes.len() - 50];
        input.read_exact(&mut read[..1], "x").unwrap();
        input.read_exact(&mut read[1..], "x").unwrap();
        assert!(read == bytes[..read.len()]);
        assert_eq!(input.position(), read.len() as u64);
        assert_eq!(input.peek(100).unwrap(), &bytes[bytes.len() - 50..]);
        // A file that another program has cut meanwhile ends where it ends now.
        input.rewind(3).unwrap();
        file.set_len(4 * READ_PER_THREAD as u64).unwrap();
        let error = input.read_exact(&mut read, "cut").unwrap_err();
        assert_eq!((error.kind, error.offset), (Kind::Truncated, 4 * READ_PER_THREAD as u64));
    }
}
