//! [`Decoder`]: reads the content of a reader's frames.

use std::io::{self, BufRead, BufReader, Read};

use super::always_ready;
use super::frames::{AnyDictionary, Frames};
use super::source::{Blocking, ContentReader};
use crate::dict::DecoderDictionary;
use crate::frame::BLOCK_MAX;
use crate::options::Options;

pub use super::frames::SkippablePart;

/// Reads the content of all concatenated frames of a reader; skippable frames are skipped. Allocates when it is made, when the
/// first frame begins, and when the window grows beyond that of all frames before; otherwise reads allocate nothing.
///
/// Of the reader no byte after the last decoded frame is consumed, except those that the [`BufReader`] of [`Self::new`]
/// has buffered: after [`single_frame`](Self::single_frame), [`finish`](Self::finish) returns it with these bytes.
///
/// # Errors
/// Reading fails with an [`io::Error`] whose source is an [`Error`](crate::Error); its offset counts compressed bytes.
/// An input that is empty or ends within a frame is an [`io::ErrorKind::UnexpectedEof`], damage an
/// [`io::ErrorKind::InvalidData`]. Content before the error is returned first, and every read after it fails.
///
/// ```
/// use std::io::Read;
///
/// let frame = &b"\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello"[..];
/// let mut decoder = linerate_zstd::read::Decoder::with_buffer(&frame[..10])?;
/// let mut out = Vec::new();
/// let error = decoder.read_to_end(&mut out).unwrap_err();
/// assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
/// let source = error.get_ref().and_then(|e| e.downcast_ref::<linerate_zstd::Error>());
/// assert_eq!(source.map(|e| e.offset), Some(10));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Decoder<'a, R> {
    reader: R,
    content: ContentReader<'a>,
}

impl<R: Read> Decoder<'static, BufReader<R>> {
    /// A decoder that buffers the reader.
    ///
    /// # Errors
    /// None; the signature is that of the `zstd` crate.
    pub fn new(reader: R) -> io::Result<Self> {
        let frames = Frames::new(AnyDictionary::None);
        Ok(Self::with_frames(BufReader::with_capacity(2 * BLOCK_MAX, reader), frames))
    }
}

impl<R: BufRead> Decoder<'static, R> {
    /// A decoder of a reader that has a buffer. One of 128 KiB or more avoids copying blocks.
    ///
    /// # Errors
    /// None; the signature is that of the `zstd` crate.
    pub fn with_buffer(reader: R) -> io::Result<Self> {
        Self::with_dictionary(reader, &[])
    }

    /// A decoder with a dictionary, trained or raw content, of which it keeps a copy. An empty one is none.
    ///
    /// # Errors
    /// Those of [`Dictionary::new`](crate::Dictionary::new).
    pub fn with_dictionary(reader: R, dictionary: &[u8]) -> io::Result<Self> {
        Self::try_with_dictionary(reader, dictionary).map_err(|(_, error)| error)
    }

    /// As [`with_dictionary`](Self::with_dictionary); an error returns the reader.
    ///
    /// # Errors
    /// Those of [`Dictionary::new`](crate::Dictionary::new).
    pub fn try_with_dictionary(reader: R, dictionary: &[u8]) -> Result<Self, (R, io::Error)> {
        match AnyDictionary::copy(dictionary) {
            Ok(dictionary) => Ok(Self::with_frames(reader, Frames::new(dictionary))),
            Err(error) => Err((reader, error)),
        }
    }
}

impl<'a, R: BufRead> Decoder<'a, R> {
    /// A decoder with a digested dictionary.
    ///
    /// # Errors
    /// None; the signature is that of the `zstd` crate.
    pub fn with_prepared_dictionary<'b: 'a>(
        reader: R,
        dictionary: &'a DecoderDictionary<'b>,
    ) -> io::Result<Self> {
        Ok(Self::with_frames(reader, Frames::new(AnyDictionary::prepared(dictionary))))
    }

    /// A decoder with a prefix, such as the file that a patch is for (`zstd --patch-from`): content that the matches of the
    /// first frame reach, whatever it begins with. Later frames have none.
    ///
    /// # Errors
    /// [`io::ErrorKind::OutOfMemory`] for a prefix of 4 GiB and more.
    pub fn with_ref_prefix<'b: 'a>(reader: R, prefix: &'b [u8]) -> io::Result<Self> {
        Ok(Self::with_frames(reader, Frames::new(AnyDictionary::prefix(prefix)?)))
    }

    fn with_frames(reader: R, frames: Frames<'a>) -> Self {
        Decoder { reader, content: ContentReader::new(frames) }
    }

    /// Ends after the first frame. What follows it stays in the reader.
    #[must_use]
    pub fn single_frame(mut self) -> Self {
        self.content.single_frame = true;
        self
    }

    /// Calls `handler` with the content of skippable frames, in one or more parts each; at least one, which may be empty.
    /// An error of the handler is the result of the read.
    #[must_use]
    pub fn on_skippable(
        mut self,
        handler: impl FnMut(SkippablePart<'_>) -> io::Result<()> + Send + Sync + 'a,
    ) -> Self {
        self.content.frames.set_handler(Box::new(handler));
        self
    }

    /// Consumes the rest of the current frame, if it has no more content: the last read may have returned all of it
    /// before its checksum was read. Stops at the end of the frame and at the end of the input.
    ///
    /// # Errors
    /// As [`Read::read`].
    pub fn finish_frame(&mut self) -> io::Result<()> {
        self.content.finish_frame(&mut self.reader)
    }

    /// Consumes the rest of the current frame as [`finish_frame`](Self::finish_frame) does, without its errors, and returns
    /// the reader.
    pub fn finish(mut self) -> R {
        let _ = self.finish_frame();
        self.reader
    }
}

impl<R> Decoder<'_, R> {
    /// Size of a buffer to read into: 128 KiB, which avoids a copy.
    pub fn recommended_output_size() -> usize {
        BLOCK_MAX
    }

    /// The reader.
    pub fn get_ref(&self) -> &R {
        &self.reader
    }

    /// The reader. What is read from it is missing for the decoder.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Returns the reader where it is.
    pub fn into_inner(self) -> R {
        self.reader
    }

    /// Sets the largest window to 2 to the power of `log`, 10 to 31. Default: 27, which is 128 MiB.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] for another logarithm, and within a frame.
    pub fn window_log_max(&mut self, log: u32) -> io::Result<()> {
        self.content.frames.window_log_max(log)
    }

    /// Sets whether frames begin with their magic number. Default: yes.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] within a frame.
    pub fn include_magicbytes(&mut self, include: bool) -> io::Result<()> {
        self.content.frames.include_magicbytes(include)
    }

    /// Sets all options.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] within a frame.
    pub fn set_options(&mut self, options: Options) -> io::Result<()> {
        self.content.frames.set_options(options)
    }
}

impl<R: BufRead> Read for Decoder<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        always_ready(self.content.poll_read(Blocking(&mut self.reader), buf))
    }
}
