//! A `Write` adaptor that buffers small writes, because stateless calls compress large ones better.

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::mem;
use std::thread;

use linerate_core::Error;

use crate::{Format, Level, Stream, bound, finish_bound, flush_bound, with_thread_scratch};

/// A `Write` that compresses into an inner writer.
///
/// It buffers bytes, by default 64 KiB, and compresses a full buffer in one stateless call. Without
/// flushes the output does not depend on how the input was divided into writes.
///
/// Memory: about 150 bytes, the input that is not compressed yet, and the output that the inner
/// writer has not taken yet. A flush frees both buffers; the input buffer stays allocated while
/// full buffers follow each other. The [`Scratch`](crate::Scratch) is the thread's
/// ([`with_thread_scratch`]).
///
/// [`finish`](Self::finish) ends the stream and reports errors. Dropping the writer also ends the
/// stream, but cannot report errors. If the thread is panicking, dropping does not end the stream:
/// the reader then sees a truncated stream rather than a complete stream of incomplete data.
///
/// Errors of the inner writer are returned unchanged. The compressed bytes that it did not take are
/// kept, and the next call writes them first.
///
/// ```
/// use std::io::Write;
/// use linerate_deflate::{Format, GzWriter, Level};
///
/// let mut writer = GzWriter::new(Vec::new(), Format::Gzip, Level::Default);
/// for line in 0..1000 {
///     writeln!(writer, "line {line}")?;
/// }
/// let compressed: Vec<u8> = writer.finish()?;
/// assert_eq!(compressed[..3], [0x1f, 0x8b, 8]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct GzWriter<W: Write> {
    /// `None` only after [`finish`](Self::finish) has returned it.
    inner: Option<W>,
    stream: Stream,
    /// Input that is not compressed yet, at most `size` bytes.
    input: Vec<u8>,
    size: usize,
    /// Output, of which the first `sent` bytes have been written.
    output: Vec<u8>,
    sent: usize,
    /// Whether the stream has taken input since it was last at a byte boundary.
    unaligned: bool,
    ended: bool,
    /// Set while the inner writer runs. If the inner writer panics, drop must not call it again.
    inside: bool,
}

impl<W: Write> GzWriter<W> {
    /// Buffer size of [`GzWriter::new`]: 64 KiB.
    pub const DEFAULT_BUFFER: usize = 64 << 10;

    /// Creates a writer with the default buffer size.
    pub fn new(inner: W, format: Format, level: Level) -> Self {
        Self::with_buffer(inner, format, level, Self::DEFAULT_BUFFER)
    }

    /// Creates a writer that compresses `size` bytes at a time. 0 counts as 1.
    pub fn with_buffer(inner: W, format: Format, level: Level, size: usize) -> Self {
        GzWriter {
            inner: Some(inner),
            stream: Stream::new(format, level),
            input: Vec::new(),
            size: size.max(1),
            output: Vec::new(),
            sent: 0,
            unaligned: false,
            ended: false,
            inside: false,
        }
    }

    /// Returns the inner writer. Compressed bytes may still be buffered.
    pub fn get_ref(&self) -> &W {
        self.inner.as_ref().expect("present until `finish` consumes self")
    }

    /// Returns the inner writer. Writing to it directly would corrupt the stream.
    pub fn get_mut(&mut self) -> &mut W {
        self.inner.as_mut().expect("present until `finish` consumes self")
    }

    /// Ends the stream and returns the inner writer without flushing it.
    ///
    /// # Errors
    /// Returns the errors of the inner writer. An error drops the inner writer;
    /// [`try_finish`](Self::try_finish) keeps it.
    pub fn finish(mut self) -> io::Result<W> {
        self.try_finish()?;
        Ok(self.inner.take().expect("present until here"))
    }

    /// Ends the stream. After an error, call it again to write the rest. After success it does
    /// nothing, and writing is an error.
    ///
    /// # Errors
    /// Returns the errors of the inner writer.
    pub fn try_finish(&mut self) -> io::Result<()> {
        self.compress_buffered(false)?;
        if !self.ended {
            let mut end = [0; finish_bound()];
            let n = self.stream.finish(&mut end)?;
            self.output.extend_from_slice(&end[..n]);
            self.ended = true;
        }
        self.drain()
    }

    /// Compresses the buffered input and frees its buffer. Unless `more` is set, the last block is
    /// then marked final.
    fn compress_buffered(&mut self, more: bool) -> io::Result<()> {
        self.drain()?;
        if !self.input.is_empty() {
            let input = mem::take(&mut self.input);
            self.compress(&input, more)?;
        }
        Ok(())
    }

    /// Compresses `input` and appends the result to the output.
    fn compress(&mut self, input: &[u8], more: bool) -> io::Result<()> {
        let (stream, output) = (&mut self.stream, &mut self.output);
        with_thread_scratch(bound(input.len()), |scratch, out| {
            let n = stream.encode(scratch, input, out, more)?;
            output.extend_from_slice(&out[..n]);
            Ok::<_, Error>(())
        })?;
        self.unaligned = true;
        Ok(())
    }

    /// Appends `bytes` to the input; the caller checks that they fit. The buffer doubles up to
    /// `size`, so until it is first full it is at most twice as large as its contents.
    fn buffer(&mut self, bytes: &[u8]) {
        let (len, capacity) = (self.input.len(), self.input.capacity());
        if capacity - len < bytes.len() {
            self.input.reserve_exact((2 * capacity).clamp(len + bytes.len(), self.size) - len);
        }
        self.input.extend_from_slice(bytes);
    }

    /// Writes the output and frees its buffer. An error keeps the rest.
    fn drain(&mut self) -> io::Result<()> {
        while self.sent < self.output.len() {
            self.inside = true;
            let rest = &self.output[self.sent..];
            let result = self.inner.as_mut().map_or(Ok(0), |inner| inner.write(rest));
            self.inside = false;
            match result {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(n) => self.sent += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        (self.sent, self.output) = (0, Vec::new());
        Ok(())
    }
}

impl<W: Write> Write for GzWriter<W> {
    /// Buffers bytes, and compresses when the buffer is full. If this returns an error, it has
    /// taken none of `bytes`.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.ended {
            return Err(io::Error::new(ErrorKind::InvalidInput, "the stream has ended and takes no data"));
        }
        if self.input.len() == self.size {
            self.drain()?;
            let mut input = mem::take(&mut self.input);
            self.compress(&input, true)?;
            input.clear();
            // Usually more data follows, so the buffer stays allocated.
            self.input = input;
            self.drain()?;
        }
        // A write of more than a whole buffer is compressed without being copied. The next call
        // writes the output, because returning an error now would mean that these bytes were not
        // taken.
        if self.input.is_empty() && bytes.len() > self.size {
            self.drain()?;
            self.compress(&bytes[..self.size], true)?;
            return Ok(self.size);
        }
        let taken = bytes.len().min(self.size - self.input.len());
        self.buffer(&bytes[..taken]);
        Ok(taken)
    }

    /// Compresses and writes everything so far, so that a reader can decode all of it, and flushes
    /// the inner writer. This costs up to 5 bytes, unless nothing was written since the last flush.
    fn flush(&mut self) -> io::Result<()> {
        self.compress_buffered(true)?;
        if self.unaligned && !self.ended {
            let mut tail = [0; flush_bound()];
            let n = self.stream.flush(&mut tail)?;
            self.output.extend_from_slice(&tail[..n]);
            self.unaligned = false;
        }
        self.drain()?;
        self.get_mut().flush()
    }
}

impl<W: Write> Drop for GzWriter<W> {
    fn drop(&mut self) {
        if self.inner.is_some() && !self.inside && !thread::panicking() {
            // As documented, only `finish` reports errors.
            let _ = self.try_finish();
        }
    }
}

impl<W: Write + fmt::Debug> fmt::Debug for GzWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GzWriter")
            .field("inner", &self.inner)
            .field("stream", &self.stream)
            .field("buffered", &self.input.len())
            .field("unsent", &(self.output.len() - self.sent))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
