//! [`StreamDecoder`]: streams in pieces.

use linerate_core::{Error, Kind, Result};

use crate::block_decoder::{BlockDecoder, NO_STOP, Progress, Status};
use crate::buffer_decoder::{check_dictionary, too_long};
use crate::container::{Container, Part};
use crate::gzip_header::GzipHeader;
use crate::options::{Format, Options};
use crate::scratch::Scratch;
#[cfg(feature = "std")]
use crate::window::History;
use crate::window::Window;

/// Decodes a stream of any length in pieces of any size. Between calls it keeps the window and some 300 bytes; decode
/// tables are in the [`Scratch`] of the thread.
///
/// ```
/// use linerate_inflate::{Format, Options, Scratch, Status, StreamDecoder};
///
/// let mut scratch = Scratch::new(); // per thread
/// let mut decoder = StreamDecoder::new(Options::new(Format::Deflate))?;
/// let mut out = [0; 10];
/// let part = decoder.decode(&mut scratch, &[0x4b, 0x4c], &mut out)?;
/// assert_eq!((part.read, part.status), (2, Status::NeedInput));
/// let rest = decoder.decode(&mut scratch, &[0x4a, 6, 0], &mut out[part.written..])?;
/// assert_eq!(rest.status, Status::End);
/// assert_eq!(&out[..part.written + rest.written], b"abc");
/// # Ok::<(), linerate_inflate::Error>(())
/// ```
pub struct StreamDecoder<'m> {
    options: Options,
    window: Window<'m>,
    blocks: BlockDecoder,
    container: Container,
    /// Compressed bytes before this call.
    position: u64,
    /// Bytes that the output may still have.
    output_left: u64,
    /// The error of the stream, which every later call returns.
    failed: Option<Error>,
}

/// The end of the data of a stream or member.
#[cfg(feature = "std")]
#[derive(Clone, Copy)]
pub(crate) struct DataEnd {
    pub(crate) at: u64,
    /// Checksum of the content, and its length modulo 2^32.
    pub(crate) check: u32,
    pub(crate) len: u32,
}

impl<'m> StreamDecoder<'m> {
    /// A decoder whose window is on the heap, and grows with the output.
    ///
    /// # Errors
    /// [`Kind::BadArgument`] for other window bits than 8 to 15.
    #[cfg(feature = "alloc")]
    pub fn new(options: Options) -> Result<Self> {
        Ok(Self::with_window(Window::new(options.window_bits)?, options))
    }

    /// A decoder with a window in memory of the caller; [`Options::window_bits`] are those of its length.
    ///
    /// # Errors
    /// [`Kind::BadArgument`] unless the length is a power of two from 256 bytes to 32 KiB.
    pub fn in_memory(memory: &'m mut [u8], options: Options) -> Result<Self> {
        let window = Window::in_memory(memory)?;
        let bits = window.size().trailing_zeros() as u8;
        Ok(Self::with_window(window, options.window_bits(bits)))
    }

    /// A decoder of gzip before the block at `bit` of the stream, in whose first byte, `first`, are bits of the block before.
    /// After a `window` the rest of the member is not verified; without one it is the first block, and it is.
    ///
    /// # Errors
    /// [`Kind::Limit`] if memory runs out.
    #[cfg(feature = "std")]
    pub(crate) fn before_block(options: Options, bit: u64, first: u8, window: Option<&[u8]>) -> Result<Self> {
        let mut decoder = Self::with_window(Window::new(options.window_bits)?, options);
        decoder.container.begin_data();
        if let Some(window) = window {
            decoder.window.push(window)?;
            decoder.container.stop_verifying();
        }
        decoder.position = bit.div_ceil(8);
        if let used @ 1.. = (bit % 8) as u8 {
            decoder.blocks = BlockDecoder::within_byte(first, 8 - used);
        }
        Ok(decoder)
    }

    fn with_window(window: Window<'m>, options: Options) -> Self {
        StreamDecoder {
            options,
            window,
            blocks: BlockDecoder::new(),
            container: Container::new(&options),
            position: 0,
            output_left: options.output_limit,
            failed: None,
        }
    }

    /// Begins a new stream. The window keeps its memory.
    pub fn reset(&mut self) {
        self.next_member();
        (self.position, self.output_left, self.failed) = (0, self.options.output_limit, None);
    }

    /// Sets how many bytes the output may still have, in place of what is left of [`Options::output_limit`].
    pub fn limit_output(&mut self, bytes: u64) {
        self.output_left = bytes;
    }

    /// After [`Status::End`], continues with the next member: its header follows in the input. Positions and the output limit
    /// go on.
    pub fn next_member(&mut self) {
        self.window.clear();
        self.blocks.restart();
        self.container = Container::new(&self.options);
    }

    /// After [`Status::End`] of deflate data without a container, continues with more of it, whose matches reach back into
    /// the window, as in websocket messages that end with a final block (RFC 7692, section 7.2.3.4).
    pub fn continue_data(&mut self) {
        self.blocks.continue_data();
        self.container = Container::new(&self.options);
    }

    /// Sets the preset dictionary: after [`Status::NeedDictionary`], or before deflate data without a container.
    ///
    /// # Errors
    /// [`Kind::BadArgument`] for a dictionary with another Adler-32 than the header states, and where none is expected;
    /// [`Kind::Limit`] if memory runs out. Nothing has changed.
    pub fn set_dictionary(&mut self, dictionary: &[u8]) -> Result<()> {
        match self.container.part {
            Part::Dictionary => check_dictionary(dictionary, self.container.dictionary_id())?,
            Part::Data if self.options.format == Format::Deflate => {}
            _ => {
                return Err(Error::new(
                    Kind::BadArgument,
                    self.position,
                    "no preset dictionary is expected here",
                ));
            }
        }
        self.window.push(dictionary)?;
        self.container.begin_data();
        Ok(())
    }

    /// The Adler-32 of the preset dictionary that a zlib header has asked for, after [`Status::NeedDictionary`].
    pub fn dictionary_id(&self) -> Option<u32> {
        (self.container.part == Part::Dictionary).then(|| self.container.dictionary_id())
    }

    /// Whether the format is gzip: stated, or found.
    pub fn is_gzip(&self) -> bool {
        self.container.is_gzip()
    }

    /// Compressed bytes consumed so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Whether the position is directly after an empty stored block, with which encoders flush.
    pub fn is_flushed(&self) -> bool {
        self.container.part == Part::Data && self.blocks.is_flushed()
    }

    /// The number of deflate blocks that have begun since the stream did, modulo 2^32. [`continue_data`](Self::continue_data)
    /// counts on. A block costs time even if it is empty, so a decoder of data from strangers limits them.
    pub fn blocks(&self) -> u32 {
        self.blocks.blocks()
    }

    /// Bytes held between calls, the window included.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.window.memory()
    }

    /// Reads the header of a stream or member, or what there is of it, and keeps the fields of a gzip header. Until it is whole the
    /// status is [`Status::NeedInput`], then [`Status::NeedOutput`]: [`decode`](Self::decode) continues, which otherwise reads
    /// the header without keeping anything. [`Status::NeedDictionary`] as there.
    ///
    /// # Errors
    /// Those of [`decode`](Self::decode); [`Kind::BadArgument`] after the content, where a trailer is read.
    ///
    /// ```
    /// use linerate_inflate::{Format, GzipHeader, Options, Status, StreamDecoder};
    ///
    /// let mut memory = [0; 256];
    /// let mut header = GzipHeader::in_memory(&mut memory);
    /// let mut decoder = StreamDecoder::new(Options::new(Format::Gzip))?;
    /// for piece in [&b"\x1f\x8b\x08\x08\x80\x11\x64\x4a\0\x03not"[..], b"es.txt\0\x4b\x4c\x4a"] {
    ///     let progress = decoder.read_header(&mut header, piece)?;
    ///     assert_eq!(progress.status == Status::NeedOutput, progress.read < piece.len());
    /// }
    /// assert_eq!(header.name(), Some(&b"notes.txt"[..]));
    /// # Ok::<(), linerate_inflate::Error>(())
    /// ```
    pub fn read_header(&mut self, header: &mut GzipHeader<'_>, src: &[u8]) -> Result<Progress> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if matches!(self.container.part, Part::Adler | Part::Crc | Part::Len | Part::End) {
            return Err(Error::new(Kind::BadArgument, self.position, "no header is expected here"));
        }
        let result = self.container.read_parts(src, |part, bytes| header.push(part, bytes));
        let read = self.passed(result)?;
        let status = match self.container.part {
            Part::Data => Status::NeedOutput,
            Part::Dictionary => Status::NeedDictionary,
            _ => Status::NeedInput,
        };
        Ok(Progress { read, written: 0, status })
    }

    /// Decodes from `src` to `dst`, until one of them or the stream ends. After [`Status::End`] it does nothing more.
    ///
    /// # Errors
    /// With offsets that count compressed bytes from the beginning of the stream: [`Kind::Corrupt`]; [`Kind::Limit`] for
    /// output or a window beyond the limits, and if memory runs out. Output that precedes the error is returned first,
    /// with [`Status::NeedOutput`]; then every call fails.
    pub fn decode(&mut self, scratch: &mut Scratch, src: &[u8], dst: &mut [u8]) -> Result<Progress> {
        let data = self.decode_until(scratch, src, dst, NO_STOP)?;
        if data.status != Status::NeedInput || self.container.part == Part::Data {
            return Ok(data);
        }
        match self.read_container(&src[data.read..]) {
            Ok(n) => Ok(Progress { read: data.read + n, status: self.status(), ..data }),
            Err(_) if data.written > 0 => Ok(Progress { status: Status::NeedOutput, ..data }),
            Err(error) => Err(error),
        }
    }

    /// As [`decode`](Self::decode), up to the first block that begins at bit `stop` of `src` or after it, and no further than the end
    /// of the data: the status is then [`Status::NeedInput`], unless nothing follows.
    pub(crate) fn decode_until(
        &mut self,
        scratch: &mut Scratch,
        src: &[u8],
        dst: &mut [u8],
        stop: i64,
    ) -> Result<Progress> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let mut read = self.read_container(src)?;
        let mut written = 0;
        if self.container.part == Part::Data {
            let most = usize::try_from(self.output_left).unwrap_or(usize::MAX).min(dst.len());
            let is_limited = most < dst.len();
            let (history, max_distance) = (self.window.history(), self.window.size());
            let stop = stop.saturating_sub(8 * read as i64);
            let (data, out) = (&src[read..], &mut dst[..most]);
            let (result, n) = self.blocks.decode_after(scratch, history, max_distance, data, out, 0, stop);
            written = n;
            self.output_left -= n as u64;
            self.container.update(&dst[..n]);
            let position = self.position;
            let pushed = self.window.push(&dst[..n]).map_err(|e| e.shifted(position));
            // Bytes of earlier calls that the decoder has not used: offsets do not depend on how the input is cut.
            let unused = u64::from(self.blocks.ahead() / 8);
            let exact =
                |e: Error| Error::new(e.kind, (position + e.offset).saturating_sub(unused), e.message);
            let result = result.map_err(exact).and_then(|progress| match progress.status {
                Status::NeedOutput if is_limited => Err(exact(too_long(progress.read as u64))),
                _ => pushed.map(|()| progress),
            });
            match result {
                Ok(progress) => {
                    read += progress.read;
                    self.position += progress.read as u64;
                    if progress.status != Status::End {
                        return Ok(Progress { read, written, status: progress.status });
                    }
                }
                Err(error) => {
                    self.failed = Some(error);
                    let progress = Progress { read, written, status: Status::NeedOutput };
                    return if written > 0 { Ok(progress) } else { Err(error) };
                }
            }
            self.container.end_data(self.options.format);
        }
        Ok(Progress { read, written, status: self.status() })
    }

    /// The status outside of the data.
    fn status(&self) -> Status {
        match self.container.part {
            Part::End => Status::End,
            Part::Dictionary => Status::NeedDictionary,
            _ => Status::NeedInput,
        }
    }

    /// Begins with the data: the caller has read the header.
    #[cfg(feature = "std")]
    pub(crate) fn skip_header(&mut self) {
        self.container.begin_data();
    }

    /// Goes on at the end of gzip data that was decoded elsewhere, before its trailer.
    #[cfg(feature = "std")]
    pub(crate) fn end_data(&mut self, end: DataEnd) {
        self.next_member();
        self.position = end.at;
        self.container.end_data_of(end.check, end.len);
    }

    /// Counts bytes between two members, which the caller has skipped.
    #[cfg(feature = "std")]
    pub(crate) fn skip(&mut self, bytes: u64) {
        self.position += bytes;
    }

    /// The end of the data, if the position is there: of what follows it, nothing is read.
    #[cfg(feature = "std")]
    pub(crate) fn data_end(&self) -> Option<DataEnd> {
        let (check, len) = self.container.data_end(self.options.format)?;
        Some(DataEnd { at: self.position, check, len })
    }

    /// Whether the position is in deflate data, not in a header or trailer.
    #[cfg(feature = "std")]
    pub(crate) fn is_in_data(&self) -> bool {
        self.container.part == Part::Data
    }

    /// The bit of the stream where the next block begins, between two blocks.
    #[cfg(feature = "std")]
    pub(crate) fn block_bit(&self) -> Option<u64> {
        let is_before_block = self.container.part == Part::Data && self.blocks.is_before_block();
        is_before_block.then(|| (8 * self.position).saturating_sub(self.blocks.ahead().into()))
    }

    /// A copy of the decoder of blocks.
    #[cfg(feature = "std")]
    pub(crate) fn block_decoder(&self) -> BlockDecoder {
        self.blocks.snapshot()
    }

    /// Bits that were read and belong to what follows.
    #[cfg(feature = "std")]
    pub(crate) fn bits_ahead(&self) -> u64 {
        self.blocks.bits_ahead()
    }

    /// Goes on after data that was decoded elsewhere: `output` in two parts, `read` bytes of input, and `blocks` after them.
    /// Returns whether it could: not for more output than the limit allows.
    #[cfg(feature = "std")]
    pub(crate) fn adopt(
        &mut self,
        blocks: BlockDecoder,
        read: u64,
        output: [&[u8]; 2],
        checks: [u32; 2],
    ) -> Result<bool> {
        let len = (output[0].len() + output[1].len()) as u64;
        if len > self.output_left {
            return Ok(false);
        }
        for (part, check) in output.into_iter().zip(checks) {
            self.window.push(part).map_err(|e| e.shifted(self.position))?;
            self.container.update_by(part.len() as u64, check);
        }
        self.output_left -= len;
        self.position += read;
        let has_ended = blocks.is_at_end();
        self.blocks = blocks;
        if has_ended {
            self.container.end_data(self.options.format);
        }
        Ok(true)
    }

    /// The window.
    #[cfg(feature = "std")]
    pub(crate) fn history(&self) -> History<'_> {
        self.window.history()
    }

    /// As [`Container::check_of`].
    #[cfg(feature = "std")]
    pub(crate) fn check_of(&self) -> fn(&[u8]) -> u32 {
        self.container.check_of()
    }

    /// Reads of a header or a trailer what there is.
    fn read_container(&mut self, src: &[u8]) -> Result<usize> {
        let result = self.container.read(src);
        self.passed(result)
    }

    /// Counts bytes of a header or trailer, or remembers its error.
    fn passed(&mut self, result: Result<usize>) -> Result<usize> {
        match result {
            Ok(n) => {
                self.position += n as u64;
                Ok(n)
            }
            Err(error) => {
                let error = error.shifted(self.position);
                self.failed = Some(error);
                Err(error)
            }
        }
    }
}
