//! The functions behind `Inflate` of `@linerate/zlib-sync`: a zlib, gzip or deflate stream that
//! arrives in pieces.

use linerate_core::{Error, Kind};
use linerate_inflate::{Format, Options, Scratch, Status, StreamDecoder};
use napi::bindgen_prelude::{BufferSlice, External};
use napi::{Env, JsString, JsValue, Result};
use napi_derive::napi;

use crate::call::{Arguments, Function, UNDEFINED, Value};
use crate::error::{Failure, raise};
use crate::memory::{Pool, ReportedMemory};
use crate::text::string_of;

static SCRATCH: Pool<Scratch> = Pool::new();

/// Smallest space that is made for more output, in bytes, unless the limit is nearer.
const FIRST_SPACE: usize = 4 << 10;

/// Largest output space that is kept after larger output, in bytes.
const KEPT_SPACE: usize = 64 << 10;

const NO_STRING: Error =
    Error::new(Kind::Limit, 0, "out of memory for the output, or it is too long for a string");

// Results of a push, which are zlib's return values.
const OK: i32 = 0;
const STREAM_END: i32 = 1;
const NEED_DICTIONARY: i32 = 2;

/// Flag of a push: its output begins a new result.
const FRESH: u32 = 1;
/// Flag of a push: the result is to be returned at once.
const DELIVER: u32 = 2;

/// A stream that arrives in pieces, and the output of its last pieces.
pub struct InflateStream {
    decoder: StreamDecoder<'static>,
    /// Initialized memory, whose first `len` bytes are the output.
    out: Vec<u8>,
    len: usize,
    /// Largest output in bytes.
    limit: usize,
    /// Whether a call is under way, or has panicked.
    in_call: bool,
    reported: ReportedMemory,
}

/// Creates the decoder of a stream. `window_bits` has zlib's meaning: 8 to 15 for zlib, negative
/// for deflate without a container, plus 16 for gzip, plus 32 for zlib or gzip. `limit` is the
/// largest output in bytes.
#[napi(catch_unwind)]
pub fn inflate_stream(env: Env, window_bits: i32, limit: f64) -> Result<External<InflateStream>> {
    let (format, bits) = match window_bits {
        ..0 => (Format::Deflate, -window_bits),
        0..=15 => (Format::Zlib, window_bits),
        16..=31 => (Format::Gzip, window_bits - 16),
        _ => (Format::ZlibOrGzip, window_bits - 32),
    };
    // 0 means the window that the header states, which is at most the largest.
    let bits = if bits == 0 { 15 } else { u8::try_from(bits).unwrap_or(u8::MAX) };
    let decoder =
        StreamDecoder::new(Options::new(format).window_bits(bits)).map_err(|error| raise(&env, error))?;
    let (out, limit, reported) = (Vec::new(), limit as usize, ReportedMemory::new(env));
    Ok(External::new(InflateStream { decoder, out, len: 0, limit, in_call: false, reported }))
}

/// Returns a copy of the output of the last [`FRESH`] push and the pushes after it.
#[napi(catch_unwind)]
pub fn inflate_output<'env>(env: &'env Env, stream: &External<InflateStream>) -> Result<BufferSlice<'env>> {
    BufferSlice::copy_from(env, stream.output())
}

/// Returns the output as a string, in which invalid UTF-8 is replaced.
#[napi(catch_unwind)]
pub fn inflate_output_text<'env>(env: &'env Env, stream: &External<InflateStream>) -> Result<JsString<'env>> {
    stream.text(env).map_err(|error| raise(env, error))
}

/// Decodes a piece of the stream. Returns the output as a string if [`DELIVER`] is set and the
/// stream goes on, else `-1 - status`.
pub(crate) struct PushText;

impl Function for PushText {
    type Object = InflateStream;

    fn call(stream: &mut InflateStream, arguments: &Arguments) -> std::result::Result<Value, Failure> {
        let Some(data) = arguments.data() else { return Ok(UNDEFINED) };
        let flags = arguments.flags();
        match stream.push(data, flags)? {
            OK if flags & DELIVER != 0 => Ok(stream.text(&arguments.env)?.raw()),
            status => Ok(arguments.result(-1 - status)?),
        }
    }
}

/// Decodes a piece of the stream. Delivers the output if [`DELIVER`] is set and the stream goes on,
/// else returns `-1 - status`.
pub(crate) struct PushBytes;

impl Function for PushBytes {
    type Object = InflateStream;

    fn call(stream: &mut InflateStream, arguments: &Arguments) -> std::result::Result<Value, Failure> {
        let Some(data) = arguments.data() else { return Ok(UNDEFINED) };
        let flags = arguments.flags();
        match stream.push(data, flags)? {
            OK if flags & DELIVER != 0 => Ok(arguments.deliver(stream.output())?),
            status => Ok(arguments.result(-1 - status)?),
        }
    }
}

impl InflateStream {
    /// Decodes a piece of the stream. Appends to the output or, with [`FRESH`], replaces it.
    /// Returns [`OK`], [`STREAM_END`] or [`NEED_DICTIONARY`].
    fn push(&mut self, data: &[u8], flags: u32) -> std::result::Result<i32, Failure> {
        if std::mem::replace(&mut self.in_call, true) {
            return Err(Failure::Broken);
        }
        if flags & FRESH != 0 {
            self.len = 0;
        }
        let decoded = SCRATCH.with(|scratch| self.decode(scratch, data));
        self.in_call = false;
        self.reported.update(self.decoder.memory() + self.out.capacity())?;
        Ok(decoded?)
    }

    fn output(&self) -> &[u8] {
        &self.out[..self.len]
    }

    /// The output as a string, in which invalid UTF-8 is replaced.
    fn text<'env>(&self, env: &'env Env) -> linerate_core::Result<JsString<'env>> {
        let made = match string_of(env, self.output()) {
            Ok(None) => env.create_string(String::from_utf8_lossy(self.output())).map(Some),
            made => made,
        };
        made.ok().flatten().ok_or(NO_STRING.shifted(self.decoder.position()))
    }

    fn decode(&mut self, scratch: &mut Scratch, data: &[u8]) -> linerate_core::Result<i32> {
        let mut read = 0;
        loop {
            self.reserve(data.len())?;
            let progress = self.decoder.decode(scratch, &data[read..], &mut self.out[self.len..]);
            // The decoder's errors become damaged data, as zlib reports a window larger than
            // allowed. That includes the error of memory that runs out for the window.
            let progress = progress.map_err(|error| error.with_kind(Kind::Corrupt))?;
            (read, self.len) = (read + progress.read, self.len + progress.written);
            let result = match progress.status {
                Status::NeedOutput => continue,
                Status::NeedInput => OK,
                Status::End => STREAM_END,
                _ => NEED_DICTIONARY,
            };
            if self.out.len() > KEPT_SPACE && self.len <= KEPT_SPACE {
                self.out.truncate(KEPT_SPACE);
                self.out.shrink_to_fit();
            }
            return Ok(result);
        }
    }

    /// Makes space after the output, unless at least one byte is free: as many bytes as the output
    /// has or four times `input`, the length of the compressed piece, whichever is more; at least
    /// `FIRST_SPACE`, and in all at most one byte more than the limit. Fails if the output is above
    /// the limit or memory runs out.
    fn reserve(&mut self, input: usize) -> linerate_core::Result<()> {
        let len = self.len;
        if self.out.len() > len {
            return Ok(());
        }
        let error = |what| Error::new(Kind::Limit, self.decoder.position(), what);
        if len > self.limit {
            return Err(error("the output is above the limit"));
        }
        // One byte more than the limit tells whether there is more output.
        let space = len.max(4 * input).max(FIRST_SPACE).min(self.limit.saturating_add(1) - len);
        self.out.try_reserve_exact(space).map_err(|_| error("out of memory for the output"))?;
        self.out.resize(len + space, 0);
        Ok(())
    }
}
