//! [`ZstdDecoder`]: takes compressed bytes, and writes their content to an asynchronous writer.

use std::io;

use pin_project_lite::pin_project;

use crate::options::Options;
use crate::stream::frames::{AnyDictionary, Frames};
use crate::stream::sink::ContentWriter;

pin_project! {
    /// Decodes the frames that are written to it, and writes their content to another writer
    /// (`AsyncWrite`). Shut it down, or close it, at the end of the input: this fails if the input
    /// ended within a frame, or has none.
    pub struct ZstdDecoder<W> {
        #[pin]
        pub(super) writer: W,
        pub(super) content: ContentWriter<'static>,
    }
}

impl<W> ZstdDecoder<W> {
    /// Makes a decoder without a dictionary.
    pub fn new(writer: W) -> Self {
        Self::with(writer, AnyDictionary::None)
    }

    /// Makes a decoder with a dictionary, trained or raw content, and copies the dictionary. An
    /// empty dictionary counts as none.
    ///
    /// # Errors
    /// Returns the errors of [`Dictionary::new`](crate::Dictionary::new).
    pub fn with_dict(writer: W, dictionary: &[u8]) -> io::Result<Self> {
        Ok(Self::with(writer, AnyDictionary::copy(dictionary)?))
    }

    fn with(writer: W, dictionary: AnyDictionary<'static>) -> Self {
        ZstdDecoder { writer, content: ContentWriter::new(Frames::new(dictionary)) }
    }

    /// Sets all options, such as the largest window.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::InvalidInput`] within a frame, and after an error.
    pub fn set_options(&mut self, options: Options) -> io::Result<()> {
        self.content.frames.set_options(options)
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
}
