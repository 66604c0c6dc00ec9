//! [`Decoder`]: takes compressed bytes and writes their content to a writer.

use std::io::{self, Write};

use super::{BUFFER, Members};
use crate::options::{Format, Options};

/// A `Write` that takes a zlib stream, deflate data or gzip members, and writes their content to
/// another writer.
///
/// It writes content as soon as it is decoded. Call [`finish`](Self::finish) at the end of the
/// input to check that the stream is complete.
///
/// ```
/// use linerate_inflate::{Format, write::Decoder};
/// use std::io::Write;
///
/// let mut decoder = Decoder::new(Vec::new(), Format::Deflate);
/// decoder.write_all(&[0x4b, 0x4c])?;
/// decoder.write_all(&[0x4a, 6, 0])?;
/// assert_eq!(decoder.finish()?, b"abc");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Decoder<W: Write> {
    writer: W,
    members: Members,
    buffer: Box<[u8]>,
    /// Start of the part of the buffer that has not been written yet.
    from: usize,
    /// End of that part.
    to: usize,
}

impl<W: Write> Decoder<W> {
    /// Creates a decoder for a format.
    pub fn new(writer: W, format: Format) -> Self {
        Self::with_options(writer, Options::new(format)).expect("the window of the defaults has 15 bits")
    }

    /// Creates a decoder with these options.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::InvalidInput`] for other window bits than 8 to 15.
    pub fn with_options(writer: W, options: Options) -> io::Result<Self> {
        let buffer = vec![0; BUFFER].into();
        Ok(Decoder { writer, members: Members::new(options)?, buffer, from: 0, to: 0 })
    }

    /// Returns a reference to the writer that the decoded content goes to.
    pub fn get_ref(&self) -> &W {
        &self.writer
    }

    /// Returns a mutable reference to the writer that the decoded content goes to.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.writer
    }

    /// Returns the writer. Content that has not been written to it yet is lost.
    pub fn into_inner(self) -> W {
        self.writer
    }

    /// Writes the remaining content, flushes the writer, checks that the stream is complete, and
    /// returns the writer.
    ///
    /// # Errors
    /// Returns the errors of the writer; [`io::ErrorKind::UnexpectedEof`] if the input was empty or
    /// ended within a stream; and the other errors of [`read::Decoder`](crate::read::Decoder), if
    /// decoding the remaining content finds one.
    pub fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        self.members.check_end()?;
        Ok(self.writer)
    }

    fn write_pending(&mut self) -> io::Result<()> {
        while self.from < self.to {
            match self.writer.write(&self.buffer[self.from..self.to]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => self.from += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Decodes into the buffer, which must be empty. Returns the number of bytes consumed.
    fn step(&mut self, input: &[u8]) -> io::Result<usize> {
        let progress = self.members.decode(input, &mut self.buffer)?;
        (self.from, self.to) = (0, progress.written);
        Ok(progress.read)
    }
}

impl<W: Write> Write for Decoder<W> {
    /// Consumes all of `input`, except after an error and after the end of a stream that is not
    /// gzip. If some of `input` was consumed before the error, only the next call returns it.
    fn write(&mut self, input: &[u8]) -> io::Result<usize> {
        let mut read = 0;
        loop {
            match self.write_pending() {
                Ok(()) => {}
                Err(_) if read > 0 => return Ok(read),
                Err(e) => return Err(e),
            }
            if self.members.is_done() || read == input.len() && !self.members.has_output {
                return Ok(read);
            }
            match self.step(&input[read..]) {
                Ok(n) => read += n,
                Err(_) if read > 0 => return Ok(read),
                Err(e) => return Err(e),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_pending()?;
        while self.members.has_output {
            self.step(&[])?;
            self.write_pending()?;
        }
        self.writer.flush()
    }
}
