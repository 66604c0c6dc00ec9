//! What is behind `Inflate` of `@linerate/zlib-sync`: a zlib, gzip or deflate stream in pieces.

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

/// Least output space of a piece of input, in bytes.
const FIRST_SPACE: usize = 4 << 10;

/// Output space that is kept after larger output, in bytes.
const KEPT_SPACE: usize = 64 << 10;

const NO_STRING: Error =
    Error::new(Kind::Limit, 0, "there is no memory for the output, or it is too long for a string");

/// What a push has come to: zlib's return values.
const OK: i32 = 0;
const STREAM_END: i32 = 1;
const NEED_DICTIONARY: i32 = 2;

/// Flags of a push: its output is the first of a result; the result is wanted at once.
const FRESH: u32 = 1;
const DELIVER: u32 = 2;

/// A stream in pieces, and the output of its last pieces.
pub struct InflateStream {
    decoder: StreamDecoder<'static>,
    /// Initialized as a whole; the output is the first `len` bytes.
    out: Vec<u8>,
    len: usize,
    /// Most bytes of this output.
    limit: usize,
    /// Whether a call is under way, or has panicked.
    in_call: bool,
    reported: ReportedMemory,
}

/// `window_bits` as zlib has it: negative without a container, plus 16 for gzip, plus 32 for either.
#[napi(catch_unwind)]
pub fn inflate_stream(env: Env, window_bits: i32, limit: f64) -> Result<External<InflateStream>> {
    let (format, bits) = match window_bits {
        ..0 => (Format::Deflate, -window_bits),
        0..=15 => (Format::Zlib, window_bits),
        16..=31 => (Format::Gzip, window_bits - 16),
        _ => (Format::ZlibOrGzip, window_bits - 32),
    };
    // 0 means what the header says.
    let bits = if bits == 0 { 15 } else { u8::try_from(bits).unwrap_or(u8::MAX) };
    let decoder =
        StreamDecoder::new(Options::new(format).window_bits(bits)).map_err(|error| raise(&env, error))?;
    let (out, limit, reported) = (Vec::new(), limit as usize, ReportedMemory::new(env));
    Ok(External::new(InflateStream { decoder, out, len: 0, limit, in_call: false, reported }))
}

/// The output.
#[napi(catch_unwind)]
pub fn inflate_output<'env>(env: &'env Env, stream: &External<InflateStream>) -> Result<BufferSlice<'env>> {
    BufferSlice::copy_from(env, stream.output())
}

/// The output as a string; what is not UTF-8 is replaced.
#[napi(catch_unwind)]
pub fn inflate_output_text<'env>(env: &'env Env, stream: &External<InflateStream>) -> Result<JsString<'env>> {
    stream.text(env).map_err(|error| raise(env, error))
}

/// Decodes a piece of the stream. Returns the output as a string if that is wanted and the stream goes on, else
/// -1 - status.
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

/// Decodes a piece of the stream. Delivers the output if that is wanted and the stream goes on, else returns -1 - status.
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
    /// Decodes a piece of the stream, after the output so far or, with [`FRESH`], instead of it. Returns [`OK`],
    /// [`STREAM_END`] or [`NEED_DICTIONARY`].
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

    /// The output as a string; what is not UTF-8 is replaced.
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
            // The decoder's own limit is its window; to zlib that is a fault of the data.
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

    /// Makes space behind the output, if there is none, for input of `input` bytes.
    fn reserve(&mut self, input: usize) -> linerate_core::Result<()> {
        let len = self.len;
        if self.out.len() > len {
            return Ok(());
        }
        let error = |what| Error::new(Kind::Limit, self.decoder.position(), what);
        if len > self.limit {
            return Err(error("the output is above the limit"));
        }
        // One byte more than allowed tells whether there is more.
        let space = len.max(4 * input).max(FIRST_SPACE).min(self.limit.saturating_add(1) - len);
        self.out.try_reserve_exact(space).map_err(|_| error("there is no memory for the output"))?;
        self.out.resize(len + space, 0);
        Ok(())
    }
}
