//! Decodes files of many frames, such as those of `pzstd` and of the seekable format, on several
//! threads, each of which decodes a frame at a time.
//!
//! Block headers state the sizes of blocks, so frames are cut out of the input without decoding
//! them. Only valid frames are decoded here. The first invalid one, and everything after it, is
//! left to the sequential decoder, which reports the error.

use std::cell::Cell;
use std::io::Read;

use linerate_core::{Kind, ordered};
use linerate_zstd::{Dictionary, Format, FrameHeader, Header, Options, Scratch, Status, StreamDecoder};

use super::list::Totals;
use super::walk::{self, MAX_HEADER};
use crate::ui::error::CliError;
use crate::ui::input::Source;
use crate::ui::output::Sink;

/// Largest frame that is held in memory, in bytes of content and in compressed bytes: frames of
/// `pzstd` at level 19 have that much content. Larger frames are decoded as streams.
pub(super) const MAX_FRAME: u64 = 32 << 20;
/// Maximum number of threads: 16 threads produce more content than a drive writes, and hold up to
/// 33 frames in memory.
const MAX_THREADS: usize = 16;

/// Options of decoding frames on several threads.
pub(super) struct FrameOptions<'a> {
    pub(super) threads: usize,
    pub(super) decoder: Options,
    pub(super) dictionary: Option<&'a Dictionary<'a>>,
    /// Maximum bytes of a frame, of its content and of its compressed form: [`MAX_FRAME`], except
    /// in tests.
    max_frame: u64,
}

impl<'a> FrameOptions<'a> {
    pub(super) fn new(threads: usize, decoder: Options, dictionary: Option<&'a Dictionary<'a>>) -> Self {
        FrameOptions { threads: threads.min(MAX_THREADS), decoder, dictionary, max_frame: MAX_FRAME }
    }
}

/// Decodes frames up to the first that is invalid, incomplete, too large to be held in memory, or
/// makes the content exceed `max_output` bytes, and leaves `source` at its start. Decodes nothing
/// if only one frame is left. Calls `sink` with the content of each frame, in order. Adds the
/// decoded frames to `totals`. Returns the size of their content in bytes. Holds at most
/// 2 x `threads` + 1 frames in memory.
///
/// # Errors
/// Errors of `sink`.
pub(super) fn decode<R: Read>(
    source: &mut Source<R>,
    options: &FrameOptions<'_>,
    max_output: u64,
    totals: &mut Totals,
    sink: Sink<'_>,
) -> Result<u64, CliError> {
    // Frames that were taken from the source and whose content is not used, to be pushed back.
    let mut rest = Vec::new();
    let (mut at, mut len) = (source.at(), 0);
    let (stopped, mut is_first) = (Cell::new(false), true);
    let next = || {
        if stopped.get() {
            return Ok(None);
        }
        let Some(job) = Job::gather(source, options) else { return Ok(None) };
        if std::mem::take(&mut is_first) && is_at_end(source) {
            source.unread(job.input);
            return Ok(None);
        }
        Ok(Some(job))
    };
    let worker = || {
        let (mut stream, mut scratch) = (StreamDecoder::new(options.decoder), Scratch::new());
        move |mut job: Job| {
            job.decode(&mut stream, &mut scratch, options.dictionary);
            job
        }
    };
    ordered((options.threads, options.threads + 1), next, worker, |job: Job| {
        let with_this = len + job.output.len() as u64;
        if stopped.get() || !job.is_valid || with_this > max_output {
            stopped.set(true);
            rest.extend_from_slice(&job.input);
            return Ok(());
        }
        (at, len) = (at + job.input.len() as u64, with_this);
        match &job.header {
            Some(header) => totals.begin(header),
            None => totals.skipped += 1,
        }
        sink(&job.output, at)
    })?;
    source.unread(rest);
    Ok(len)
}

/// Whether the input has ended. A read error occurs again in the sequential decoder, which reports
/// it.
fn is_at_end<R: Read>(source: &mut Source<R>) -> bool {
    source.peek(1).map_or(true, <[u8]>::is_empty)
}

/// A frame that one thread decodes.
struct Job {
    input: Vec<u8>,
    /// `None` for a skippable frame.
    header: Option<FrameHeader>,
    /// Upper bound of the frame's content, in bytes.
    bound: u64,
    output: Vec<u8>,
    is_valid: bool,
}

impl Job {
    /// Takes the next frame from the source, without decoding it. Returns `None`, and takes
    /// nothing, if the frame is incomplete, too large or has a damaged header, at the end of the
    /// input, and after an error of reading.
    fn gather<R: Read>(source: &mut Source<R>, options: &FrameOptions<'_>) -> Option<Job> {
        let header = Header::parse(source.peek(MAX_HEADER).ok()?, Format::Standard).ok()?;
        let mut input = Vec::new();
        // Bytes are kept even if the frame is too large, so that they can be pushed back.
        let mut take = |bytes: &[u8], bound: u64| {
            input.extend_from_slice(bytes);
            match bound.max(input.len() as u64) > options.max_frame {
                true => Err(CliError::data(Kind::Limit, 0, "the frame is too large for memory")),
                false => Ok(()),
            }
        };
        let passed = match &header {
            Header::Skippable { len, .. } => walk::pass_skippable(source, *len, &mut take).map(|()| 0),
            // A frame that states too large a content is refused before any of it is copied.
            Header::Frame(frame) if frame.content_size.is_some_and(|size| size > options.max_frame) => {
                return None;
            }
            Header::Frame(frame) => walk::pass_frame(source, frame, &mut take),
        };
        let Ok(bound) = passed else {
            source.unread(input);
            return None;
        };
        let header = match header {
            Header::Frame(frame) => Some(frame),
            Header::Skippable { .. } => None,
        };
        Some(Job { input, header, bound, output: Vec::new(), is_valid: false })
    }

    /// Decodes the frame into `output`, and sets `is_valid` if that succeeds.
    fn decode(
        &mut self,
        stream: &mut StreamDecoder,
        scratch: &mut Scratch,
        dictionary: Option<&Dictionary<'_>>,
    ) {
        stream.reset();
        self.output.resize(self.bound as usize, 0);
        let (mut read, mut written) = (0, 0);
        loop {
            let output = &mut self.output[written..];
            let Ok(progress) = stream.decode(scratch, dictionary, &self.input[read..], output) else {
                return;
            };
            (read, written) = (read + progress.read, written + progress.written);
            match progress.status {
                Status::FrameEnd => break,
                _ if progress.read == 0 && progress.written == 0 => return,
                Status::NeedInput | Status::NeedOutput => {}
            }
        }
        self.output.truncate(written);
        self.is_valid = read == self.input.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of one raw block, which states its content size if `is_sized`.
    fn frame(content: &[u8], is_sized: bool) -> Vec<u8> {
        let head = match is_sized {
            // Frame header: a single segment, with a content size of four bytes.
            true => [&[0b1010_0000][..], &(content.len() as u32).to_le_bytes()].concat(),
            // Frame header: a window of 128 KiB.
            false => vec![0, 7 << 3],
        };
        let block = (content.len() << 3 | 1).to_le_bytes();
        [&[0x28, 0xb5, 0x2f, 0xfd], &head[..], &block[..3], content].concat()
    }

    /// Decodes `input` on two threads. Returns the content, the totals, and the offset where it
    /// stopped.
    fn decoded(input: &[u8], max_frame: u64, max_output: u64) -> (Vec<u8>, Totals, u64) {
        let mut source = Source::new(input);
        let options = FrameOptions { max_frame, ..FrameOptions::new(2, Options::new(), None) };
        let (mut content, mut totals) = (Vec::new(), Totals::default());
        let mut sink = |bytes: &[u8], _| {
            content.extend_from_slice(bytes);
            Ok(())
        };
        let len = decode(&mut source, &options, max_output, &mut totals, &mut sink).expect("no sink fails");
        assert_eq!(len, content.len() as u64);
        let at = source.at();
        let left = source.peek(1).expect("the input is in memory").first().copied();
        assert_eq!(left, input.get(at as usize).copied(), "what is not decoded is read again");
        (content, totals, at)
    }

    #[test]
    fn all_frames_with_and_without_content_size_are_decoded_in_order() {
        let skippable = [&[0x55, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        let mut input = Vec::new();
        for i in 0..50_usize {
            input.extend(frame(&[i as u8; 300][..i * 6], i % 2 == 0));
            input.extend_from_slice(&skippable);
        }
        let wanted: Vec<u8> = (0..50_usize).flat_map(|i| vec![i as u8; i * 6]).collect();
        let (content, totals, at) = decoded(&input, MAX_FRAME, u64::MAX);
        assert!(content == wanted);
        assert_eq!((totals.frames, totals.skipped, at), (50, 50, input.len() as u64));
    }

    #[test]
    fn the_only_frame_is_left_to_the_sequential_decoder() {
        assert_eq!(decoded(&frame(b"content", true), MAX_FRAME, u64::MAX), (vec![], Totals::default(), 0));
    }

    #[test]
    fn a_frame_too_large_for_memory_and_all_after_it_are_left() {
        for is_sized in [true, false] {
            let input = [frame(b"one", true), frame(&[7; 1000], is_sized), frame(b"two", true)].concat();
            let (content, totals, at) = decoded(&input, 999, u64::MAX);
            let first = frame(b"one", true).len() as u64;
            assert_eq!((content, totals.frames, at), (b"one".to_vec(), 1, first));
        }
    }

    #[test]
    fn an_invalid_frame_and_all_after_it_are_left() {
        let (one, two) = (frame(b"one", true), frame(b"two", false));
        let mut wrong_size = one.clone();
        wrong_size[5] = 4;
        for bad in [&wrong_size[..], &one[..one.len() - 1], b"garbage", b""] {
            let input = [&one[..], &two, bad].concat();
            let (content, totals, at) = decoded(&input, MAX_FRAME, u64::MAX);
            let before = (one.len() + two.len()) as u64;
            assert_eq!((content, totals.frames, at), (b"onetwo".to_vec(), 2, before), "{bad:?}");
        }
    }

    #[test]
    fn frames_beyond_the_limit_of_the_output_are_left() {
        let input = frame(b"12345", true).repeat(9);
        let (content, _, at) = decoded(&input, MAX_FRAME, 12);
        assert_eq!((content, at), (b"1234512345".to_vec(), 2 * frame(b"12345", true).len() as u64));
    }
}
