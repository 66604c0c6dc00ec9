//! Decodes the beginning of a frame, and later more of it, into a slice that is also the window.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::hash::Hasher;
use core::ops::Range;

use linerate_core::{Error, Kind, Result};
use twox_hash::XxHash64;

use crate::block::BlockDecoder;
use crate::decoder::check_dictionary;
use crate::dictionary::Dictionary;
use crate::frame::{BLOCK_MAX, BlockHeader, BlockType, FrameHeader};
use crate::frame_tables::FrameTables;
use crate::options::Options;
use crate::output::{HistorySegment, Output};
use crate::scratch::{SLACK, Scratch};

/// Reason for a [`PrefixDecoder`] to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrefixEnd {
    /// The frame has ended. Its checksum, if it has one and it is verified, matches.
    FrameEnd,
    /// The output is full, and more follows.
    Full,
    /// The input ends before the frame does: in its header, in or after a block, or in its
    /// checksum.
    InputEnd,
}

/// Result of [`PrefixDecoder::decode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// Number of input bytes consumed, from the first byte of the frame.
    pub read: usize,
    /// Number of output bytes, from the first byte of the content.
    pub written: usize,
    /// Reason for the call to return.
    pub end: PrefixEnd,
}

/// The part of the frame expected next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FramePart {
    Header,
    Block,
    Checksum,
    End,
}

/// Decodes as much of one frame as the output holds, from input that may lack the frame's end, and
/// resumes when the output has grown. No block is decoded before its content is needed.
///
/// The output is the window, so no window is allocated, and [`Options::window_limit`] is ignored.
/// Between calls the decoder holds the entropy tables and, once a call has ended within a block,
/// memory for the content of a block (128 KiB).
///
/// ```
/// use linerate_zstd::{Options, PrefixDecoder, PrefixEnd, Scratch};
///
/// let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 5, 0x29, 0, 0, b'h', b'e', b'l', b'l', b'o'];
/// let (mut scratch, mut decoder) = (Scratch::new(), PrefixDecoder::new(Options::new()));
/// let mut out = [0; 5];
/// let part = decoder.decode(&mut scratch, None, &frame, &mut out[..2])?;
/// assert_eq!((&out[..2], part.end), (&b"he"[..], PrefixEnd::Full));
/// let whole = decoder.decode(&mut scratch, None, &frame, &mut out)?;
/// assert_eq!((&out, whole.end), (b"hello", PrefixEnd::FrameEnd));
/// # Ok::<(), linerate_zstd::Error>(())
/// ```
pub struct PrefixDecoder {
    options: Options,
    tables: Box<FrameTables>,
    /// The frame header, once it has been read.
    header: Option<FrameHeader>,
    /// Number of input bytes consumed: none, or up to a block header, the checksum, the frame's end
    /// or, within a raw block, the input's end.
    read: usize,
    state: FramePart,
    /// Number of bytes in the caller's output.
    written: usize,
    /// Number of bytes decoded.
    total: u64,
    hash: XxHash64,
    /// The content of a block that was larger than the output's free space, with slack.
    spare: Vec<u8>,
    /// Range of `spare` that is still to be written.
    pending: Range<usize>,
}

impl PrefixDecoder {
    /// Makes a decoder at the beginning of a frame.
    pub fn new(options: Options) -> Self {
        PrefixDecoder {
            options,
            tables: Box::new(FrameTables::new()),
            header: None,
            read: 0,
            state: FramePart::Header,
            written: 0,
            total: 0,
            hash: XxHash64::with_seed(0),
            spare: Vec::new(),
            pending: 0..0,
        }
    }

    /// Resets to the beginning of a frame, and keeps the options and the memory.
    pub fn start(&mut self) {
        (self.state, self.header, self.read) = (FramePart::Header, None, 0);
        (self.written, self.total, self.pending) = (0, 0, 0..0);
        self.hash = XxHash64::with_seed(0);
    }

    /// Fills `dst`, which begins with the output of earlier calls. `src` begins with the frame, and
    /// ends where the input does. All calls for one frame must pass the same `src` and
    /// `dictionary`; otherwise the output is unspecified.
    ///
    /// # Errors
    /// Returns [`Kind::Corrupt`] for invalid input, [`Kind::BadArgument`] for a skippable frame, a
    /// frame with another Dictionary_ID, or a `dst` shorter than the output so far, [`Kind::Limit`]
    /// if an allocation fails, and [`Kind::Unsupported`] for a window of 4 GiB or more. Offsets of
    /// errors are positions in `src`. Call [`start`](Self::start) after an error.
    pub fn decode(
        &mut self,
        scratch: &mut Scratch,
        dictionary: Option<&Dictionary<'_>>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<Prefix> {
        if dst.len() < self.written {
            return Err(Error::new(
                Kind::BadArgument,
                0,
                "the output is shorter than the content written so far",
            ));
        }
        let end = self.run(scratch, dictionary, src, dst)?;
        Ok(Prefix { read: self.read, written: self.written, end })
    }

    fn run(
        &mut self,
        scratch: &mut Scratch,
        dictionary: Option<&Dictionary<'_>>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<PrefixEnd> {
        self.write_pending(dst);
        loop {
            if !self.pending.is_empty() {
                return Ok(PrefixEnd::Full);
            }
            let stop = match (self.state, self.header) {
                (FramePart::Block, Some(header)) => self.block(&header, scratch, dictionary, src, dst)?,
                (FramePart::Checksum, Some(header)) => self.checksum(&header, src)?,
                (FramePart::End, _) => Some(PrefixEnd::FrameEnd),
                _ => self.frame_header(dictionary, src)?,
            };
            if let Some(end) = stop {
                return Ok(end);
            }
        }
    }

    fn frame_header(&mut self, dictionary: Option<&Dictionary<'_>>, src: &[u8]) -> Result<Option<PrefixEnd>> {
        let header = match FrameHeader::parse(src, self.options.format) {
            Err(error) if error.kind == Kind::Truncated => return Ok(Some(PrefixEnd::InputEnd)),
            header => header?,
        };
        check_dictionary(&header, dictionary)?;
        self.tables.start(dictionary);
        self.read = header.len;
        (self.header, self.state) = (Some(header), FramePart::Block);
        Ok(None)
    }

    /// Decodes the next block if the output has space left, or the block has no content.
    fn block(
        &mut self,
        header: &FrameHeader,
        scratch: &mut Scratch,
        dictionary: Option<&Dictionary<'_>>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<Option<PrefixEnd>> {
        let at = self.read + BlockHeader::LEN;
        let Some(bytes) = src.get(self.read..at) else { return Ok(Some(PrefixEnd::InputEnd)) };
        let block = BlockHeader::parse(bytes.try_into().expect("three bytes"), header.block_max())
            .map_err(|e| e.shifted(self.read as u64))?;
        let free = dst.len() - self.written;
        let is_empty = block.kind != BlockType::Compressed && block.size == 0;
        if free == 0 && !is_empty {
            return Ok(Some(PrefixEnd::Full));
        }
        let end = src.len().min(at + block.stored());
        let is_cut_off = end < at + block.stored();
        if is_cut_off && block.kind != BlockType::Raw {
            return Ok(Some(PrefixEnd::InputEnd));
        }
        let job = Job { kind: block.kind, src: &src[..end], at, size: block.size, max: header.block_max() };
        let may_fit = match block.kind {
            BlockType::Raw => end - at <= free,
            BlockType::Rle => block.size <= free,
            BlockType::Compressed => {
                // Without a content size, guess that the content is at least as large as the stored
                // bytes, as it nearly always is.
                let left =
                    header.content_size.map_or(block.size as u64, |size| size.saturating_sub(self.total));
                free >= job.max || left <= free as u64
            }
        };
        if !(may_fit
            && self.decode_in_place(job, scratch, dictionary, dst).map_err(|e| e.shifted(at as u64))?)
        {
            self.decode_aside(job, scratch, dictionary, dst).map_err(|e| e.shifted(at as u64))?;
        }
        // The available bytes of a raw block that is cut off are content; no header follows it.
        self.read = end;
        if block.last && !is_cut_off {
            self.state = FramePart::Checksum;
        }
        Ok(None)
    }

    /// Decodes a block to its place in the output. Returns false if it does not fit.
    fn decode_in_place(
        &mut self,
        job: Job<'_>,
        scratch: &mut Scratch,
        dictionary: Option<&Dictionary<'_>>,
        dst: &mut [u8],
    ) -> Result<bool> {
        let content = dictionary.map_or(HistorySegment::default(), Dictionary::piece);
        let history = [content, HistorySegment::default()];
        let mut out = Output { buf: &mut *dst, start: 0, at: self.written, history };
        match job.run(&mut self.tables, scratch, dictionary, &self.options, &mut out) {
            // If the block is decoded again, it builds the same tables again.
            Err(error) if error.kind == Kind::OutputTooSmall => return Ok(false),
            result => result?,
        }
        let end = out.at;
        self.count(&dst[self.written..end]);
        self.written = end;
        Ok(true)
    }

    /// Decodes a block into `spare`, and writes what fits.
    fn decode_aside(
        &mut self,
        job: Job<'_>,
        scratch: &mut Scratch,
        dictionary: Option<&Dictionary<'_>>,
        dst: &mut [u8],
    ) -> Result<()> {
        if self.spare.is_empty() {
            let no_memory = |_| Error::new(Kind::Limit, 0, "there is no memory for a block");
            self.spare.try_reserve_exact(BLOCK_MAX + SLACK).map_err(no_memory)?;
            self.spare.resize(BLOCK_MAX + SLACK, 0);
        }
        let mut spare = core::mem::take(&mut self.spare);
        let content = dictionary.map_or(HistorySegment::default(), Dictionary::piece);
        let history = [HistorySegment::new(dst, self.written), content];
        let mut out = Output { buf: &mut spare, start: 0, at: 0, history };
        let result = job.run(&mut self.tables, scratch, dictionary, &self.options, &mut out);
        let len = out.at;
        self.count(&spare[..len]);
        self.spare = spare;
        result?;
        self.pending = 0..len;
        self.write_pending(dst);
        Ok(())
    }

    fn write_pending(&mut self, dst: &mut [u8]) {
        let len = self.pending.len().min(dst.len() - self.written);
        let from = self.pending.start;
        dst[self.written..self.written + len].copy_from_slice(&self.spare[from..from + len]);
        self.written += len;
        self.pending.start += len;
    }

    /// Adds decoded bytes to the total and the checksum.
    fn count(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        if self.options.verify_checksum && self.header.is_some_and(|header| header.checksum) {
            self.hash.write(bytes);
        }
    }

    /// Checks the content's size and checksum.
    fn checksum(&mut self, header: &FrameHeader, src: &[u8]) -> Result<Option<PrefixEnd>> {
        let corrupt = |what| Error::new(Kind::Corrupt, self.read as u64, what);
        if header.content_size.is_some_and(|size| size != self.total) {
            return Err(corrupt("the content does not have the size that its frame states"));
        }
        if header.checksum {
            let Some(stored) = src.get(self.read..self.read + 4) else {
                return Ok(Some(PrefixEnd::InputEnd));
            };
            if self.options.verify_checksum && stored != (self.hash.finish() as u32).to_le_bytes() {
                return Err(corrupt("the content does not match its checksum"));
            }
            self.read += 4;
        }
        self.state = FramePart::End;
        Ok(None)
    }
}

/// A block to decode.
#[derive(Clone, Copy)]
struct Job<'a> {
    kind: BlockType,
    /// The input up to the block's end.
    src: &'a [u8],
    at: usize,
    /// Size of the block in bytes; for an RLE block, the number of bytes that it regenerates.
    size: usize,
    /// Largest number of bytes that the block may regenerate.
    max: usize,
}

impl Job<'_> {
    fn run(
        self,
        tables: &mut FrameTables,
        scratch: &mut Scratch,
        dictionary: Option<&Dictionary<'_>>,
        options: &Options,
        out: &mut Output<'_>,
    ) -> Result<()> {
        match self.kind {
            BlockType::Raw => out.append(&self.src[self.at..]),
            BlockType::Rle => out.fill(self.src[self.at], self.size),
            BlockType::Compressed => {
                BlockDecoder::new(scratch.kernels, &mut scratch.block, tables, dictionary, options)
                    .decode(self.src, self.at, self.max, out)
            }
        }
    }
}
