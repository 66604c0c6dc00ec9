//! [`Decoder`]: reads the content of a reader's frames.

use std::io::{self, BufRead, BufReader, Read};

use super::always_ready;
use super::frames::{AnyDictionary, Frames};
use super::source::{Blocking, ContentReader};
use crate::dict::DecoderDictionary;
use crate::frame::BLOCK_MAX;
use crate::options::Options;

pub use super::frames::SkippablePart;

/// Reads the content of all concatenated frames of a reader, and skips skippable frames.
///
/// The decoder allocates when it is made, when the first frame begins, and when a window or the
/// blocks of a frame need more memory than all before. Other reads allocate nothing.
///
/// It consumes no byte of the reader after the last decoded frame, except those in the buffer of
/// the [`BufReader`] that [`Self::new`] makes. After [`single_frame`](Self::single_frame),
/// [`finish`](Self::finish) returns the reader with these bytes.
///
/// # Errors
/// Reading fails with an [`io::Error`] whose source is an [`Error`](crate::Error); its offset
/// counts compressed bytes. An input that is empty or ends within a frame is an
/// [`io::ErrorKind::UnexpectedEof`], and damage is an [`io::ErrorKind::InvalidData`]. Content
/// before the error is returned first, and every read after it fails. An error of the reader does
/// not end decoding.
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
    /// Makes a decoder that buffers the reader.
    ///
    /// # Errors
    /// Never fails. The signature is that of the `zstd` crate.
    pub fn new(reader: R) -> io::Result<Self> {
        let frames = Frames::new(AnyDictionary::None);
        Ok(Self::with_frames(BufReader::with_capacity(2 * BLOCK_MAX, reader), frames))
    }
}

impl<R: BufRead> Decoder<'static, R> {
    /// Makes a decoder of a reader that has a buffer. A buffer of 128 KiB or more avoids copying
    /// most blocks.
    ///
    /// # Errors
    /// Never fails. The signature is that of the `zstd` crate.
    pub fn with_buffer(reader: R) -> io::Result<Self> {
        Self::with_dictionary(reader, &[])
    }

    /// Makes a decoder with a dictionary, trained or raw content, and copies the dictionary. An
    /// empty dictionary counts as none.
    ///
    /// # Errors
    /// Returns the errors of [`Dictionary::new`](crate::Dictionary::new).
    pub fn with_dictionary(reader: R, dictionary: &[u8]) -> io::Result<Self> {
        Self::try_with_dictionary(reader, dictionary).map_err(|(_, error)| error)
    }

    /// Makes a decoder like [`with_dictionary`](Self::with_dictionary), and returns the reader with
    /// an error.
    ///
    /// # Errors
    /// Returns the errors of [`Dictionary::new`](crate::Dictionary::new).
    pub fn try_with_dictionary(reader: R, dictionary: &[u8]) -> Result<Self, (R, io::Error)> {
        match AnyDictionary::copy(dictionary) {
            Ok(dictionary) => Ok(Self::with_frames(reader, Frames::new(dictionary))),
            Err(error) => Err((reader, error)),
        }
    }
}

impl<'a, R: BufRead> Decoder<'a, R> {
    /// Makes a decoder with a digested dictionary.
    ///
    /// # Errors
    /// Never fails. The signature is that of the `zstd` crate.
    pub fn with_prepared_dictionary<'b: 'a>(
        reader: R,
        dictionary: &'a DecoderDictionary<'b>,
    ) -> io::Result<Self> {
        Ok(Self::with_frames(reader, Frames::new(AnyDictionary::prepared(dictionary))))
    }

    /// Makes a decoder with a prefix, such as the file that a patch applies to (`zstd
    /// --patch-from`). A prefix is raw content, even if it begins like a trained dictionary. Only
    /// matches of the first frame reach it; if that frame is skippable, none do.
    ///
    /// # Errors
    /// Returns an error of [`Kind::Limit`](crate::Kind::Limit) for a prefix of 4 GiB or more.
    pub fn with_ref_prefix<'b: 'a>(reader: R, prefix: &'b [u8]) -> io::Result<Self> {
        Ok(Self::with_frames(reader, Frames::new(AnyDictionary::prefix(prefix)?)))
    }

    fn with_frames(reader: R, frames: Frames<'a>) -> Self {
        Decoder { reader, content: ContentReader::new(frames) }
    }

    /// Stops after the first frame that is not skippable. The bytes after it stay in the reader.
    #[must_use]
    pub fn single_frame(mut self) -> Self {
        self.content.single_frame = true;
        self
    }

    /// Calls `handler` with the content of skippable frames. Each frame has at least one part,
    /// which may be empty. A read returns the error of the handler; the next read continues after
    /// the part.
    #[must_use]
    pub fn on_skippable(
        mut self,
        handler: impl FnMut(SkippablePart<'_>) -> io::Result<()> + Send + Sync + 'a,
    ) -> Self {
        self.content.frames.set_handler(Box::new(handler));
        self
    }

    /// Consumes the rest of the current frame, if it has no more content. (The last read may have
    /// returned all content before the checksum was read.) Stops at the end of the frame, or of the
    /// input.
    ///
    /// # Errors
    /// Returns the errors of [`Read::read`].
    pub fn finish_frame(&mut self) -> io::Result<()> {
        self.content.finish_frame(&mut self.reader)
    }

    /// Consumes the rest of the current frame as [`finish_frame`](Self::finish_frame) does, without
    /// its errors, and returns the reader.
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

    /// Returns a reference to the reader.
    pub fn get_ref(&self) -> &R {
        &self.reader
    }

    /// Returns a mutable reference to the reader. The decoder misses what you read from it.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Returns the reader, at its current position.
    pub fn into_inner(self) -> R {
        self.reader
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

    /// Sets all options.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::InvalidInput`] within a frame, and after an error.
    pub fn set_options(&mut self, options: Options) -> io::Result<()> {
        self.content.frames.set_options(options)
    }
}

impl<R: BufRead> Read for Decoder<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        always_ready(self.content.poll_read(Blocking(&mut self.reader), buf))
    }
}
