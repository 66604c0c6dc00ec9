//! [`ZstdDecoder`]: takes compressed bytes, and writes their content to an asynchronous writer.

use std::io;

use pin_project_lite::pin_project;

use crate::options::Options;
use crate::stream::frames::{AnyDictionary, Frames};
use crate::stream::sink::ContentWriter;

pin_project! {
    /// Writes the content of all frames that are written to it to another writer (`AsyncWrite`). Shut it down, or close it,
    /// at the end of the input: that fails within a frame.
    pub struct ZstdDecoder<W> {
        #[pin]
        pub(super) writer: W,
        pub(super) content: ContentWriter<'static>,
    }
}

impl<W> ZstdDecoder<W> {
    /// A decoder without a dictionary.
    pub fn new(writer: W) -> Self {
        Self::with(writer, AnyDictionary::None)
    }

    /// A decoder with a dictionary, trained or raw content, of which it keeps a copy. An empty one is none.
    ///
    /// # Errors
    /// Those of [`Dictionary::new`](crate::Dictionary::new).
    pub fn with_dict(writer: W, dictionary: &[u8]) -> io::Result<Self> {
        Ok(Self::with(writer, AnyDictionary::copy(dictionary)?))
    }

    fn with(writer: W, dictionary: AnyDictionary<'static>) -> Self {
        ZstdDecoder { writer, content: ContentWriter::new(Frames::new(dictionary)) }
    }

    /// Sets all options, such as the largest window.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] within a frame.
    pub fn set_options(&mut self, options: Options) -> io::Result<()> {
        self.content.frames.set_options(options)
    }

    /// The writer.
    pub fn get_ref(&self) -> &W {
        &self.writer
    }

    /// The writer.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.writer
    }

    /// Returns the writer, whatever has not been written to it yet.
    pub fn into_inner(self) -> W {
        self.writer
    }
}
