//! The class behind `Inflate` of `@linerate/zlib-sync`: a zlib, gzip or deflate stream in pieces.

use linerate_core::{Error, Kind};
use linerate_inflate::{Format, Options, Scratch, Status, StreamDecoder};
use napi::bindgen_prelude::{BufferSlice, ObjectFinalize};
use napi::{Env, JsString, Result};
use napi_derive::napi;

use crate::error::{broken, raise};
use crate::memory::{Pool, ReportedMemory};

static SCRATCH: Pool<Scratch> = Pool::new();

/// Least output space of a piece of input, in bytes.
const FIRST_SPACE: usize = 1 << 10;

/// Output space that is kept after larger output, in bytes.
const KEPT_SPACE: usize = 64 << 10;

/// What a push has come to: zlib's return values.
const OK: i32 = 0;
const STREAM_END: i32 = 1;
const NEED_DICTIONARY: i32 = 2;

/// A stream in pieces, and the output of its last pieces.
#[napi(custom_finalize)]
pub struct InflateStream {
    decoder: StreamDecoder<'static>,
    out: Vec<u8>,
    /// Most bytes of this output.
    limit: usize,
    /// Whether a call is under way, or has panicked.
    in_call: bool,
    reported: ReportedMemory,
}

#[napi]
impl InflateStream {
    /// `window_bits` as zlib has it: negative without a container, plus 16 for gzip, plus 32 for either.
    #[napi(constructor, catch_unwind)]
    pub fn new(env: Env, window_bits: i32, limit: f64) -> Result<Self> {
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
        let (out, limit) = (Vec::new(), limit as usize);
        Ok(InflateStream { decoder, out, limit, in_call: false, reported: ReportedMemory::default() })
    }

    /// Decodes a piece of the stream, after the output so far or, with `fresh`, instead of it; returns 0, 1 at the stream's
    /// end, 2 if it needs a dictionary.
    #[napi(catch_unwind)]
    pub fn push(&mut self, env: Env, data: &[u8], fresh: bool) -> Result<i32> {
        if fresh {
            self.out.clear();
        }
        if std::mem::replace(&mut self.in_call, true) {
            return Err(broken(&env));
        }
        let decoded = SCRATCH.with(|scratch| self.decode(scratch, data));
        self.in_call = false;
        self.reported.update(&env, self.decoder.memory() + self.out.capacity())?;
        decoded.map_err(|error| raise(&env, error))
    }

    /// The output.
    #[napi(catch_unwind)]
    pub fn output<'env>(&self, env: &'env Env) -> Result<BufferSlice<'env>> {
        BufferSlice::copy_from(env, &self.out)
    }

    /// The output as a string; what is not UTF-8 is replaced.
    #[napi(catch_unwind)]
    pub fn output_text<'env>(&self, env: &'env Env) -> Result<JsString<'env>> {
        let out = &self.out;
        if out.is_ascii() {
            env.create_string_latin1(out)
        } else {
            env.create_string(String::from_utf8_lossy(out))
        }
    }
}

impl InflateStream {
    fn decode(&mut self, scratch: &mut Scratch, data: &[u8]) -> linerate_core::Result<i32> {
        let (mut read, mut len) = (0, self.out.len());
        loop {
            self.reserve(len, data.len())?;
            let progress = self.decoder.decode(scratch, &data[read..], &mut self.out[len..]);
            let progress = progress.map_err(|error| {
                self.out.truncate(len);
                // The decoder's own limit is its window; to zlib that is a fault of the data.
                error.with_kind(Kind::Corrupt)
            })?;
            (read, len) = (read + progress.read, len + progress.written);
            let result = match progress.status {
                Status::NeedOutput => continue,
                Status::NeedInput => OK,
                Status::End => STREAM_END,
                _ => NEED_DICTIONARY,
            };
            self.out.truncate(len);
            if self.out.capacity() > KEPT_SPACE && self.out.len() <= KEPT_SPACE {
                self.out.shrink_to(KEPT_SPACE);
            }
            return Ok(result);
        }
    }

    /// Makes space behind `len` bytes of output, if there is none, for input of `input` bytes.
    fn reserve(&mut self, len: usize, input: usize) -> linerate_core::Result<()> {
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

impl ObjectFinalize for InflateStream {
    fn finalize(self, env: Env) -> Result<()> {
        self.reported.freed(&env)
    }
}
