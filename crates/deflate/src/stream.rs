//! A compressed stream: its 16-byte state, and the calls on it.

use linerate_core::{Error, Kind, Result};

use crate::block::{self, Call};
use crate::checksum::{ADLER32_START, CRC32_START, adler32, crc32};
use crate::coding::bits::BitWriter;
use crate::{Format, Level, ScratchMut};

/// Position of a stream in its container, between calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// The container's header has not been written yet.
    Header,
    /// The header has been written, and more blocks may follow.
    Open,
    /// The final block has been written. Only padding and the trailer may follow.
    Last,
    /// The trailer has been written.
    Done,
}

/// The state of a [`Stream`], for callers that keep it in a layout of their own, such as another
/// library's stream descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamState {
    /// Checksum of the input so far: see [`Stream::checksum`].
    pub checksum: u32,
    /// Number of bytes of input so far: see [`Stream::total_in`].
    pub total_in: u32,
    /// The bits that are not written yet, the first one lowest.
    pub pending: u8,
    /// Number of pending bits: at most 7, and 0 before the header.
    pub pending_len: u8,
    /// Position of the stream in its container.
    pub phase: Phase,
}

/// The state of one compressed stream: 16 bytes of plain data that you can copy, store, and resume
/// on any thread.
///
/// Call [`encode`](Self::encode) and [`flush`](Self::flush) any number of times, then
/// [`finish`](Self::finish). Each call writes its bytes at the start of `out`; send them in the
/// order of the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    check: u32,
    total: u32,
    pending: u8,
    pending_len: u8,
    format: Format,
    level: Level,
    phase: Phase,
}

const _: () = assert!(size_of::<Stream>() == 16);

/// Maximum number of bytes that one [`Stream::encode`] writes for `n` bytes of input, from any
/// state: `n`, 5 for each started 65,535 bytes, and 10 for a header. [`usize::MAX`] on overflow.
///
/// ```
/// assert_eq!(linerate_deflate::bound(16_384), 16_384 + 5 + 10);
/// ```
pub const fn bound(n: usize) -> usize {
    n.saturating_add(n.div_ceil(65_535).saturating_mul(5)).saturating_add(10)
}

/// Maximum number of bytes that one [`Stream::flush`] writes: a header and an empty stored block.
pub const fn flush_bound() -> usize {
    10 + 5
}

/// Maximum number of bytes that one [`Stream::finish`] writes: a header, a final block and a
/// trailer.
pub const fn finish_bound() -> usize {
    10 + 2 + 8
}

/// Maximum number of bytes that [`compress`] writes for `n` bytes of input.
pub const fn compress_bound(n: usize) -> usize {
    bound(n).saturating_add(2 + 8)
}

impl Stream {
    /// Creates a stream at its beginning.
    pub const fn new(format: Format, level: Level) -> Self {
        let check = match format {
            Format::Zlib => ADLER32_START,
            Format::Deflate | Format::Gzip => CRC32_START,
        };
        Stream { check, total: 0, pending: 0, pending_len: 0, format, level, phase: Phase::Header }
    }

    /// Creates a stream whose header the caller writes, for example a gzip header with a name.
    pub const fn new_after_header(format: Format, level: Level) -> Self {
        Stream { phase: Phase::Open, ..Stream::new(format, level) }
    }

    /// Creates a stream with this [`state`](Self::state).
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] if `pending_len` is above 7, if `pending` has bits set above
    /// the lowest `pending_len`, or if bits are pending in [`Phase::Header`].
    pub const fn from_state(format: Format, level: Level, state: StreamState) -> Result<Self> {
        let StreamState { checksum: check, total_in: total, pending, pending_len, phase } = state;
        let is_early = pending_len > 0 && matches!(phase, Phase::Header);
        if pending_len > 7 || pending >> pending_len != 0 || is_early {
            return Err(Error::new(Kind::BadArgument, 0, "the stream state has invalid pending bits"));
        }
        Ok(Stream { check, total, pending, pending_len, format, level, phase })
    }

    /// Returns the state of the stream, without format and level.
    pub const fn state(&self) -> StreamState {
        let Stream { check: checksum, total: total_in, pending, pending_len, phase, .. } = *self;
        StreamState { checksum, total_in, pending, pending_len, phase }
    }

    /// Returns the level that the next call uses.
    pub const fn level(&self) -> Level {
        self.level
    }

    /// Changes the level from the next call on.
    pub const fn set_level(&mut self, level: Level) {
        self.level = level;
    }

    /// Returns the container.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// Returns the number of bytes of input so far, modulo 2^32 (ISIZE of the gzip trailer).
    pub const fn total_in(&self) -> u32 {
        self.total
    }

    /// Returns the checksum of the input so far: CRC-32 for gzip, Adler-32 for zlib, 0 for raw
    /// deflate.
    pub const fn checksum(&self) -> u32 {
        self.check
    }

    /// Returns whether the final block has been written, so that only [`finish`](Self::finish) may
    /// follow.
    pub const fn is_last(&self) -> bool {
        matches!(self.phase, Phase::Last | Phase::Done)
    }

    /// Compresses `input` into `out` without reference to earlier input, and returns the number of
    /// bytes written, at most [`bound`]`(input.len())`. `scratch` is a `&mut` to either kind of
    /// scratch, boxed or not. In a loop pass `&mut *scratch`.
    ///
    /// If `more` is false and `input` is not empty, the last block is marked final. Only
    /// [`finish`](Self::finish) may follow, and it then adds no empty block. For an empty input the
    /// call writes at most the header.
    ///
    /// # Errors
    /// Returns [`Kind::OutputTooSmall`] if the result does not fit `out`, and [`Kind::BadArgument`]
    /// after the final block, or for [`Level::Default`] and above with a
    /// [`FastScratch`](crate::FastScratch). An error leaves the stream unchanged and the contents
    /// of `out` unspecified.
    pub fn encode<'s>(
        &mut self,
        scratch: impl Into<ScratchMut<'s>>,
        input: &[u8],
        out: &mut [u8],
        more: bool,
    ) -> Result<usize> {
        self.encode_with_history(scratch, input, 0, out, more)
    }

    /// Compresses `buffer[history..]` like [`encode`](Self::encode), with matches into
    /// `buffer[..history]`, which must be the input bytes immediately before. Only the last 32,768
    /// of these bytes are used.
    ///
    /// This trades the isolation of calls for a better ratio: the output also depends on the
    /// history, and decoding it needs the bytes before.
    ///
    /// # Errors
    /// Returns the errors of [`encode`](Self::encode), and [`Kind::BadArgument`] if `history`
    /// exceeds the buffer.
    pub fn encode_with_history<'s>(
        &mut self,
        scratch: impl Into<ScratchMut<'s>>,
        buffer: &[u8],
        history: usize,
        out: &mut [u8],
        more: bool,
    ) -> Result<usize> {
        self.encode_in_window(scratch, buffer, history, 15, out, more)
    }

    /// Like [`encode_with_history`](Self::encode_with_history), for a decoder whose window has
    /// 2^`window_bits` bytes: no match has a larger distance. `window_bits` is 8 to 15. If the
    /// window is smaller than 32 KiB and than history and input together, levels 1 to 3 search as
    /// level 4 does.
    ///
    /// # Errors
    /// Returns the errors of [`encode_with_history`](Self::encode_with_history), and
    /// [`Kind::BadArgument`] for other window bits, and for [`Level::Fast`] with a
    /// [`FastScratch`](crate::FastScratch) if that level searches as level 4 does.
    pub fn encode_in_window<'s>(
        &mut self,
        scratch: impl Into<ScratchMut<'s>>,
        buffer: &[u8],
        history: usize,
        window_bits: u8,
        out: &mut [u8],
        more: bool,
    ) -> Result<usize> {
        if self.is_last() {
            return Err(Error::new(Kind::BadArgument, 0, "the stream has ended and takes no data"));
        }
        if history > buffer.len() {
            return Err(Error::new(Kind::BadArgument, 0, "the history is longer than its buffer"));
        }
        if !matches!(window_bits, 8..=15) {
            return Err(Error::new(Kind::BadArgument, 0, "window bits must be 8 to 15"));
        }
        let window = 1 << window_bits;
        let buffer = &buffer[history.saturating_sub(window)..];
        let history = history.min(window);
        let mut next = *self;
        let mut bits = next.begin(out)?;
        let input = &buffer[history..];
        if !input.is_empty() {
            bits.settle()?;
            let call = Call { buffer, history, last: !more, flush: false, window };
            block::encode(self.level, scratch.into(), &call, &mut bits)?;
            next.count(input);
            next.phase = if more { Phase::Open } else { Phase::Last };
        }
        Ok(self.commit(next, bits))
    }

    /// Writes the pending bits, so that the receiver can decode every byte encoded so far, and ends
    /// the output at a byte boundary. This costs up to 5 bytes for an empty stored block (a full
    /// flush in zlib's terms), and only padding after the final block. Writes at most
    /// [`flush_bound`] bytes.
    ///
    /// # Errors
    /// Returns [`Kind::OutputTooSmall`] if the result does not fit `out`. The stream is then
    /// unchanged.
    pub fn flush(&mut self, out: &mut [u8]) -> Result<usize> {
        let mut next = *self;
        let mut bits = next.begin(out)?;
        match self.phase {
            Phase::Header | Phase::Open => bits.put_empty_stored()?,
            Phase::Last => bits.align()?,
            Phase::Done => {}
        }
        Ok(self.commit(next, bits))
    }

    /// Ends the stream: writes a final block if there is none yet, padding and the trailer, at most
    /// [`finish_bound`] bytes. Calling it again writes nothing.
    ///
    /// # Errors
    /// Returns [`Kind::OutputTooSmall`] if the result does not fit `out`. The stream is then
    /// unchanged.
    pub fn finish(&mut self, out: &mut [u8]) -> Result<usize> {
        let mut next = *self;
        let mut bits = next.begin(out)?;
        if !self.is_last() {
            bits.put_empty_fixed(true)?;
        }
        if self.phase != Phase::Done {
            bits.align()?;
            match self.format {
                Format::Deflate => {}
                Format::Zlib => bits.put_bytes(&self.check.to_be_bytes())?,
                Format::Gzip => {
                    bits.put_bytes(&self.check.to_le_bytes())?;
                    bits.put_bytes(&self.total.to_le_bytes())?;
                }
            }
        }
        next.phase = Phase::Done;
        Ok(self.commit(next, bits))
    }

    /// Begins the output with the pending bits, and with the header if it has not been written yet.
    fn begin<'o>(&mut self, out: &'o mut [u8]) -> Result<BitWriter<'o>> {
        self.begin_with(out, self.format.header())
    }

    /// Like [`begin`](Self::begin), with another `header`.
    pub(crate) fn begin_with<'o>(&mut self, out: &'o mut [u8], header: &[u8]) -> Result<BitWriter<'o>> {
        let mut bits = BitWriter::new(out, self.pending, self.pending_len);
        if self.phase == Phase::Header {
            bits.put_bytes(header)?;
            self.phase = Phase::Open;
        }
        Ok(bits)
    }

    pub(crate) fn count(&mut self, input: &[u8]) {
        self.total = self.total.wrapping_add(input.len() as u32);
        match self.format {
            Format::Deflate => {}
            Format::Zlib => self.check = adler32(self.check, input),
            Format::Gzip => self.check = crc32(self.check, input),
        }
    }

    pub(crate) fn commit(&mut self, next: Stream, bits: BitWriter<'_>) -> usize {
        let (written, pending, pending_len) = bits.end();
        *self = Stream { pending, pending_len, ..next };
        written
    }
}

/// Compresses `input` into one complete stream in `out` and returns the number of bytes written, at
/// most [`compress_bound`]`(input.len())`.
///
/// # Errors
/// Returns the errors of [`Stream::encode`].
pub fn compress<'s>(
    format: Format,
    level: Level,
    scratch: impl Into<ScratchMut<'s>>,
    input: &[u8],
    out: &mut [u8],
) -> Result<usize> {
    let mut stream = Stream::new(format, level);
    let n = stream.encode(scratch, input, out, false)?;
    Ok(n + stream.finish(&mut out[n..])?)
}

/// Compresses `input` into a new `Vec`, with a scratch of its own. Convenient, but slow for small
/// inputs; [`compress`] reuses a scratch.
///
/// ```
/// use linerate_deflate::{compress_to_vec, Format, Level};
/// assert_eq!(compress_to_vec(Format::Deflate, Level::Default, b""), [3, 0]);
/// ```
#[cfg(feature = "alloc")]
pub fn compress_to_vec(format: Format, level: Level, input: &[u8]) -> alloc::vec::Vec<u8> {
    let mut out = alloc::vec![0; compress_bound(input.len())];
    let mut scratch = crate::Scratch::boxed();
    match compress(format, level, &mut scratch, input, &mut out) {
        Ok(n) => out.truncate(n),
        Err(e) => unreachable!("full scratch and a buffer of compress_bound: {e}"),
    }
    out
}
