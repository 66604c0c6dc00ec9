//! [`ZstdDecoder`]: reads the content of an asynchronous reader's frames.

use std::io;

use pin_project_lite::pin_project;

use crate::options::Options;
use crate::stream::frames::{AnyDictionary, Frames};
use crate::stream::source::ContentReader;

pin_project! {
    /// Reads the content of a reader with a buffer (`AsyncBufRead`), preferably of 128 KiB or more: of its first frame, or of
    /// all with [`multiple_members`](Self::multiple_members).
    pub struct ZstdDecoder<R> {
        #[pin]
        pub(super) reader: R,
        pub(super) content: ContentReader<'static>,
    }
}

impl<R> ZstdDecoder<R> {
    /// A decoder without a dictionary.
    pub fn new(reader: R) -> Self {
        Self::with(reader, AnyDictionary::None)
    }

    /// A decoder with a dictionary, trained or raw content, of which it keeps a copy. An empty one is none.
    ///
    /// # Errors
    /// Those of [`Dictionary::new`](crate::Dictionary::new).
    pub fn with_dict(reader: R, dictionary: &[u8]) -> io::Result<Self> {
        Ok(Self::with(reader, AnyDictionary::copy(dictionary)?))
    }

    fn with(reader: R, dictionary: AnyDictionary<'static>) -> Self {
        let mut content = ContentReader::new(Frames::new(dictionary));
        content.single_frame = true;
        ZstdDecoder { reader, content }
    }

    /// Sets whether the content is that of all frames. Default: no, what follows the first stays in the reader.
    pub fn multiple_members(&mut self, enabled: bool) {
        self.content.single_frame = !enabled;
    }

    /// Sets all options, such as the largest window.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] within a frame.
    pub fn set_options(&mut self, options: Options) -> io::Result<()> {
        self.content.frames.set_options(options)
    }

    /// The reader.
    pub fn get_ref(&self) -> &R {
        &self.reader
    }

    /// The reader. What is read from it is missing for the decoder.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Returns the reader.
    pub fn into_inner(self) -> R {
        self.reader
    }
}
