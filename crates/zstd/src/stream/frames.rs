//! The frames of one reader or writer: a stream decoder with its scratch and dictionary.

use std::io;

use linerate_core::{Error, Kind};

use crate::dict::DecoderDictionary;
use crate::dictionary::Dictionary;
use crate::frame::Format;
use crate::options::Options;
use crate::scratch::Scratch;
use crate::stream_decoder::{Progress, Status, StreamDecoder};

/// A part of a skippable frame, which the handler of
/// [`read::Decoder::on_skippable`](super::read::Decoder::on_skippable) receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkippablePart<'p> {
    /// Low four bits of the frame's magic number.
    pub variant: u8,
    /// The next bytes of the content.
    pub bytes: &'p [u8],
    /// Number of bytes of the content after these; 0 in the last part.
    pub left: usize,
}

/// Handles the parts of skippable frames.
pub(crate) type SkippableHandler<'a> = Box<dyn FnMut(SkippablePart<'_>) -> io::Result<()> + Send + Sync + 'a>;

/// The dictionary of a decoder.
pub(crate) enum AnyDictionary<'a> {
    None,
    Owned(Dictionary<'static>),
    Prepared(&'a Dictionary<'a>),
    /// Content that only the first frame uses.
    Prefix(Dictionary<'a>),
}

impl AnyDictionary<'static> {
    /// Digests a dictionary. An empty dictionary counts as none.
    pub(crate) fn copy(bytes: &[u8]) -> io::Result<Self> {
        if bytes.is_empty() { Ok(Self::None) } else { Ok(Self::Owned(Dictionary::new(bytes)?)) }
    }
}

impl<'a> AnyDictionary<'a> {
    pub(crate) fn prepared<'b: 'a>(dictionary: &'a DecoderDictionary<'b>) -> Self {
        Self::Prepared(dictionary.as_dictionary())
    }

    /// Makes a prefix: raw content before that of the first frame, even if it begins like a trained
    /// dictionary.
    pub(crate) fn prefix(content: &'a [u8]) -> io::Result<Self> {
        Ok(Self::Prefix(Dictionary::raw_by_reference(content)?))
    }

    pub(crate) fn get(&self) -> Option<&Dictionary<'a>> {
        match self {
            Self::None => None,
            Self::Owned(dictionary) => Some(dictionary),
            Self::Prepared(dictionary) => Some(dictionary),
            Self::Prefix(dictionary) => Some(dictionary),
        }
    }
}

/// Computes the size of a window in bytes from its logarithm.
pub(crate) fn window_of(log: u32) -> io::Result<u64> {
    if (10..=31).contains(&log) {
        return Ok(1 << log);
    }
    Err(Error::new(Kind::BadArgument, 0, "the logarithm of a window is not between 10 and 31").into())
}

/// Decodes the frames of one input, one after the other.
pub(crate) struct Frames<'a> {
    decoder: StreamDecoder,
    scratch: Scratch,
    dictionary: AnyDictionary<'a>,
    on_skippable: Option<SkippableHandler<'a>>,
    /// Whether the last call of [`decode`](Self::decode) left output in the decoder.
    has_output: bool,
}

impl<'a> Frames<'a> {
    pub(crate) fn new(dictionary: AnyDictionary<'a>) -> Self {
        let decoder = StreamDecoder::new(Options::new()).keep_partial_block();
        Frames { decoder, scratch: Scratch::new(), dictionary, on_skippable: None, has_output: false }
    }

    pub(crate) fn set_handler(&mut self, handler: SkippableHandler<'a>) {
        self.on_skippable = Some(handler);
    }

    /// Sets the largest window to 2 to the power of `log`.
    pub(crate) fn window_log_max(&mut self, log: u32) -> io::Result<()> {
        let options = self.decoder.options().window_limit(window_of(log)?);
        Ok(self.decoder.set_options(options)?)
    }

    pub(crate) fn include_magicbytes(&mut self, include: bool) -> io::Result<()> {
        let format = if include { Format::Standard } else { Format::Magicless };
        let options = self.decoder.options().format(format);
        Ok(self.decoder.set_options(options)?)
    }

    pub(crate) fn set_options(&mut self, options: Options) -> io::Result<()> {
        Ok(self.decoder.set_options(options)?)
    }

    /// Returns whether decoding goes on without more input.
    pub(crate) fn has_output(&self) -> bool {
        self.has_output
    }

    /// Runs [`StreamDecoder::decode`].
    pub(crate) fn decode(&mut self, src: &[u8], dst: &mut [u8]) -> io::Result<Progress> {
        let progress = self.decoder.decode(&mut self.scratch, self.dictionary.get(), src, dst)?;
        self.has_output = progress.status == Status::NeedOutput;
        if progress.status == Status::FrameEnd && matches!(self.dictionary, AnyDictionary::Prefix(_)) {
            self.dictionary = AnyDictionary::None;
        }
        Ok(progress)
    }

    /// Returns whether the last call of [`decode`](Self::decode), which returned `progress`, ended a
    /// frame with content, and not a skippable one.
    pub(crate) fn has_ended_content(&self, progress: Progress) -> bool {
        progress.status == Status::FrameEnd && self.decoder.skipped().is_none()
    }

    /// Passes the part of a skippable frame that the last call of [`decode`](Self::decode) has
    /// consumed of `src` to the handler. The caller consumes the input before it returns an error.
    pub(crate) fn handle_skipped(&mut self, src: &[u8]) -> io::Result<()> {
        let (Some(handler), Some(part)) = (&mut self.on_skippable, self.decoder.skipped()) else {
            return Ok(());
        };
        handler(SkippablePart { variant: part.variant, bytes: &src[part.range.clone()], left: part.left })
    }

    /// Checks that the input may end here: after a frame.
    pub(crate) fn check_end(&self) -> io::Result<()> {
        if self.decoder.position() > 0 && self.decoder.is_between_frames() {
            return Ok(());
        }
        let what = "the input ends before the frame does";
        Err(Error::new(Kind::Truncated, self.decoder.position(), what).into())
    }

    /// Returns whether a frame has begun and not ended.
    pub(crate) fn is_inside(&self) -> bool {
        !self.decoder.is_between_frames()
    }
}
