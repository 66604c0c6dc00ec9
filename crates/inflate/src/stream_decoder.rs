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

/// Decodes a stream of any length in pieces of any size. Between calls it keeps the window and at
/// most 400 bytes; the decode tables are in the [`Scratch`] of the thread.
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
    /// Number of compressed bytes consumed.
    position: u64,
    /// Number of bytes of output that the limit still allows.
    output_left: u64,
    /// The error of the stream, which later calls that decode return.
    failed: Option<Error>,
}

/// The end of the data of a stream or member.
#[cfg(feature = "std")]
#[derive(Clone, Copy)]
pub(crate) struct DataEnd {
    /// Offset in the compressed stream.
    pub(crate) at: u64,
    /// Checksum of the content.
    pub(crate) check: u32,
    /// Length of the content, modulo 2^32.
    pub(crate) len: u32,
}

impl<'m> StreamDecoder<'m> {
    /// Creates a decoder whose window is on the heap and grows with the output.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] for other window bits than 8 to 15.
    #[cfg(feature = "alloc")]
    pub fn new(options: Options) -> Result<Self> {
        Ok(Self::with_window(Window::new(options.window_bits)?, options))
    }

    /// Creates a decoder with a window in memory of the caller. The length of the memory replaces
    /// [`Options::window_bits`].
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] unless the length is a power of two from 256 bytes to 32 KiB.
    pub fn in_memory(memory: &'m mut [u8], options: Options) -> Result<Self> {
        let window = Window::in_memory(memory)?;
        let bits = window.size().trailing_zeros() as u8;
        Ok(Self::with_window(window, options.window_bits(bits)))
    }

    /// Creates a decoder of gzip before the block at `bit` of the stream. `first` is the byte with
    /// that bit; its lower bits may belong to the previous block. With a `window` the rest of the
    /// member is not verified. Without one the block is the first of a member, which is verified.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] for other window bits than 8 to 15, and [`Kind::Limit`] if
    /// memory runs out.
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

    /// Sets how many bytes of output may still follow, in place of the rest of
    /// [`Options::output_limit`].
    pub fn limit_output(&mut self, bytes: u64) {
        self.output_left = bytes;
    }

    /// Continues with the next member after [`Status::End`]; its header follows in the input.
    /// Positions and the output limit continue too.
    pub fn next_member(&mut self) {
        self.window.clear();
        self.blocks.restart();
        self.container = Container::new(&self.options);
    }

    /// Continues with more deflate data after [`Status::End`] of deflate data without a container.
    /// Its matches may reach back into the window. Websocket messages that end with a final block
    /// need this (RFC 7692, section 7.2.3.4).
    pub fn continue_data(&mut self) {
        self.blocks.continue_data();
        self.container = Container::new(&self.options);
    }

    /// Sets the preset dictionary, after [`Status::NeedDictionary`] or before a block of deflate
    /// data without a container. There it follows earlier output in the window, so the encoder must
    /// have set it at the same place.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] if the dictionary's Adler-32 is not the one that the header
    /// states, or if no dictionary is expected here, for example in the middle of a block, and
    /// [`Kind::Limit`] if memory runs out. Errors change nothing.
    pub fn set_dictionary(&mut self, dictionary: &[u8]) -> Result<()> {
        match self.container.part {
            Part::Dictionary => check_dictionary(dictionary, self.container.dictionary_id())?,
            // Within a block, bytes added to the window would shift the rest of a match that is
            // only copied in part.
            Part::Data if self.options.format == Format::Deflate && self.blocks.is_before_block() => {}
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

    /// Returns the Adler-32 of the preset dictionary that a zlib header asks for, after
    /// [`Status::NeedDictionary`].
    pub fn dictionary_id(&self) -> Option<u32> {
        (self.container.part == Part::Dictionary).then(|| self.container.dictionary_id())
    }

    /// Returns whether the format is gzip, as stated or detected.
    pub fn is_gzip(&self) -> bool {
        self.container.is_gzip()
    }

    /// Returns the number of compressed bytes consumed so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns whether the position is directly after an empty stored block, with which encoders
    /// flush.
    pub fn is_flushed(&self) -> bool {
        self.container.part == Part::Data && self.blocks.is_flushed()
    }

    /// Returns the number of deflate blocks that have begun since the stream or member began,
    /// modulo 2^32. [`continue_data`](Self::continue_data) does not reset it. Even an empty block
    /// costs time, so limit this number for untrusted data.
    pub fn blocks(&self) -> u32 {
        self.blocks.blocks()
    }

    /// Returns the number of bytes held between calls, including a window on the heap.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.window.memory()
    }

    /// Reads the header of a stream or member, as far as `src` has it, and keeps the fields of a
    /// gzip header. The status is [`Status::NeedInput`] until the header is complete, then
    /// [`Status::NeedOutput`], or [`Status::NeedDictionary`] if a zlib header asks for a
    /// dictionary. Then continue with [`decode`](Self::decode). Called without this, `decode` reads
    /// the header itself and keeps no fields.
    ///
    /// # Errors
    /// Returns the errors of [`decode`](Self::decode), and [`Kind::BadArgument`] after the content,
    /// where no header is expected.
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

    /// Decodes from `src` to `dst` until one of them or the stream ends, or until a dictionary is
    /// needed. After [`Status::End`] it does nothing.
    ///
    /// # Errors
    /// Returns [`Kind::Corrupt`] if the stream is damaged, and [`Kind::Limit`] if the output or the
    /// window exceeds its limit, or memory runs out. Offsets count compressed bytes from the
    /// beginning of the stream. Output that precedes an error is returned first, with
    /// [`Status::NeedOutput`]; then every call fails until [`reset`](Self::reset).
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

    /// Like [`decode`](Self::decode), but stops before the first block that begins at bit `stop` of
    /// `src` or later, and at the end of the data. The status is then [`Status::NeedInput`], or
    /// [`Status::End`] if no trailer follows.
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
            // Subtracts bytes of earlier calls that the decoder has not used, so that offsets do
            // not depend on how the input is divided.
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

    /// Returns the status at a position that is not in deflate data.
    fn status(&self) -> Status {
        match self.container.part {
            Part::End => Status::End,
            Part::Dictionary => Status::NeedDictionary,
            _ => Status::NeedInput,
        }
    }

    /// Begins with the data, because the caller has read the header.
    #[cfg(feature = "std")]
    pub(crate) fn skip_header(&mut self) {
        self.container.begin_data();
    }

    /// Continues before the trailer of gzip data that was decoded elsewhere.
    #[cfg(feature = "std")]
    pub(crate) fn end_data(&mut self, end: DataEnd) {
        self.next_member();
        self.position = end.at;
        self.container.end_data_of(end.check, end.len);
    }

    /// Counts bytes between two members that the caller has skipped.
    #[cfg(feature = "std")]
    pub(crate) fn skip(&mut self, bytes: u64) {
        self.position += bytes;
    }

    /// Returns the end of the data if the position is there and nothing after it has been read.
    #[cfg(feature = "std")]
    pub(crate) fn data_end(&self) -> Option<DataEnd> {
        let (check, len) = self.container.data_end(self.options.format)?;
        Some(DataEnd { at: self.position, check, len })
    }

    /// Returns whether the position is in deflate data rather than in a header or trailer.
    #[cfg(feature = "std")]
    pub(crate) fn is_in_data(&self) -> bool {
        self.container.part == Part::Data
    }

    /// Returns the bit of the stream where the next block begins, if the position is between
    /// blocks.
    #[cfg(feature = "std")]
    pub(crate) fn block_bit(&self) -> Option<u64> {
        let is_before_block = self.container.part == Part::Data && self.blocks.is_before_block();
        is_before_block.then(|| (8 * self.position).saturating_sub(self.blocks.ahead().into()))
    }

    /// Returns a copy of the block decoder.
    #[cfg(feature = "std")]
    pub(crate) fn block_decoder(&self) -> BlockDecoder {
        self.blocks.snapshot()
    }

    /// Returns the bits that were read but belong to elements not decoded yet.
    #[cfg(feature = "std")]
    pub(crate) fn bits_ahead(&self) -> u64 {
        self.blocks.bits_ahead()
    }

    /// Continues after data that was decoded elsewhere: `read` bytes of input that gave `output`,
    /// in two parts with the checksums `checks`. `blocks` is the decoder after them. Returns false,
    /// and changes nothing, if the output exceeds the limit.
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

    /// Returns the content of the window.
    #[cfg(feature = "std")]
    pub(crate) fn history(&self) -> History<'_> {
        self.window.history()
    }

    /// See [`Container::check_of`].
    #[cfg(feature = "std")]
    pub(crate) fn check_of(&self) -> fn(&[u8]) -> u32 {
        self.container.check_of()
    }

    /// Reads as much of a header or trailer as `src` has.
    fn read_container(&mut self, src: &[u8]) -> Result<usize> {
        let result = self.container.read(src);
        self.passed(result)
    }

    /// Counts the bytes of a header or trailer, or keeps its error for later calls.
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
