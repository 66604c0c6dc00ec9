//! Implements zlib's functions for streams that this library's encoder compresses ("our streams").
//! What the functions return, and when, follows zlib's manual.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_uint, c_ulong};

use linerate_deflate::checksum::ADLER32_START;

use crate::encoder::{Encoder, Progress, Then};
use crate::settings::{Container, Settings};
use crate::state::{NEVER, State};
use crate::z_stream::{Flush, ZStream, code};

/// `Z_UNKNOWN`: `data_type` until input is encoded.
const UNKNOWN: c_int = 2;
/// `Z_BLOCK`, a flush value.
const BLOCK: c_int = 5;
/// `last_flush` after a call that filled all of its output space.
const INCOMPLETE: i8 = -1;

impl ZStream {
    /// Copies as much of `bytes` to `next_out` as fits, and returns the number of bytes copied.
    ///
    /// # Safety
    /// `avail_out` bytes can be written at `next_out` and overlap no memory of this library.
    unsafe fn put(&mut self, bytes: &[u8]) -> usize {
        let count = bytes.len().min(self.avail_out as usize);
        // SAFETY: the caller's promise.
        self.next_out = unsafe {
            self.next_out.copy_from_nonoverlapping(bytes.as_ptr(), count);
            self.next_out.add(count)
        };
        self.avail_out -= count as c_uint;
        self.total_out = self.total_out.wrapping_add(count as c_ulong);
        count
    }

    /// Copies as much of the encoder's waiting output to `next_out` as fits.
    ///
    /// # Safety
    /// The requirements of [`put`](Self::put).
    unsafe fn deliver(&mut self, encoder: &mut Encoder) {
        // SAFETY: the caller's promise.
        let count = unsafe { self.put(encoder.waiting()) };
        encoder.deliver(count);
    }

    /// Copies as much of the input at `next_in` to the encoder's buffer as fits.
    ///
    /// # Safety
    /// `avail_in` bytes can be read at `next_in`, which is not null if there are any.
    unsafe fn take(&mut self, encoder: &mut Encoder) {
        let count = encoder.free().min(self.avail_in as usize);
        if count == 0 {
            return;
        }
        // SAFETY: the caller's promise.
        self.next_in = unsafe {
            encoder.gather(self.next_in, count, &mut self.adler);
            self.next_in.add(count)
        };
        self.avail_in -= count as c_uint;
        self.total_in = self.total_in.wrapping_add(count as c_ulong);
    }

    /// Encodes the gathered input and what `then` names, and copies as much of the output to
    /// `next_out` as fits. Sets `data_type` if it is unknown.
    ///
    /// # Safety
    /// The requirements of [`put`](Self::put).
    unsafe fn encode(&mut self, encoder: &mut Encoder, then: Then) {
        if self.data_type == UNKNOWN {
            self.data_type = encoder.data_type().unwrap_or(UNKNOWN);
        }
        // SAFETY: the caller's promise.
        encoder.encode(then, |bytes| unsafe { self.put(bytes) });
    }

    /// Sets the public fields of a stream to their values at its beginning. Later only the caller
    /// changes `adler` of a raw stream.
    fn begin(&mut self, settings: &Settings) {
        (self.total_in, self.total_out, self.msg) = (0, 0, std::ptr::null());
        self.adler = settings.checksum_start().unwrap_or(ADLER32_START).into();
        self.data_type = UNKNOWN;
    }
}

/// Makes `z` one of our streams. Returns a memory error if its memory cannot be allocated.
///
/// # Safety
/// The requirements of [`State::allocate`].
pub(crate) unsafe fn init(z: &mut ZStream, settings: Settings) -> c_int {
    z.msg = std::ptr::null();
    // SAFETY: the caller's promise.
    let made = unsafe { State::allocate(z, settings, |input, output| Encoder::new(settings, input, output)) };
    if made.is_none() {
        return z.fail(code::MEM_ERROR);
    }
    z.begin(&settings);
    code::OK
}

/// Implements `deflate`: takes input and writes output until the input is gathered or the output
/// space is used up.
///
/// # Safety
/// The contract of `deflate`: `next_in` and `next_out` are null, or point to `avail_in` and
/// `avail_out` bytes.
pub(crate) unsafe fn deflate(z: &mut ZStream, state: &mut State, flush: c_int) -> c_int {
    let Some(flush) = Flush::from_number(flush) else { return code::STREAM_ERROR };
    let encoder = &mut state.encoder;
    let is_ended = encoder.progress() == Progress::Ended;
    if z.next_out.is_null() || (z.next_in.is_null() && z.avail_in > 0) || (is_ended && flush != Flush::Finish)
    {
        return z.fail(code::STREAM_ERROR);
    }
    if z.avail_out == 0 {
        return z.fail(code::BUF_ERROR);
    }
    let before = std::mem::replace(&mut state.last_flush, flush.rank());
    let makes_progress =
        !encoder.waiting().is_empty() || z.avail_in > 0 || flush.rank() > before || flush == Flush::Finish;
    if !makes_progress || (is_ended && z.avail_in > 0) {
        return z.fail(code::BUF_ERROR);
    }
    // SAFETY: the caller's promise, and what was null is excluded.
    let is_complete = unsafe { run(z, encoder, flush, before == INCOMPLETE) };
    if z.avail_out == 0 {
        state.last_flush = INCOMPLETE;
    }
    match is_complete && flush == Flush::Finish {
        true => code::STREAM_END,
        false => code::OK,
    }
}

/// Does as much of a `deflate` call as the output space allows. Returns whether all of it is done.
///
/// # Safety
/// The stream's fields describe valid input and output.
unsafe fn run(z: &mut ZStream, encoder: &mut Encoder, flush: Flush, goes_on: bool) -> bool {
    // SAFETY: the caller's promise, for all calls.
    unsafe {
        z.deliver(encoder);
        if encoder.waiting().is_empty() && encoder.progress() == Progress::New {
            encoder.begin(&mut z.adler);
            z.deliver(encoder);
        }
        while encoder.waiting().is_empty() {
            z.take(encoder);
            if z.avail_in == 0 {
                finish_call(z, encoder, flush, goes_on);
                break;
            }
            z.encode(encoder, Then::More);
        }
    }
    encoder.waiting().is_empty()
}

/// Ends a call, after all input is gathered and no output is waiting.
///
/// # Safety
/// The requirements of [`run`].
unsafe fn finish_call(z: &mut ZStream, encoder: &mut Encoder, flush: Flush, goes_on: bool) {
    let then = match flush {
        Flush::No => return,
        Flush::Finish if encoder.progress() == Progress::Ended => return,
        Flush::Finish => Then::End { checksum: z.adler as u32, total: z.total_in as u32 },
        Flush::Block => Then::More,
        Flush::Partial => Then::Partial,
        Flush::Sync | Flush::Full => Then::Flush,
    };
    // If the output space was full after the flush, the caller repeats the call with the same
    // flush. The flush itself is not repeated.
    if !(goes_on && then > Then::More && encoder.flushed() >= then) {
        // SAFETY: the caller's promise.
        unsafe { z.encode(encoder, then) };
    }
    if flush == Flush::Full {
        encoder.forget();
    }
}

/// Resets a stream. Returns `Err` with the settings if zlib must begin the new stream.
pub(crate) fn reset(z: &mut ZStream, state: &mut State) -> Result<c_int, Settings> {
    let settings = state.encoder.settings();
    if !settings.are_served() {
        // `deflateParams` changed the settings after the stream had begun.
        return Err(settings);
    }
    state.encoder.reset();
    state.last_flush = NEVER;
    z.begin(&settings);
    Ok(code::OK)
}

/// Changes level and strategy. Returns `Err` with the settings if zlib must begin the stream.
///
/// # Safety
/// The requirements of [`deflate`].
pub(crate) unsafe fn params(
    z: &mut ZStream,
    state: &mut State,
    level: c_int,
    strategy: c_int,
) -> Result<c_int, Settings> {
    let settings = Settings { level, strategy, ..state.encoder.settings() };
    if !matches!(level, -1..=9) || !matches!(strategy, 0..=4) {
        return Ok(code::STREAM_ERROR);
    }
    if state.encoder.is_untouched() && !settings.are_served() {
        return Err(settings);
    }
    let is_other = settings.zlib_search() != state.encoder.settings().zlib_search();
    if is_other && state.last_flush != NEVER {
        // Encodes earlier input with the old settings.
        // SAFETY: the caller's promise.
        if unsafe { deflate(z, state, BLOCK) } == code::STREAM_ERROR {
            return Ok(code::STREAM_ERROR);
        }
        if z.avail_in > 0 || state.encoder.gathered() > 0 {
            return Ok(code::BUF_ERROR);
        }
    }
    state.encoder.set_settings(settings);
    Ok(code::OK)
}

/// Copies one of our streams to `to`.
///
/// # Safety
/// `to` is a `z_stream` that may be overwritten; `zalloc` of `z` keeps zlib's contract.
pub(crate) unsafe fn copy(to: *mut ZStream, z: &ZStream, state: &State) -> c_int {
    let mut copy = *z;
    let from = &state.encoder;
    // SAFETY: the caller's promise.
    let made =
        unsafe { State::allocate(&mut copy, from.settings(), |input, output| from.copy(input, output)) };
    if made.is_none() {
        return code::MEM_ERROR;
    }
    // SAFETY: the state is the one that was just allocated, and the caller's promise.
    unsafe {
        (*copy.state.cast::<State>()).last_flush = state.last_flush;
        to.write(copy);
    }
    code::OK
}

pub(crate) fn set_dictionary(z: &mut ZStream, state: &mut State, text: &[u8]) -> c_int {
    if state.encoder.set_dictionary(text, &mut z.adler) { code::OK } else { code::STREAM_ERROR }
}

/// Sets the header of a gzip member. Only zlib writes such headers: returns `Err` with the settings
/// if zlib must begin the stream.
pub(crate) fn set_header(state: &State, is_null: bool) -> Result<c_int, Settings> {
    let settings = state.encoder.settings();
    match settings.container() {
        Container::Gzip if !is_null && state.encoder.is_untouched() => Err(settings),
        // A null header, or one set after the header was written, changes nothing.
        Container::Gzip => Ok(code::OK),
        _ => Ok(code::STREAM_ERROR),
    }
}

/// Inserts the lowest `count` bits of `value` into the output. Returns a stream error unless the
/// stream is raw and has not ended, and a buffer error if `count` is not 0 to 16 or space is short.
pub(crate) fn prime(state: &mut State, count: c_int, value: c_int) -> c_int {
    let encoder = &mut state.encoder;
    if encoder.settings().container() != Container::Raw || encoder.progress() == Progress::Ended {
        return code::STREAM_ERROR;
    }
    match u32::try_from(count) {
        Ok(count @ 0..=16) if encoder.prime(count, value as u32) => code::OK,
        _ => code::BUF_ERROR,
    }
}
