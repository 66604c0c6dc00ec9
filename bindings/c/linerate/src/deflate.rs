//! Deflate streams: 16 bytes in memory of the caller.

use linerate_deflate::{Format, Level, Phase, Stream, StreamState, checksum};

use crate::border::{buffers, input, output, place, run, value};
use crate::error::{Call, linerate_error};
use crate::scratch::linerate_scratch;

/// Containers of deflate data.
#[repr(i32)]
pub enum linerate_format {
    /// None (RFC 1951).
    LINERATE_DEFLATE = 0,
    /// zlib (RFC 1950), with an Adler-32.
    LINERATE_ZLIB = 1,
    /// gzip (RFC 1952), with a CRC-32 and the length.
    LINERATE_GZIP = 2,
    /// Only to decode: gzip or zlib, by the first byte.
    LINERATE_ZLIB_OR_GZIP = 3,
}

/// A stream between two calls: all of its state, which may be copied and moved. Its fields belong to the library, but for
/// reading checksum and total_in.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_deflater {
    /// CRC-32 or Adler-32 of the input so far.
    pub checksum: u32,
    /// Bytes of input so far, modulo 2^32.
    pub total_in: u32,
    /// Bits that wait for the next call.
    pub pending: u8,
    /// Their number.
    pub pending_len: u8,
    /// The linerate_format.
    pub format: u8,
    /// The level.
    pub level: u8,
    /// What was written: 0 nothing, 1 the header, 2 the last block, 3 all; anything else, what is no stream.
    pub phase: u32,
}

const _: () = assert!(size_of::<linerate_deflater>() == 16);

pub(crate) fn format_of(format: i32) -> Call<Format> {
    match format {
        0 => Ok(Format::Deflate),
        1 => Ok(Format::Zlib),
        2 => Ok(Format::Gzip),
        _ => Err(linerate_error::bad_argument(c"the format must be deflate, zlib or gzip")),
    }
}

pub(crate) fn level_of(level: i32) -> Call<Level> {
    Ok(Level::from_number(u8::try_from(level).unwrap_or(u8::MAX))?)
}

impl linerate_deflater {
    fn of(stream: &Stream) -> linerate_deflater {
        let StreamState { checksum, total_in, pending, pending_len, phase } = stream.state();
        let (format, level) = (stream.format() as u8, stream.level() as u8);
        linerate_deflater { checksum, total_in, pending, pending_len, format, level, phase: phase as u32 }
    }

    fn stream(self) -> Call<Stream> {
        // Each with the number of bits that a call can leave pending.
        let (phase, most) = match self.phase {
            0 => (Phase::Header, 0),
            1 => (Phase::Open, 5),
            2 => (Phase::Last, 7),
            _ => (Phase::Done, 0),
        };
        if self.phase > 3 || self.pending_len > most {
            return Err(linerate_error::bad_argument(c"not a stream that linerate_deflater_init has made"));
        }
        let linerate_deflater { checksum, total_in, pending, pending_len, .. } = self;
        let state = StreamState { checksum, total_in, pending, pending_len, phase };
        Ok(Stream::from_state(format_of(self.format.into())?, level_of(self.level.into())?, state)?)
    }
}

/// Runs a call on a stream, and keeps the stream and the bytes written if it succeeds.
///
/// # Safety
/// Both pointers are null, or point to memory of their types; that of the stream is initialised.
unsafe fn with_stream(
    stream: *mut linerate_deflater,
    written: *mut usize,
    call: impl FnOnce(&mut Stream) -> Call<usize>,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (state, written, place) = unsafe { (value!(stream)?, place!(written)?, place!(stream)?) };
        let mut now = state.stream()?;
        written.write(call(&mut now)?);
        place.write(linerate_deflater::of(&now));
        Ok(())
    })
}

/// Bytes that a call of linerate_deflater_encode writes at most for len bytes of input: 5 per 65,535 more, and 10.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_deflater_bound(len: usize) -> usize {
    linerate_deflate::bound(len)
}

/// Bytes that linerate_deflater_flush writes at most.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_deflater_flush_bound() -> usize {
    linerate_deflate::flush_bound()
}

/// Bytes that linerate_deflater_finish writes at most.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_deflater_finish_bound() -> usize {
    linerate_deflate::finish_bound()
}

/// Bytes that linerate_deflate writes at most for len bytes of input.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_deflate_bound(len: usize) -> usize {
    linerate_deflate::compress_bound(len)
}

/// Compresses input as one whole stream. Level 0 stores, 1 is the fastest and 9 the smallest.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_deflate(
    scratch: linerate_scratch,
    format: i32,
    level: i32,
    from: *const u8,
    len: usize,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let ((input, out), written) = unsafe { (buffers!(from, len, out, capacity)?, place!(written)?) };
        let (format, level) = (format_of(format)?, level_of(level)?);
        let mut scratch = scratch.lock()?;
        written.write(linerate_deflate::compress(format, level, scratch.deflate()?, input, out)?);
        Ok(())
    })
}

/// Makes a stream at its beginning, in memory that need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_deflater_init(
    stream: *mut linerate_deflater,
    format: i32,
    level: i32,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promise.
        let stream = unsafe { place!(stream) }?;
        stream.write(linerate_deflater::of(&Stream::new(format_of(format)?, level_of(level)?)));
        Ok(())
    })
}

/// Sets the level of the following calls.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_deflater_set_level(
    stream: *mut linerate_deflater,
    level: i32,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (state, place) = unsafe { (value!(stream)?, place!(stream)?) };
        let mut now = state.stream()?;
        now.set_level(level_of(level)?);
        place.write(linerate_deflater::of(&now));
        Ok(())
    })
}

/// Compresses input without reference to earlier calls. With more true, at most 5 bits wait for the next call; with more false the
/// call writes the last block, and linerate_deflater_finish follows. All of input is consumed, or nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_deflater_encode(
    stream: *mut linerate_deflater,
    scratch: linerate_scratch,
    from: *const u8,
    len: usize,
    out: *mut u8,
    capacity: usize,
    more: bool,
    written: *mut usize,
) -> linerate_error {
    let call = |stream: &mut Stream| {
        // SAFETY: the caller's promises.
        let (input, out) = unsafe { buffers!(from, len, out, capacity) }?;
        Ok(stream.encode(scratch.lock()?.deflate()?, input, out, more)?)
    };
    // SAFETY: the caller's promises.
    unsafe { with_stream(stream, written, call) }
}

/// As linerate_deflater_encode, with matches that reach back into the history: the first bytes of buffer, of which the last
/// 32,768 count, are the end of the input of the calls before. What follows them, of len bytes in all, is the input.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_deflater_encode_with_history(
    stream: *mut linerate_deflater,
    scratch: linerate_scratch,
    buffer: *const u8,
    len: usize,
    history: usize,
    out: *mut u8,
    capacity: usize,
    more: bool,
    written: *mut usize,
) -> linerate_error {
    let call = |stream: &mut Stream| {
        // SAFETY: the caller's promises.
        let (buffer, out) = unsafe { buffers!(buffer, len, out, capacity) }?;
        Ok(stream.encode_with_history(scratch.lock()?.deflate()?, buffer, history, out, more)?)
    };
    // SAFETY: the caller's promises.
    unsafe { with_stream(stream, written, call) }
}

/// Writes the bits that wait and an empty stored block, after which a decoder has all input so far.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_deflater_flush(
    stream: *mut linerate_deflater,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> linerate_error {
    // SAFETY: the caller's promises.
    unsafe { with_stream(stream, written, |stream| Ok(stream.flush(output!(out, capacity)?)?)) }
}

/// Ends the stream: the last block, if it was not written yet, and the trailer. Once more, it writes nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_deflater_finish(
    stream: *mut linerate_deflater,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> linerate_error {
    // SAFETY: the caller's promises.
    unsafe { with_stream(stream, written, |stream| Ok(stream.finish(output!(out, capacity)?)?)) }
}

/// Continues a CRC-32, which begins with 0. A null pointer has no bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_crc32(check: u32, from: *const u8, len: usize) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { input!(from, len) }.map_or(check, |bytes| checksum::crc32(check, bytes))
}

/// Continues an Adler-32, which begins with 1. A null pointer has no bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_adler32(check: u32, from: *const u8, len: usize) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { input!(from, len) }.map_or(check, |bytes| checksum::adler32(check, bytes))
}
