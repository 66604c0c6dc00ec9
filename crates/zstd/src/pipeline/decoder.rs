//! [`Decoder`]: a stream decoder that other threads work ahead of.

use linerate_core::Result;

use super::Options;
use super::cutter::Cutter;
use super::ring::{Part, Ring};
use crate::dictionary::Dictionary;
use crate::scratch::Scratch;
use crate::stream_decoder::{Progress, Status, StreamDecoder};

/// Decodes frames that arrive in pieces, each on several threads. Content and errors are those of
/// [`StreamDecoder`] for any number of threads, but the output lags behind the input.
///
/// The threads start with the first frame that has about two blocks per thread, and end when the
/// decoder is dropped.
///
/// ```
/// use linerate_zstd::{Status, pipeline};
///
/// let frame = b"\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello";
/// let mut decoder = pipeline::Decoder::new(pipeline::Options::new().threads(2), None);
/// let mut out = [0; 5];
/// let progress = decoder.decode(frame, &mut out)?;
/// assert_eq!((&out, progress.status), (b"hello", Status::FrameEnd));
/// # Ok::<(), linerate_zstd::Error>(())
/// ```
pub struct Decoder<'d> {
    stream: StreamDecoder,
    scratch: Scratch,
    dictionary: Option<&'d Dictionary<'d>>,
    /// Present with more than one thread, unless there is a dictionary.
    parts: Option<Parts>,
}

/// Parts that the stream decoder has not taken yet.
struct Parts {
    cutter: Cutter,
    ring: Ring,
    /// The part that the stream decoder is taking, and the number of bytes taken.
    current: Option<(Part, usize)>,
}

impl<'d> Decoder<'d> {
    /// Makes a decoder at the beginning of a frame. With a `dictionary`, which every frame may use,
    /// one thread decodes.
    pub fn new(options: Options, dictionary: Option<&'d Dictionary<'d>>) -> Self {
        let parts = || Parts {
            cutter: Cutter::new(options.stream.format),
            ring: Ring::new(options.threads),
            current: None,
        };
        Decoder {
            stream: StreamDecoder::new(options.stream),
            scratch: Scratch::new(),
            dictionary,
            parts: (options.threads > 1 && dictionary.is_none()).then(parts),
        }
    }

    /// Returns whether the input may end here: no frame is incomplete.
    pub fn is_between_frames(&self) -> bool {
        self.stream.is_between_frames() && self.parts.as_ref().is_none_or(Parts::is_between_frames)
    }

    /// Returns the offset in the input, in bytes, up to which it is decoded. Input that was taken
    /// and waits is after it.
    pub const fn position(&self) -> u64 {
        self.stream.position()
    }

    /// Takes bytes of `src` and writes content to `dst`, until either is exhausted or a frame ends.
    /// Input that was taken may not be decoded yet. An empty `src` makes the decoder decode all
    /// input taken, and the rest of the frame, on one thread.
    ///
    /// # Errors
    /// Returns the errors of [`StreamDecoder::decode`].
    pub fn decode(&mut self, src: &[u8], dst: &mut [u8]) -> Result<Progress> {
        let Decoder { stream, scratch, dictionary, parts } = self;
        match parts {
            Some(parts) if !stream.has_failed() => parts.decode(stream, scratch, src, dst),
            _ => stream.decode(scratch, *dictionary, src, dst),
        }
    }
}

impl Parts {
    fn is_between_frames(&self) -> bool {
        let is_idle = self.current.is_none() && self.ring.is_empty();
        is_idle && (self.cutter.is_at_start() || self.cutter.is_uncut())
    }

    /// Returns whether a part may be cut from more input.
    fn takes(&self) -> bool {
        !self.cutter.is_at_end() && !self.cutter.is_uncut() && !self.ring.is_full()
    }

    fn decode(
        &mut self,
        stream: &mut StreamDecoder,
        scratch: &mut Scratch,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<Progress> {
        let (mut read, mut written) = (0, 0);
        if src.is_empty() && !self.cutter.is_at_start() && !self.cutter.is_at_end() {
            self.cutter.stop(&mut self.ring);
        }
        loop {
            while read < src.len() && self.takes() {
                read += self.cutter.take(&src[read..], &mut self.ring);
            }
            if !src.is_empty() && self.takes() {
                return Ok(Progress { read, written, status: Status::NeedInput });
            }
            let progress = match self.step(stream, scratch, &src[read..], &mut dst[written..]) {
                // Return the output before the error first; the stream decoder repeats the error.
                Err(_) if written > 0 => return Ok(Progress { read, written, status: Status::NeedOutput }),
                progress => progress?,
            };
            (read, written) = (read + progress.read, written + progress.written);
            match progress.status {
                Status::FrameEnd => self.cutter.start(),
                Status::NeedOutput => {}
                Status::NeedInput if self.current.is_none() && self.ring.is_empty() && read == src.len() => {}
                Status::NeedInput => continue,
            }
            return Ok(Progress { read, written, ..progress });
        }
    }

    /// Decodes the current part, the next one, or the input of an uncut frame in `src`.
    fn step(
        &mut self,
        stream: &mut StreamDecoder,
        scratch: &mut Scratch,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<Progress> {
        if self.current.is_none() {
            self.current = self.ring.pop().map(|part| (part, 0));
        }
        let Some((part, at)) = &mut self.current else {
            let src = if self.cutter.is_uncut() { src } else { &[] };
            return stream.decode(scratch, None, src, dst);
        };
        let (result, len) = match part {
            Part::Other(bytes) => (stream.decode(scratch, None, &bytes[*at..], dst), bytes.len()),
            Part::Block(block) => {
                let (len, is_last, kernels) = (block.input().len(), block.is_last(), scratch.kernels);
                let executed = stream.take_block(scratch, (len, is_last), dst, |tables, max, out| {
                    block.execute(kernels, tables, max, out)
                });
                let decode = || stream.decode(scratch, None, &block.input()[*at..], dst);
                (executed.unwrap_or_else(decode), len)
            }
        };
        // Pending output needs no input.
        *at += result.map_or(0, |progress| progress.read);
        if *at == len
            && let Some((Part::Block(block), _)) = self.current.take()
        {
            self.ring.reuse(block);
        }
        result.map(|progress| Progress { read: 0, ..progress })
    }
}
