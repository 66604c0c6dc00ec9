//! [`Decoder`]: reads the content of a compressed stream from a reader.

use std::io::{self, BufRead, BufReader, Read};

use super::{BUFFER, Members};
use crate::options::{Format, Options};

/// Reads the content of a zlib stream, of deflate data, or of all members of a gzip file from a
/// reader. It allocates when it is created, while the window grows, and for the first
/// [`BufRead::fill_buf`] or short read. Other reads allocate nothing.
///
/// After the end of a zlib stream or of deflate data it consumes no byte of the reader, except
/// those that the [`BufReader`] of [`Self::new`] has buffered. The same holds after a gzip member
/// with [`single_member`](Self::single_member). Otherwise only another member may follow a gzip
/// member.
///
/// # Errors
/// Reading fails with an [`io::Error`] whose source is an [`Error`](crate::Error) with an offset in
/// compressed bytes. An input that is empty or ends within a stream gives
/// [`io::ErrorKind::UnexpectedEof`], damage gives [`io::ErrorKind::InvalidData`], a zlib stream
/// with a preset dictionary [`io::ErrorKind::Unsupported`], and an exceeded limit
/// [`io::ErrorKind::Other`]. Content before the error is returned first, and every later read
/// fails. An error of the reader does not end decoding.
pub struct Decoder<R> {
    reader: R,
    members: Members,
    buffer: Box<[u8]>,
    /// Start of the part of the buffer that has not been read yet.
    from: usize,
    /// End of that part.
    to: usize,
}

impl<R: Read> Decoder<BufReader<R>> {
    /// Creates a decoder that buffers the reader, 64 KiB at a time.
    pub fn new(reader: R, format: Format) -> Self {
        Self::with_buffer(BufReader::with_capacity(BUFFER, reader), format)
    }
}

impl<R: BufRead> Decoder<R> {
    /// Creates a decoder for a reader that has a buffer.
    pub fn with_buffer(reader: R, format: Format) -> Self {
        Self::with_options(reader, Options::new(format)).expect("the window of the defaults has 15 bits")
    }

    /// Creates a decoder with these options.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::InvalidInput`] for other window bits than 8 to 15.
    pub fn with_options(reader: R, options: Options) -> io::Result<Self> {
        Ok(Decoder { reader, members: Members::new(options)?, buffer: Box::default(), from: 0, to: 0 })
    }

    /// Ends after the first gzip member. The bytes after it stay in the reader.
    #[must_use]
    pub fn single_member(mut self) -> Self {
        self.members.is_single = true;
        self
    }

    fn decode(members: &mut Members, reader: &mut R, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            if members.is_done() {
                return Ok(0);
            }
            // Decoded output must not wait for a reader, which may block.
            let input = if members.has_output { &[] } else { reader.fill_buf()? };
            let is_end = !members.has_output && input.is_empty();
            let progress = members.decode(input, buf)?;
            reader.consume(progress.read);
            if progress.written > 0 {
                return Ok(progress.written);
            }
            if is_end {
                members.check_end()?;
                return Ok(0);
            }
        }
    }
}

impl<R> Decoder<R> {
    /// Returns the reader.
    pub fn get_ref(&self) -> &R {
        &self.reader
    }

    /// Returns the reader. Bytes that you read from it are missing for the decoder.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Returns the reader at its current position.
    pub fn into_inner(self) -> R {
        self.reader
    }
}

/// Reads of fewer bytes go through the buffer.
const SHORT: usize = 4 << 10;

impl<R: BufRead> Read for Decoder<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.from == self.to && buf.len() >= SHORT {
            return Self::decode(&mut self.members, &mut self.reader, buf);
        }
        if buf.is_empty() {
            return Ok(0);
        }
        let content = self.fill_buf()?;
        let len = content.len().min(buf.len());
        buf[..len].copy_from_slice(&content[..len]);
        self.consume(len);
        Ok(len)
    }
}

impl<R: BufRead> BufRead for Decoder<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.from == self.to {
            if self.buffer.is_empty() {
                self.buffer = vec![0; BUFFER].into();
            }
            (self.from, self.to) = (0, 0);
            self.to = Self::decode(&mut self.members, &mut self.reader, &mut self.buffer)?;
        }
        Ok(&self.buffer[self.from..self.to])
    }

    fn consume(&mut self, count: usize) {
        self.from = self.to.min(self.from + count);
    }
}
