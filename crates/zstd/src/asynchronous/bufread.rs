//! [`ZstdDecoder`]: reads the content of an asynchronous reader's frames.

use std::io;

use pin_project_lite::pin_project;

use crate::options::Options;
use crate::stream::frames::{AnyDictionary, Frames};
use crate::stream::source::ContentReader;

pin_project! {
    /// Reads the content of a buffered reader (`AsyncBufRead`), preferably one with a buffer of 128
    /// KiB or more. It skips skippable frames, and reads the first other frame, or all frames with
    /// [`multiple_members`](Self::multiple_members).
    pub struct ZstdDecoder<R> {
        #[pin]
        pub(super) reader: R,
        pub(super) content: ContentReader<'static>,
    }
}

impl<R> ZstdDecoder<R> {
    /// Makes a decoder without a dictionary.
    pub fn new(reader: R) -> Self {
        Self::with(reader, AnyDictionary::None)
    }

    /// Makes a decoder with a dictionary, trained or raw content, and copies the dictionary. An
    /// empty dictionary counts as none.
    ///
    /// # Errors
    /// Returns the errors of [`Dictionary::new`](crate::Dictionary::new).
    pub fn with_dict(reader: R, dictionary: &[u8]) -> io::Result<Self> {
        Ok(Self::with(reader, AnyDictionary::copy(dictionary)?))
    }

    fn with(reader: R, dictionary: AnyDictionary<'static>) -> Self {
        let mut content = ContentReader::new(Frames::new(dictionary));
        content.single_frame = true;
        ZstdDecoder { reader, content }
    }

    /// Sets whether to decode all frames. By default, the decoder stops after the first frame that
    /// is not skippable, and the rest of the input stays in the reader.
    pub fn multiple_members(&mut self, enabled: bool) {
        self.content.single_frame = !enabled;
    }

    /// Sets all options, such as the largest window.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::InvalidInput`] within a frame, and after an error.
    pub fn set_options(&mut self, options: Options) -> io::Result<()> {
        self.content.frames.set_options(options)
    }

    /// Returns a reference to the reader.
    pub fn get_ref(&self) -> &R {
        &self.reader
    }

    /// Returns a mutable reference to the reader. The decoder misses what you read from it.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Returns the reader, and drops the decoder.
    pub fn into_inner(self) -> R {
        self.reader
    }
}
