//! [`Decoder`]: a stream decoder with threads ahead of it.

use linerate_core::Result;

use super::Options;
use super::cutter::Cutter;
use super::ring::{Part, Ring};
use crate::dictionary::Dictionary;
use crate::scratch::Scratch;
use crate::stream_decoder::{Progress, Status, StreamDecoder};

/// Decodes frames that arrive in pieces, on several threads each. Content and errors are those of [`StreamDecoder`] for any
/// number of threads, but its output lags behind its input. Frames that may use a dictionary are decoded by one thread.
///
/// The threads start with the first frame of more than four blocks per thread, and end when this is dropped.
///
/// ```
/// use linerate_zstd::{Status, pipeline};
///
/// let frame = b"\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello";
/// let mut decoder = pipeline::Decoder::new(pipeline::Options::new().threads(2));
/// let mut out = [0; 5];
/// let progress = decoder.decode(None, frame, &mut out)?;
/// assert_eq!((&out, progress.status), (b"hello", Status::FrameEnd));
/// # Ok::<(), linerate_zstd::Error>(())
/// ```
pub struct Decoder {
    stream: StreamDecoder,
    scratch: Scratch,
    cutter: Cutter,
    /// With more than one thread.
    ring: Option<Ring>,
    current: Option<Current>,
}

/// The part that the stream decoder takes.
struct Current {
    part: Part,
    /// Bytes of it that were taken.
    at: usize,
}

impl Current {
    fn input(&self) -> &[u8] {
        match &self.part {
            Part::Other(bytes) => bytes,
            Part::Block(block) => block.input(),
        }
    }
}

impl Decoder {
    /// A decoder at the beginning of a frame.
    pub fn new(options: Options) -> Self {
        Decoder {
            stream: StreamDecoder::new(options.stream),
            scratch: Scratch::new(),
            cutter: Cutter::new(options.stream.format),
            ring: (options.threads > 1).then(|| Ring::new(options.threads)),
            current: None,
        }
    }

    /// Whether the input may end here: no frame is incomplete.
    pub fn is_between_frames(&self) -> bool {
        let is_idle = self.current.is_none() && self.ring.as_ref().is_none_or(Ring::is_empty);
        is_idle && self.stream.is_between_frames() && (self.cutter.is_at_start() || self.cutter.is_uncut())
    }

    /// Offset in the input, in bytes, up to which it is decoded. What was taken and waits is after it.
    pub const fn position(&self) -> u64 {
        self.stream.position()
    }

    /// Takes bytes of `src` and writes decoded ones to `dst`, until either is exhausted or a frame ends. Input that was taken may
    /// not be decoded yet; an empty `src` decodes all of it, and the rest of the frame on one thread.
    ///
    /// # Errors
    /// As [`StreamDecoder::decode`].
    pub fn decode(
        &mut self,
        dictionary: Option<&Dictionary<'_>>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<Progress> {
        let has_failed = self.stream.has_failed();
        let Some(mut ring) = self.ring.take_if(|_| !has_failed) else {
            return self.stream.decode(&mut self.scratch, dictionary, src, dst);
        };
        let result = self.decode_by(&mut ring, dictionary, src, dst);
        self.ring = Some(ring);
        result
    }

    fn decode_by(
        &mut self,
        ring: &mut Ring,
        dictionary: Option<&Dictionary<'_>>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<Progress> {
        let (mut read, mut written) = (0, 0);
        let stops = if self.cutter.is_at_start() { dictionary.is_some() } else { src.is_empty() };
        if stops && !self.cutter.is_at_end() {
            self.cutter.stop(ring);
        }
        loop {
            let takes =
                |cutter: &Cutter, ring: &Ring| !ring.is_full() && !cutter.is_at_end() && !cutter.is_uncut();
            while read < src.len() && takes(&self.cutter, ring) {
                read += self.cutter.take(&src[read..], ring);
            }
            if takes(&self.cutter, ring) && !src.is_empty() {
                return Ok(Progress { read, written, status: Status::NeedInput });
            }
            let step = self.step(ring, dictionary, &src[read..], &mut dst[written..]);
            let progress = match step {
                // What precedes the error is returned first; the stream decoder repeats the error.
                Err(_) if written > 0 => return Ok(Progress { read, written, status: Status::NeedOutput }),
                step => step?,
            };
            (read, written) = (read + progress.read, written + progress.written);
            match progress.status {
                Status::FrameEnd => {
                    self.cutter.start();
                    return Ok(Progress { read, written, status: Status::FrameEnd });
                }
                Status::NeedOutput => return Ok(Progress { read, written, status: Status::NeedOutput }),
                Status::NeedInput if self.current.is_none() && ring.is_empty() && read == src.len() => {
                    return Ok(Progress { read, written, status: Status::NeedInput });
                }
                Status::NeedInput => {}
            }
        }
    }

    /// Decodes the current part, or the next one, or what is left of an uncut frame in `src`.
    fn step(
        &mut self,
        ring: &mut Ring,
        dictionary: Option<&Dictionary<'_>>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<Progress> {
        let next = || ring.pop().map(|part| Current { part, at: 0 });
        let Some(mut current) = self.current.take().or_else(next) else {
            let src = if self.cutter.is_uncut() { src } else { &[] };
            return self.stream.decode(&mut self.scratch, dictionary, src, dst);
        };
        let result = self.feed(&mut current, dictionary, dst);
        let is_used_up = current.at == current.input().len();
        // Output that is owed needs no input.
        if !is_used_up {
            self.current = Some(current);
        } else if let Part::Block(block) = current.part {
            ring.reuse(block);
        }
        result.map(|progress| Progress { read: 0, ..progress })
    }

    fn feed(
        &mut self,
        current: &mut Current,
        dictionary: Option<&Dictionary<'_>>,
        dst: &mut [u8],
    ) -> Result<Progress> {
        let Decoder { stream, scratch, .. } = self;
        let at = current.at;
        let progress = match &mut current.part {
            Part::Other(bytes) => stream.decode(scratch, dictionary, &bytes[at..], dst)?,
            Part::Block(block) => block.feed((stream, scratch), dictionary, at, dst)?,
        };
        current.at += progress.read;
        Ok(progress)
    }
}
