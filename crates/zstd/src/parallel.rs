//! [`ParallelDecoder`]: decodes the frames of a file in memory, on several threads at the same
//! time.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::{io, thread};

use linerate_core::{Error, Kind, Result, parallel_map};

use crate::decoder::FrameDecoder;
use crate::dictionary::Dictionary;
use crate::frame::{BLOCK_MAX, frame_extent};
use crate::options::Options;
use crate::scratch::Scratch;
use crate::seekable::Index;

/// Decodes files of many frames, such as those of the seekable format or of `pzstd`, on several
/// threads. One thread decodes each frame.
///
/// ```
/// let frame = b"\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello";
/// let file = frame.repeat(100);
/// let content = linerate_zstd::ParallelDecoder::new().threads(2).decode(&file, 1 << 20)?;
/// assert_eq!(content, b"hello".repeat(100));
/// # Ok::<(), linerate_zstd::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct ParallelDecoder<'a> {
    options: Options,
    threads: usize,
    dictionary: Option<&'a Dictionary<'a>>,
}

/// A frame's range in the input, and the size of its content.
type SizedFrame = (Range<usize>, usize);

/// A frame, and the memory for its content.
struct Job<'j> {
    /// Range of the frame in the input.
    range: Range<usize>,
    out: &'j mut [u8],
}

impl<'a> ParallelDecoder<'a> {
    /// Makes a decoder with a thread for each core.
    pub fn new() -> Self {
        let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        ParallelDecoder { options: Options::new(), threads, dictionary: None }
    }

    /// Sets the number of threads; 0 means 1. The result does not depend on it.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        ParallelDecoder { threads: threads.max(1), ..self }
    }

    /// Sets the options.
    #[must_use]
    pub fn options(self, options: Options) -> Self {
        ParallelDecoder { options, ..self }
    }

    /// Sets the dictionary of all frames.
    #[must_use]
    pub fn dictionary(self, dictionary: &'a Dictionary<'a>) -> Self {
        ParallelDecoder { dictionary: Some(dictionary), ..self }
    }

    /// Decodes all frames of `src` into a vector of at most `limit` bytes. If the content size of a
    /// frame is in neither its header nor a seek table, one thread decodes all frames.
    ///
    /// # Errors
    /// Returns the errors of [`FrameDecoder::decode_into_vec`]. If several frames have damaged
    /// content, the error is that of the first. Damaged headers are found before damaged content.
    pub fn decode(&self, src: &[u8], limit: usize) -> Result<Vec<u8>> {
        let Some(frames) = self.frames(src)? else {
            let decoder = FrameDecoder::new(self.options);
            return decoder.decode_into_vec(&mut Scratch::new(), self.dictionary, src, limit);
        };
        let len = frames.iter().try_fold(0_usize, |sum, (_, len)| sum.checked_add(*len));
        let Some(len) = len.filter(|len| *len <= limit) else {
            return Err(Error::new(Kind::Limit, 0, "the content is above the limit"));
        };
        let mut out = Vec::new();
        let no_memory = |_| Error::new(Kind::Limit, 0, "there is no memory for the content");
        out.try_reserve_exact(len).map_err(no_memory)?;
        out.resize(len, 0);
        self.run(src, &frames, &mut out)?;
        Ok(out)
    }

    /// Returns each frame with the size of its content, or `None` if a size is unknown. Returns an
    /// error for a size that the blocks of a frame cannot hold, so that the input bounds the
    /// memory.
    fn frames(&self, src: &[u8]) -> Result<Option<Vec<SizedFrame>>> {
        let table = Index::from_seek_table(&mut io::Cursor::new(src)).unwrap_or_default().unwrap_or_default();
        let (mut frames, mut at) = (Vec::new(), 0);
        while at < src.len() {
            let extent = frame_extent(&src[at..], self.options.format).map_err(|e| e.shifted(at as u64))?;
            let in_table = || {
                let found =
                    table.entries().binary_search_by_key(&(at as u64), |entry| entry.compressed_offset);
                found
                    .ok()
                    .map(|found| table.entries()[found])
                    .filter(|e| e.compressed_len == extent.compressed as u64)
            };
            let Some(len) = extent.content_size.or_else(|| in_table().map(|entry| entry.len)) else {
                return Ok(None);
            };
            if len > extent.blocks as u64 * BLOCK_MAX as u64 {
                let what = "the content does not have the size that its frame states";
                return Err(Error::new(Kind::Corrupt, at as u64, what));
            }
            let len = usize::try_from(len)
                .map_err(|_| Error::new(Kind::Limit, at as u64, "the content is above the limit"))?;
            frames.push((at..at + extent.compressed, len));
            at += extent.compressed;
        }
        Ok(Some(frames))
    }

    /// Decodes each frame to its place in `out`.
    fn run(&self, src: &[u8], frames: &[SizedFrame], out: &mut [u8]) -> Result<()> {
        let mut rest = out;
        let jobs = frames.iter().map(|(range, len)| {
            let (out, after) = std::mem::take(&mut rest).split_at_mut(*len);
            rest = after;
            Job { range: range.clone(), out }
        });
        let worker = || {
            let mut scratch = Scratch::new();
            move |job| self.decode_frame(src, job, &mut scratch)
        };
        parallel_map(self.threads, jobs, worker).into_iter().collect()
    }

    fn decode_frame(&self, src: &[u8], job: Job<'_>, scratch: &mut Scratch) -> Result<()> {
        let Job { range, out } = job;
        let at = range.start as u64;
        let wrong = Error::new(Kind::Corrupt, at, "the content does not have the size that the file states");
        match FrameDecoder::new(self.options).decode_frame(scratch, self.dictionary, &src[range], out) {
            Ok(sizes) if sizes.written == out.len() => Ok(()),
            Ok(_) | Err(Error { kind: Kind::OutputTooSmall, .. }) => Err(wrong),
            Err(e) => Err(e.shifted(at)),
        }
    }
}

impl Default for ParallelDecoder<'_> {
    fn default() -> Self {
        Self::new()
    }
}
