//! Decodes streams, however the input is split and whatever the size of the output buffer.

use alloc::boxed::Box;
use alloc::collections::TryReserveError;
use alloc::vec::Vec;
use core::hash::Hasher;
use core::ops::Range;

use linerate_core::{Error, Kind, Result};
use twox_hash::XxHash64;

use crate::block::BlockDecoder;
use crate::decoder::check_dictionary;
use crate::dictionary::{Dictionary, Digest};
use crate::frame::{
    BLOCK_MAX, BlockHeader, BlockType, FrameHeader, HEADER_MAX, Header, PartialHeader, parse_partial,
};
use crate::frame_tables::FrameTables;
use crate::options::Options;
use crate::output::{HISTORY_SEGMENTS, HistorySegment, Output};
use crate::scratch::{PAD, Scratch};
use crate::window::Window;

/// Number of bytes that must precede a block in memory. Kernels read up to seven bytes before its
/// bitstreams, and at least two of these belong to the block.
const BEFORE_BLOCK: usize = 5;

/// Number of bytes of the window that are prefetched before and after its end. Most matches of a
/// short message are there.
const PREFETCHED: usize = 512;

/// Returns the non-empty segments of history, latest first. While the dictionary is within the
/// window, the ring has not wrapped, so there are at most two.
fn history<'a>(
    [newer, older]: [HistorySegment<'a>; 2],
    dictionary: HistorySegment<'a>,
) -> [HistorySegment<'a>; HISTORY_SEGMENTS] {
    match (newer.bytes().is_empty(), older.bytes().is_empty()) {
        (false, false) => [newer, older],
        (false, true) => [newer, dictionary],
        (true, false) => [older, dictionary],
        (true, true) => [dictionary, HistorySegment::default()],
    }
}

/// Reason for a call to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// All input is consumed and all its output is written.
    NeedInput,
    /// The output buffer is full, and more output may be pending.
    NeedOutput,
    /// A frame, which may be a skippable one, has ended and all its output is written. Another may
    /// follow.
    FrameEnd,
}

/// Result of [`StreamDecoder::decode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Number of input bytes consumed.
    pub read: usize,
    /// Number of output bytes written.
    pub written: usize,
    /// Reason for the return.
    pub status: Status,
}

/// The part of a skippable frame's content that a call has consumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedPart {
    /// Low four bits of the frame's magic number.
    pub variant: u8,
    /// Range of the part in the input of the call.
    pub range: Range<usize>,
    /// Number of bytes of the content after it; 0 at the end of the frame.
    pub left: usize,
}

/// The part of the format expected next.
#[derive(Clone, Copy, Debug)]
enum StreamPart {
    FrameHeader,
    /// The content of a skippable frame.
    Skip {
        variant: u8,
        left: usize,
    },
    BlockHeader {
        /// Whether the header is that of the frame's first block.
        first: bool,
    },
    Raw {
        left: usize,
        last: bool,
    },
    RleByte {
        size: usize,
        last: bool,
    },
    Rle {
        byte: u8,
        left: usize,
        last: bool,
    },
    Compressed {
        size: usize,
        last: bool,
    },
    Checksum,
}

/// Decodes frames that arrive in pieces. Between calls it keeps only the frame's window, its
/// entropy tables and repeat offsets, and a header or block that has arrived in part.
///
/// The window grows with the content up to the frame's window size, at most
/// [`Options::window_limit`]. Its memory stays for later frames. Blocks are decoded directly into
/// an output buffer with 128 KiB free, which saves a copy.
pub struct StreamDecoder {
    options: Options,
    state: StreamPart,
    header: FrameHeader,
    dictionary: Option<Digest>,
    /// Allocated on first use.
    tables: Option<Box<FrameTables>>,
    window: Window,
    /// Number of bytes at the end of the window that are not written to the caller yet.
    pending: usize,
    /// Number of bytes decoded of the frame.
    total: u64,
    hash: XxHash64,
    /// The header bytes received so far.
    header_bytes: [u8; HEADER_MAX],
    header_bytes_len: usize,
    /// The block bytes received so far, after [`PAD`] bytes; empty if there are none.
    partial_block: Vec<u8>,
    /// Whether the memory for blocks is allocated with a frame and kept for the next one.
    keeps_partial_block: bool,
    /// The part of a skippable frame that the last call consumed.
    skipped: Option<SkippedPart>,
    /// Total number of input bytes consumed.
    consumed: u64,
    /// Input offset of the current header or block.
    part: u64,
    failed: Option<Error>,
}

/// The buffers of a call.
struct Buffers<'a> {
    src: &'a [u8],
    read: usize,
    dst: &'a mut [u8],
    written: usize,
    /// `dst[..in_window]` is in the window already. The bytes from here to `written` are not.
    in_window: usize,
}

impl Buffers<'_> {
    fn input(&self) -> usize {
        self.src.len() - self.read
    }

    fn free(&self) -> usize {
        self.dst.len() - self.written
    }
}

/// Whether a step ends the call.
enum Step {
    Continue,
    Return(Status),
}

const NEED_INPUT: Step = Step::Return(Status::NeedInput);
const NEED_OUTPUT: Step = Step::Return(Status::NeedOutput);

fn no_memory(_: TryReserveError) -> Error {
    Error::new(Kind::Limit, 0, "there is no memory for a block")
}

impl StreamDecoder {
    /// Makes a decoder at the beginning of a frame. Allocates nothing yet.
    pub fn new(options: Options) -> Self {
        let header = FrameHeader {
            len: 0,
            window: 0,
            content_size: None,
            dictionary_id: 0,
            checksum: false,
            single_segment: false,
        };
        StreamDecoder {
            options,
            state: StreamPart::FrameHeader,
            header,
            dictionary: None,
            tables: None,
            window: Window::new(),
            pending: 0,
            total: 0,
            hash: XxHash64::with_seed(0),
            header_bytes: [0; HEADER_MAX],
            header_bytes_len: 0,
            partial_block: Vec::new(),
            keeps_partial_block: false,
            skipped: None,
            consumed: 0,
            part: 0,
            failed: None,
        }
    }

    /// Resets to the beginning of a frame, and keeps the options and the memory of the window and
    /// the tables.
    pub fn reset(&mut self) {
        let (tables, window) = (self.tables.take(), core::mem::replace(&mut self.window, Window::new()));
        let (keeps_partial_block, mut partial_block) =
            (self.keeps_partial_block, core::mem::take(&mut self.partial_block));
        partial_block.clear();
        if !keeps_partial_block {
            partial_block = Vec::new();
        }
        *self =
            StreamDecoder { tables, window, partial_block, keeps_partial_block, ..Self::new(self.options) };
    }

    /// Keeps the memory for a block that arrives in parts. It is allocated with the frame, for the
    /// largest block that the frame may have. This saves an allocation for each block that arrives
    /// in parts, and takes up to 128 KiB more between calls.
    #[must_use]
    pub fn keep_partial_block(self) -> Self {
        StreamDecoder { keeps_partial_block: true, ..self }
    }

    /// Changes the options between two frames.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] within a frame, and after an error.
    pub fn set_options(&mut self, options: Options) -> Result<()> {
        if !self.is_between_frames() {
            return Err(Error::new(Kind::BadArgument, self.consumed, "options cannot change within a frame"));
        }
        self.options = options;
        Ok(())
    }

    /// Returns the number of input bytes consumed so far.
    pub const fn position(&self) -> u64 {
        self.consumed
    }

    /// Returns the content of a skippable frame that the last call has consumed, if any. A call
    /// consumes parts of at most one skippable frame.
    pub const fn skipped(&self) -> Option<&SkippedPart> {
        self.skipped.as_ref()
    }

    /// Returns the options.
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// Returns whether the input may end here: no frame is incomplete, and there was no error.
    pub fn is_between_frames(&self) -> bool {
        matches!(self.state, StreamPart::FrameHeader)
            && self.header_bytes_len == 0
            && self.pending == 0
            && self.failed.is_none()
    }

    /// Returns whether all input has been decoded and written: no header or block is incomplete,
    /// and each frame has its first block. This is true at every flush of the encoder.
    pub fn is_between_blocks(&self) -> bool {
        matches!(self.state, StreamPart::FrameHeader | StreamPart::BlockHeader { first: false })
            && self.header_bytes_len == 0
            && self.pending == 0
            && self.failed.is_none()
    }

    /// Returns the size of the decoder, its window, tables and partial block, in bytes.
    pub fn memory(&self) -> usize {
        let tables = if self.tables.is_some() { size_of::<FrameTables>() } else { 0 };
        size_of::<Self>() + tables + self.window.memory() + self.partial_block.capacity()
    }

    /// Decodes from `src` to `dst` until either is exhausted or a frame ends. All calls within a
    /// frame must pass the same `dictionary`.
    ///
    /// # Errors
    /// Returns [`Kind::Corrupt`] for invalid input, [`Kind::Limit`] for a window above the limit or
    /// failed allocation, [`Kind::BadArgument`] for a frame with another Dictionary_ID or a
    /// dictionary changed within a frame, and [`Kind::Unsupported`] for a window of 4 GiB or more.
    /// Offsets of errors count from the first input byte of the decoder. Output decoded before the
    /// error is returned first; the next call, and every one until [`reset`](Self::reset), returns
    /// the error. This does not hold for the error of a dictionary changed within a frame.
    pub fn decode(
        &mut self,
        scratch: &mut Scratch,
        dictionary: Option<&Dictionary<'_>>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<Progress> {
        if let Some(error) = self.failed {
            if self.pending > 0 {
                let written = self.pending.min(dst.len());
                self.window.copy_to(self.pending, &mut dst[..written]);
                self.pending -= written;
                return Ok(Progress { read: 0, written, status: Status::NeedOutput });
            }
            return Err(error);
        }
        let inside = !matches!(self.state, StreamPart::FrameHeader | StreamPart::Skip { .. });
        if inside && self.dictionary != dictionary.map(Dictionary::digest) {
            return Err(Error::new(
                Kind::BadArgument,
                self.consumed,
                "the dictionary was changed within a frame",
            ));
        }
        self.skipped = None;
        self.prefetch();
        let mut io = Buffers { src, read: 0, dst, written: 0, in_window: 0 };
        let result = self.run(scratch, dictionary, &mut io);
        self.end_call(result, io)
    }

    /// Prefetches memory that the next block needs, which is cold if a thread serves many streams
    /// in turn: the newest bytes of the window, the place for the output, and the tables that every
    /// block changes.
    fn prefetch(&self) {
        if let Some(tables) = &self.tables {
            tables.prefetch();
            self.window.prefetch(PREFETCHED);
        }
    }

    /// Ends a call. Keeps its error, which follows the output before it.
    fn end_call(&mut self, result: Result<Status>, mut io: Buffers<'_>) -> Result<Progress> {
        let result = result.and_then(|status| self.update_window(&mut io).map(|()| status));
        let status = match result {
            Ok(status) => status,
            Err(error) => {
                self.failed = Some(error);
                if io.written == 0 && self.pending == 0 {
                    return Err(error);
                }
                Status::NeedOutput
            }
        };
        Ok(Progress { read: io.read, written: io.written, status })
    }

    /// Returns whether there was an error, which every later call returns.
    #[cfg(feature = "std")]
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Takes a compressed block of a frame without a dictionary. The block has `len` bytes, header
    /// included. `execute` gets the tables before the block, the largest number of bytes that it
    /// may regenerate, and the output. It appends the content and updates the tables to those after
    /// the block, or leaves the tables unchanged and returns false. In that case this returns
    /// `None`, and [`decode`](Self::decode) takes the block. If there is pending output, this only
    /// writes it.
    #[cfg(feature = "std")]
    pub(crate) fn take_block(
        &mut self,
        scratch: &mut Scratch,
        (len, last): (usize, bool),
        dst: &mut [u8],
        execute: impl FnOnce(&mut FrameTables, usize, &mut Output<'_>) -> bool,
    ) -> Option<Result<Progress>> {
        if self.failed.is_some() || self.header_bytes_len > 0 {
            return None;
        }
        let mut io = Buffers { src: &[], read: 0, dst, written: 0, in_window: 0 };
        if self.pending > 0 {
            let result = self.run(scratch, None, &mut io);
            return Some(self.end_call(result, io));
        }
        let StreamPart::BlockHeader { .. } = self.state else { return None };
        let mut is_executed = false;
        let result = self.append(&mut scratch.output, None, &mut io, |tables, max, out| {
            is_executed = execute(tables, max, out);
            // The user never sees this error: it makes this function return `None`.
            if is_executed { Ok(()) } else { Err(Error::corrupt("a block is not executed")) }
        });
        if !is_executed {
            return None;
        }
        self.part = self.consumed + BlockHeader::LEN as u64;
        self.consumed += len as u64;
        let result = result.and_then(|()| self.end_block(last)).map_err(|e| e.shifted(self.part));
        let result = result.and_then(|_| self.run(scratch, None, &mut io));
        Some(self.end_call(result, io).map(|progress| Progress { read: len, ..progress }))
    }

    fn run(
        &mut self,
        scratch: &mut Scratch,
        dictionary: Option<&Dictionary<'_>>,
        io: &mut Buffers<'_>,
    ) -> Result<Status> {
        loop {
            let step = match self.state {
                _ if self.pending > 0 => Ok(self.flush_pending(io)),
                StreamPart::FrameHeader => self.frame_header(dictionary, io),
                StreamPart::Skip { variant, left } => Ok(self.skip(variant, left, io)),
                StreamPart::BlockHeader { .. } => self.block_header(io),
                StreamPart::Raw { left, last } => self.raw(left, last, io),
                StreamPart::RleByte { size, last } => self.rle_byte(size, last, io),
                StreamPart::Rle { byte, left, last } => self.rle(byte, left, last, io),
                StreamPart::Compressed { size, last } => self.compressed(size, last, scratch, dictionary, io),
                StreamPart::Checksum => self.checksum(io),
            }
            .map_err(|e| e.shifted(self.part))?;
            if let Step::Return(status) = step {
                return Ok(status);
            }
        }
    }

    /// Buffers input until the header has `count` bytes. Returns whether it has them.
    fn read_header_bytes(&mut self, count: usize, io: &mut Buffers<'_>) -> bool {
        if self.header_bytes_len == 0 {
            self.part = self.consumed;
        }
        let n = (count - self.header_bytes_len).min(io.input());
        if n == 0 {
            return false;
        }
        self.header_bytes[self.header_bytes_len..self.header_bytes_len + n]
            .copy_from_slice(&io.src[io.read..io.read + n]);
        self.header_bytes_len += n;
        self.advance(n, io);
        self.header_bytes_len == count
    }

    fn advance(&mut self, count: usize, io: &mut Buffers<'_>) {
        io.read += count;
        self.consumed += count as u64;
    }

    fn frame_header(&mut self, dictionary: Option<&Dictionary<'_>>, io: &mut Buffers<'_>) -> Result<Step> {
        match parse_partial(&self.header_bytes[..self.header_bytes_len], self.options.format)? {
            PartialHeader::Needs(count) => {
                if self.read_header_bytes(count, io) {
                    return Ok(Step::Continue);
                }
                // A wrong magic number is an error at its first wrong byte.
                parse_partial(&self.header_bytes[..self.header_bytes_len], self.options.format)?;
                Ok(NEED_INPUT)
            }
            PartialHeader::Complete(Header::Skippable { variant, len }) => {
                self.header_bytes_len = 0;
                self.state = StreamPart::Skip { variant, left: len as usize };
                Ok(Step::Continue)
            }
            PartialHeader::Complete(Header::Frame(header)) => {
                self.header_bytes_len = 0;
                check_dictionary(&header, dictionary)?;
                if header.window > self.options.window_limit {
                    return Err(Error::new(Kind::Limit, 0, "the frame's window is above the limit"));
                }
                let size = header.content_size.map_or(header.window, |size| size.min(header.window));
                let size = usize::try_from(size)
                    .map_err(|_| Error::new(Kind::Limit, 0, "there is no memory for the window"))?;
                self.window.start(size);
                self.header = header;
                self.dictionary = dictionary.map(Dictionary::digest);
                if self.keeps_partial_block {
                    self.reserve_block()?;
                }
                if let Some(tables) = &mut self.tables {
                    tables.start(dictionary);
                }
                self.total = 0;
                self.hash = XxHash64::with_seed(0);
                io.in_window = io.written;
                self.state = StreamPart::BlockHeader { first: true };
                Ok(Step::Continue)
            }
        }
    }

    /// Allocates the memory that blocks of the frame need beside the window.
    fn reserve_block(&mut self) -> Result<()> {
        self.partial_block.try_reserve_exact(PAD + self.header.block_max()).map_err(no_memory)?;
        self.tables.get_or_insert_with(|| Box::new(FrameTables::new()));
        Ok(())
    }

    fn skip(&mut self, variant: u8, left: usize, io: &mut Buffers<'_>) -> Step {
        let n = left.min(io.input());
        self.skipped = Some(SkippedPart { variant, range: io.read..io.read + n, left: left - n });
        self.advance(n, io);
        if n < left {
            self.state = StreamPart::Skip { variant, left: left - n };
            return NEED_INPUT;
        }
        self.state = StreamPart::FrameHeader;
        Step::Return(Status::FrameEnd)
    }

    fn block_header(&mut self, io: &mut Buffers<'_>) -> Result<Step> {
        if !self.read_header_bytes(BlockHeader::LEN, io) {
            return Ok(NEED_INPUT);
        }
        self.header_bytes_len = 0;
        let bytes = [self.header_bytes[0], self.header_bytes[1], self.header_bytes[2]];
        let BlockHeader { last, kind, size } = BlockHeader::parse(bytes, self.header.block_max())?;
        if kind != BlockType::Compressed && size > self.block_limit() {
            return Err(Error::corrupt("the content is larger than its frame states"));
        }
        self.state = match kind {
            BlockType::Raw => StreamPart::Raw { left: size, last },
            BlockType::Rle => StreamPart::RleByte { size, last },
            BlockType::Compressed => StreamPart::Compressed { size, last },
        };
        self.part = self.consumed;
        Ok(Step::Continue)
    }

    /// Largest number of bytes that the next block may regenerate.
    fn block_limit(&self) -> usize {
        let left = self.header.content_size.map_or(u64::MAX, |size| size - self.total);
        left.min(self.header.block_max() as u64) as usize
    }

    fn end_block(&mut self, last: bool) -> Result<Step> {
        self.state = StreamPart::BlockHeader { first: false };
        if !last {
            return Ok(Step::Continue);
        }
        if self.header.content_size.is_some_and(|size| size != self.total) {
            return Err(Error::corrupt("the content does not have the size that its frame states"));
        }
        self.state = StreamPart::Checksum;
        Ok(Step::Continue)
    }

    fn checksum(&mut self, io: &mut Buffers<'_>) -> Result<Step> {
        if self.header.checksum {
            if !self.read_header_bytes(4, io) {
                return Ok(NEED_INPUT);
            }
            self.header_bytes_len = 0;
            if self.options.verify_checksum
                && self.header_bytes[..4] != (self.hash.finish() as u32).to_le_bytes()
            {
                return Err(Error::corrupt("the content does not match its checksum"));
            }
        }
        io.in_window = io.written;
        self.window.clear();
        self.state = StreamPart::FrameHeader;
        Ok(Step::Return(Status::FrameEnd))
    }

    /// Adds decoded bytes to the total and the checksum.
    fn count(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        if self.header.checksum && self.options.verify_checksum {
            self.hash.write(bytes);
        }
    }

    /// Appends to the window the output that was written to the caller's buffer.
    fn update_window(&mut self, io: &mut Buffers<'_>) -> Result<()> {
        let bytes = &io.dst[io.in_window..io.written];
        io.in_window = io.written;
        self.window.push(bytes)
    }

    /// Writes pending output.
    fn flush_pending(&mut self, io: &mut Buffers<'_>) -> Step {
        let n = self.pending.min(io.free());
        self.window.copy_to(self.pending, &mut io.dst[io.written..io.written + n]);
        self.pending -= n;
        io.written += n;
        io.in_window = io.written;
        if self.pending > 0 { NEED_OUTPUT } else { Step::Continue }
    }

    fn raw(&mut self, left: usize, last: bool, io: &mut Buffers<'_>) -> Result<Step> {
        let n = left.min(io.input()).min(io.free());
        let to = io.written + n;
        io.dst[io.written..to].copy_from_slice(&io.src[io.read..io.read + n]);
        self.count(&io.dst[io.written..to]);
        io.written = to;
        self.advance(n, io);
        self.state = StreamPart::Raw { left: left - n, last };
        if n == left {
            self.end_block(last)
        } else if io.input() == 0 {
            Ok(NEED_INPUT)
        } else {
            Ok(NEED_OUTPUT)
        }
    }

    fn rle_byte(&mut self, size: usize, last: bool, io: &mut Buffers<'_>) -> Result<Step> {
        if !self.read_header_bytes(1, io) {
            return Ok(NEED_INPUT);
        }
        self.header_bytes_len = 0;
        self.state = StreamPart::Rle { byte: self.header_bytes[0], left: size, last };
        Ok(Step::Continue)
    }

    fn rle(&mut self, byte: u8, left: usize, last: bool, io: &mut Buffers<'_>) -> Result<Step> {
        let n = left.min(io.free());
        let to = io.written + n;
        io.dst[io.written..to].fill(byte);
        self.count(&io.dst[io.written..to]);
        io.written = to;
        self.state = StreamPart::Rle { byte, left: left - n, last };
        if n == left { self.end_block(last) } else { Ok(NEED_OUTPUT) }
    }

    /// Decodes a compressed block once it is complete. Offsets of errors are positions in the
    /// block.
    fn compressed(
        &mut self,
        size: usize,
        last: bool,
        scratch: &mut Scratch,
        dictionary: Option<&Dictionary<'_>>,
        io: &mut Buffers<'_>,
    ) -> Result<Step> {
        let is_whole = self.partial_block.is_empty() && io.input() >= size;
        if is_whole && io.read >= BEFORE_BLOCK {
            self.block(io.src, io.read, size, scratch, dictionary, io)?;
            self.advance(size, io);
        } else if is_whole && PAD + size <= scratch.first_block.len() {
            let mut first_block = core::mem::take(&mut scratch.first_block);
            first_block[PAD..PAD + size].copy_from_slice(&io.src[io.read..io.read + size]);
            let result = self.block(&first_block, PAD, size, scratch, dictionary, io);
            scratch.first_block = first_block;
            result?;
            self.advance(size, io);
        } else {
            if !self.buffer_block(size, io)? {
                return Ok(NEED_INPUT);
            }
            let partial_block = core::mem::take(&mut self.partial_block);
            let result = self.block(&partial_block, PAD, size, scratch, dictionary, io);
            self.partial_block = partial_block;
            result?;
            self.partial_block.clear();
            if !self.keeps_partial_block {
                // Free the memory, because it may be long until a block is split again.
                self.partial_block.shrink_to(0);
            }
        }
        self.end_block(last)
    }

    /// Buffers input until the block has `size` bytes. Returns whether it has them.
    fn buffer_block(&mut self, size: usize, io: &mut Buffers<'_>) -> Result<bool> {
        if self.partial_block.is_empty() {
            self.partial_block.try_reserve_exact(PAD + size.min(io.input().max(64))).map_err(no_memory)?;
            self.partial_block.resize(PAD, 0);
        }
        let have = self.partial_block.len() - PAD;
        let n = (size - have).min(io.input());
        self.partial_block.try_reserve(n).map_err(no_memory)?;
        self.partial_block.extend_from_slice(&io.src[io.read..io.read + n]);
        self.advance(n, io);
        Ok(have + n == size)
    }

    /// Decodes the block `src[at..at + size]`.
    fn block(
        &mut self,
        src: &[u8],
        at: usize,
        size: usize,
        scratch: &mut Scratch,
        dictionary: Option<&Dictionary<'_>>,
        io: &mut Buffers<'_>,
    ) -> Result<()> {
        let (Scratch { kernels, block: buffers, output, .. }, options) = (scratch, self.options);
        self.append(output, dictionary, io, |tables, max, out| {
            let mut block = BlockDecoder::new(*kernels, buffers, tables, dictionary, &options);
            block.decode(&src[..at + size], at, max, out)
        })
    }

    /// Appends a block by `decode`, which gets the tables, the largest number of bytes that the
    /// block may regenerate, and the output. The output is the caller's buffer if that is certainly
    /// large enough, else `output`.
    fn append(
        &mut self,
        output: &mut [u8],
        dictionary: Option<&Dictionary<'_>>,
        io: &mut Buffers<'_>,
        decode: impl FnOnce(&mut FrameTables, usize, &mut Output<'_>) -> Result<()>,
    ) -> Result<()> {
        let max = self.block_limit();
        let tables = self.tables.get_or_insert_with(|| {
            let mut tables = Box::new(FrameTables::new());
            tables.start(dictionary);
            tables
        });
        // The dictionary leaves the window once more content than the window size has been decoded.
        let content = match dictionary {
            Some(dictionary) if self.total <= self.header.window => dictionary.piece(),
            _ => HistorySegment::default(),
        };
        let reach = self.header.window.min(usize::MAX as u64) as usize;
        if io.free() >= max {
            let start = io.in_window.max(io.written.saturating_sub(reach));
            let before = history(self.window.last(reach - (io.written - start)), content);
            let mut out = Output { buf: io.dst, start, at: io.written, history: before };
            decode(tables, max, &mut out)?;
            let (from, to) = (io.written, out.at);
            io.written = to;
            let bytes = &io.dst[from..to];
            self.total += bytes.len() as u64;
            if self.header.checksum && self.options.verify_checksum {
                self.hash.write(bytes);
            }
            return Ok(());
        }
        self.window.push(&io.dst[io.in_window..io.written])?;
        let before = history(self.window.last(reach), content);
        debug_assert!(output.len() >= BLOCK_MAX);
        let mut out = Output { buf: &mut *output, start: 0, at: 0, history: before };
        decode(tables, max, &mut out)?;
        let len = out.at;
        let bytes = &output[..len];
        self.count(bytes);
        self.window.push(bytes)?;
        let n = len.min(io.free());
        io.dst[io.written..io.written + n].copy_from_slice(&bytes[..n]);
        io.written += n;
        io.in_window = io.written;
        self.pending = len - n;
        Ok(())
    }
}
