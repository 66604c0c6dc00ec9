//! Deflate streams, whose 16 bytes of state are in memory of the caller.

use linerate_deflate::{Format, Level, Phase, Stream, StreamState, checksum};

use crate::border::{buffers, input, output, place, run, value};
use crate::error::{Call, linerate_error};
use crate::scratch::linerate_scratch;

/// Containers of deflate data.
#[repr(i32)]
pub enum linerate_format {
    /// No container: raw deflate data (RFC 1951).
    LINERATE_DEFLATE = 0,
    /// zlib (RFC 1950), with an Adler-32.
    LINERATE_ZLIB = 1,
    /// gzip (RFC 1952), with a CRC-32 and the length.
    LINERATE_GZIP = 2,
    /// gzip or zlib, detected by the first byte. Only for decoding.
    LINERATE_ZLIB_OR_GZIP = 3,
}

/// The whole state of a deflate stream between two calls. It may be copied and moved. Callers may
/// read checksum and total_in; all other fields are private to the library.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_deflater {
    /// Checksum of the input so far: CRC-32 for gzip, Adler-32 for zlib. It is 0 for raw deflate
    /// data.
    pub checksum: u32,
    /// Bytes of input so far, modulo 2^32.
    pub total_in: u32,
    /// Bits that did not fill a byte, the first one lowest. The next output begins with them.
    pub pending: u8,
    /// Number of pending bits.
    pub pending_len: u8,
    /// The container, a linerate_format.
    pub format: u8,
    /// The compression level.
    pub level: u8,
    /// The part of the output that is written: 0 nothing, 1 the header, 2 the last block, 3
    /// everything. Functions reject any other value.
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
        // The phase, and the largest number of bits that a call can leave pending in this phase.
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

/// Runs a call on a stream. Stores the new state and the number of bytes written if it succeeds.
///
/// # Safety
/// Both pointers are null or point to memory of their types; the stream is initialised.
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

/// Returns the largest output of one linerate_deflater_encode call, in bytes, for len bytes of
/// input: 10 bytes more than the input, and 5 more for each started 65,535 bytes of it.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_deflater_bound(len: usize) -> usize {
    linerate_deflate::bound(len)
}

/// Returns the largest output of linerate_deflater_flush, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_deflater_flush_bound() -> usize {
    linerate_deflate::flush_bound()
}

/// Returns the largest output of linerate_deflater_finish, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_deflater_finish_bound() -> usize {
    linerate_deflate::finish_bound()
}

/// Returns the largest output of linerate_deflate, in bytes, for len bytes of input.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_deflate_bound(len: usize) -> usize {
    linerate_deflate::compress_bound(len)
}

/// Compresses the input as one whole stream. format is a linerate_format, except
/// LINERATE_ZLIB_OR_GZIP. Level 0 stores, level 1 is the fastest that compresses, and level 9
/// usually makes the smallest output.
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

/// Initialises a stream, whose memory may be uninitialised. format and level are those of
/// linerate_deflate.
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

/// Sets the level, 0 to 9, of the following calls.
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

/// Compresses the input without reference to earlier calls. If more is true, at most 5 bits remain
/// for the next call. If more is false and there is input, the call writes the last block, and
/// linerate_deflater_finish must follow. Without input the call writes at most the header. The call
/// consumes all of the input or, if it fails, nothing. It fails with LINERATE_BAD_ARGUMENT after
/// the last block.
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

/// Compresses as linerate_deflater_encode does, but matches may refer to history. The first history
/// bytes of buffer are the end of the input of earlier calls; only the last 32,768 of them matter.
/// The rest of buffer is the input. len is the length of both together. Fails with
/// LINERATE_BAD_ARGUMENT if history is larger than len.
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

/// Writes the pending bits and an empty stored block, and before them the header if it is not
/// written yet. A decoder can then decode all input so far. After the last block, writes only the
/// pending bits.
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

/// Ends the stream: writes the header and the last block, unless they were already written, and the
/// trailer. A second call writes nothing.
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

/// Updates a CRC-32 with len bytes and returns it. The initial value is 0. A null pointer changes
/// nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_crc32(check: u32, from: *const u8, len: usize) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { input!(from, len) }.map_or(check, |bytes| checksum::crc32(check, bytes))
}

/// Updates an Adler-32 with len bytes and returns it. The initial value is 1. A null pointer
/// changes nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_adler32(check: u32, from: *const u8, len: usize) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { input!(from, len) }.map_or(check, |bytes| checksum::adler32(check, bytes))
}
