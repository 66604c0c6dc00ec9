//! [`Decoder`]: takes compressed bytes, and writes their content to a writer.

use std::io::{self, Write};
use std::task::Poll;

use super::always_ready;
use super::frames::{AnyDictionary, Frames};
use super::sink::{ContentWriter, Sink};
use crate::dict::DecoderDictionary;
use crate::frame::{BLOCK_MAX, BlockHeader};

/// Decodes the frames that are written to it, and writes their content to another writer. Skips
/// skippable frames.
///
/// Content is written as soon as it is decoded. Call [`finish`](Self::finish) at the end of the
/// input, to learn whether the last frame is complete.
///
/// ```
/// use std::io::Write;
///
/// let mut decoder = linerate_zstd::write::Decoder::new(Vec::new())?;
/// decoder.write_all(b"\x28\xb5\x2f\xfd\x20\x05\x29")?;
/// decoder.write_all(b"\x00\x00hello")?;
/// assert_eq!(decoder.finish()?, b"hello");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Decoder<'a, W: Write> {
    writer: W,
    content: ContentWriter<'a>,
    /// Whether a call of the writer has begun and not returned. If this is set after the call, the
    /// writer has panicked.
    calls_writer: bool,
}

/// A writer that blocks, and is therefore always ready.
struct Blocking<'w, W> {
    writer: &'w mut W,
    calls_writer: &'w mut bool,
}

impl<W: Write> Blocking<'_, W> {
    fn call<T>(&mut self, call: impl FnOnce(&mut W) -> io::Result<T>) -> Poll<io::Result<T>> {
        *self.calls_writer = true;
        let result = call(self.writer);
        *self.calls_writer = false;
        Poll::Ready(result)
    }
}

impl<W: Write> Sink for Blocking<'_, W> {
    fn poll_write(&mut self, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.call(|writer| writer.write(bytes))
    }

    fn poll_flush(&mut self) -> Poll<io::Result<()>> {
        self.call(Write::flush)
    }
}

impl<W: Write> Decoder<'static, W> {
    /// Makes a decoder without a dictionary.
    ///
    /// # Errors
    /// Never fails. The signature is that of the `zstd` crate.
    pub fn new(writer: W) -> io::Result<Self> {
        Self::with_dictionary(writer, &[])
    }

    /// Makes a decoder with a dictionary, trained or raw content, and copies the dictionary. An
    /// empty dictionary counts as none.
    ///
    /// # Errors
    /// Returns the errors of [`Dictionary::new`](crate::Dictionary::new).
    pub fn with_dictionary(writer: W, dictionary: &[u8]) -> io::Result<Self> {
        Ok(Self::with_frames(writer, Frames::new(AnyDictionary::copy(dictionary)?)))
    }
}

impl<'a, W: Write> Decoder<'a, W> {
    /// Makes a decoder with a digested dictionary.
    ///
    /// # Errors
    /// Never fails. The signature is that of the `zstd` crate.
    pub fn with_prepared_dictionary<'b: 'a>(
        writer: W,
        dictionary: &'a DecoderDictionary<'b>,
    ) -> io::Result<Self> {
        Ok(Self::with_frames(writer, Frames::new(AnyDictionary::prepared(dictionary))))
    }

    fn with_frames(writer: W, frames: Frames<'a>) -> Self {
        Decoder { writer, content: ContentWriter::new(frames), calls_writer: false }
    }

    /// Returns a reference to the writer that the decoded content goes to.
    pub fn get_ref(&self) -> &W {
        &self.writer
    }

    /// Returns a mutable reference to the writer that the decoded content goes to.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.writer
    }

    /// Returns the writer, and drops content that was not written to it yet.
    pub fn into_inner(self) -> W {
        self.writer
    }

    /// Writes the remaining content, flushes the writer, checks that the last frame is complete,
    /// and returns the writer.
    ///
    /// # Errors
    /// Returns the errors of the writer, those of decoding, such as [`io::ErrorKind::InvalidData`]
    /// for damaged input, and [`io::ErrorKind::UnexpectedEof`] if the input ended within a frame or
    /// has no frame.
    pub fn finish(mut self) -> io::Result<W> {
        self.do_finish()?;
        Ok(self.writer)
    }

    /// Finishes like [`finish`](Self::finish), without consuming the decoder.
    ///
    /// # Errors
    /// Returns the errors of [`finish`](Self::finish).
    pub fn do_finish(&mut self) -> io::Result<()> {
        self.flush()?;
        self.content.frames.check_end()
    }

    /// Preferred number of bytes of a write: a block with its header, which avoids a copy.
    pub fn recommended_input_size() -> usize {
        BLOCK_MAX + BlockHeader::LEN
    }

    /// Makes a decoder that flushes when it is dropped, and ignores the result.
    pub fn auto_flush(self) -> AutoFlushDecoder<'a, W> {
        AutoFlushDecoder { decoder: self, on_flush: None }
    }

    /// Makes a decoder that flushes when it is dropped, and calls `on_flush` with the result.
    /// `on_flush` must not panic.
    pub fn on_flush<F: FnMut(io::Result<()>)>(self, on_flush: F) -> AutoFlushDecoder<'a, W, F> {
        AutoFlushDecoder { decoder: self, on_flush: Some(on_flush) }
    }

    /// Sets the largest window to 2 to the power of `log`, 10 to 31. Default: 27, which is 128 MiB.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::InvalidInput`] if `log` is not 10 to 31, within a frame, and after
    /// an error.
    pub fn window_log_max(&mut self, log: u32) -> io::Result<()> {
        self.content.frames.window_log_max(log)
    }

    /// Sets whether frames begin with their magic number. Default: yes.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::InvalidInput`] within a frame, and after an error.
    pub fn include_magicbytes(&mut self, include: bool) -> io::Result<()> {
        self.content.frames.include_magicbytes(include)
    }
}

impl<W: Write> Write for Decoder<'_, W> {
    /// Consumes all of `input`, or the part before an error, which the next call returns.
    fn write(&mut self, input: &[u8]) -> io::Result<usize> {
        let Decoder { writer, content, calls_writer } = self;
        always_ready(content.poll_write(Blocking { writer, calls_writer }, input))
    }

    fn flush(&mut self) -> io::Result<()> {
        let Decoder { writer, content, calls_writer } = self;
        always_ready(content.poll_flush(Blocking { writer, calls_writer }))
    }
}

/// A [`Decoder`] that flushes when it is dropped, unless its writer has panicked.
pub struct AutoFlushDecoder<'a, W: Write, F: FnMut(io::Result<()>) = Box<dyn FnMut(io::Result<()>) + Send>> {
    decoder: Decoder<'a, W>,
    on_flush: Option<F>,
}

impl<W: Write, F: FnMut(io::Result<()>)> AutoFlushDecoder<'_, W, F> {
    /// Returns a reference to the writer that the decoded content goes to.
    pub fn get_ref(&self) -> &W {
        self.decoder.get_ref()
    }

    /// Returns a mutable reference to the writer that the decoded content goes to.
    pub fn get_mut(&mut self) -> &mut W {
        self.decoder.get_mut()
    }
}

impl<W: Write, F: FnMut(io::Result<()>)> Write for AutoFlushDecoder<'_, W, F> {
    fn write(&mut self, input: &[u8]) -> io::Result<usize> {
        self.decoder.write(input)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.decoder.flush()
    }
}

impl<W: Write, F: FnMut(io::Result<()>)> Drop for AutoFlushDecoder<'_, W, F> {
    fn drop(&mut self) {
        // A second panic while the first one unwinds would abort the program.
        if self.decoder.calls_writer {
            return;
        }
        let result = self.decoder.flush();
        if let Some(on_flush) = &mut self.on_flush {
            on_flush(result);
        }
    }
}
