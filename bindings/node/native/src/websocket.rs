//! Classes behind `DeflateSession` and `InflateSession`: permessage-deflate (RFC 7692).

use linerate_core::{Error, Kind};
use linerate_websocket::{Decoder, Direction, Encoder, Level, Options, Scratch};
use napi::bindgen_prelude::{BufferSlice, ObjectFinalize};
use napi::{Env, Result};
use napi_derive::napi;

use crate::error::{broken, raise};
use crate::memory::{Pool, ReportedMemory};

/// Output buffers that are kept for the next message, in bytes at most.
const KEPT_BUFFER: usize = 1 << 20;

/// Working memory of one thread, while it encodes or decodes.
#[derive(Default)]
struct Work {
    scratch: Scratch,
    out: Vec<u8>,
}

static WORK: Pool<Work> = Pool::new();

/// Compresses the messages of one direction of a connection.
#[napi(custom_finalize)]
pub struct DeflateMessages {
    encoder: Encoder,
    /// Whether a call is under way, or has panicked.
    in_call: bool,
    reported: ReportedMemory,
}

#[napi]
impl DeflateMessages {
    #[napi(constructor, catch_unwind)]
    pub fn new(env: Env, window_bits: u8, takeover: bool, level: u8) -> Result<Self> {
        let encoder = Level::from_number(level)
            .and_then(|level| Encoder::new(Direction { window_bits, takeover }, level))
            .map_err(|error| raise(&env, error))?;
        let mut reported = ReportedMemory::default();
        reported.update(&env, encoder.memory())?;
        Ok(DeflateMessages { encoder, in_call: false, reported })
    }

    /// Compresses a fragment of a message, or a whole one.
    #[napi(catch_unwind)]
    pub fn compress<'env>(&mut self, env: &'env Env, data: &[u8], fin: bool) -> Result<BufferSlice<'env>> {
        if std::mem::replace(&mut self.in_call, true) {
            return Err(broken(env));
        }
        let encoded = WORK.with(|Work { scratch, .. }| {
            let encoded = self.encoder.part(scratch, data, fin).map_err(|error| raise(env, error))?;
            BufferSlice::copy_from(env, encoded)
        });
        self.in_call = false;
        self.reported.update(env, self.encoder.memory())?;
        encoded
    }

    #[napi(getter, catch_unwind)]
    pub fn memory(&self) -> f64 {
        (size_of::<Self>() - size_of::<Encoder>() + self.encoder.memory()) as f64
    }
}

impl ObjectFinalize for DeflateMessages {
    fn finalize(self, env: Env) -> Result<()> {
        self.reported.freed(&env)
    }
}

/// Decompresses the messages of one direction of a connection.
#[napi(custom_finalize)]
pub struct InflateMessages {
    decoder: Decoder,
    /// Most bytes of a message.
    limit: usize,
    /// Bytes of the message so far.
    len: usize,
    /// The error that ended the connection.
    error: Option<Error>,
    /// Whether a call is under way, or has panicked.
    in_call: bool,
    reported: ReportedMemory,
}

#[napi]
impl InflateMessages {
    #[napi(constructor, catch_unwind)]
    pub fn new(env: Env, window_bits: u8, takeover: bool, limit: f64) -> Result<Self> {
        let options = Options { message_limit: limit as u64, ..Options::default() };
        let decoder = Decoder::new(Direction { window_bits, takeover }, &options);
        let decoder = decoder.map_err(|error| raise(&env, error))?;
        let mut reported = ReportedMemory::default();
        reported.update(&env, decoder.memory())?;
        Ok(InflateMessages { decoder, limit: limit as usize, len: 0, error: None, in_call: false, reported })
    }

    /// Decompresses a fragment of a message, or a whole one.
    #[napi(catch_unwind)]
    pub fn decompress<'env>(&mut self, env: &'env Env, data: &[u8], fin: bool) -> Result<BufferSlice<'env>> {
        if let Some(error) = self.error {
            return Err(raise(env, error));
        }
        if std::mem::replace(&mut self.in_call, true) {
            return Err(broken(env));
        }
        let made = WORK.with(|Work { scratch, out }| {
            let left = self.limit - self.len;
            let decoded = self.decoder.part_to_buffer(scratch, data, fin, out, left);
            let made = decoded.map(|n| (n, BufferSlice::copy_from(env, &out[..n])));
            if out.capacity() > KEPT_BUFFER {
                *out = Vec::new();
            }
            made
        });
        self.in_call = false;
        self.reported.update(env, self.decoder.memory())?;
        match made {
            Ok((n, Ok(buffer))) => {
                self.len = if fin { 0 } else { self.len + n };
                Ok(buffer)
            }
            Ok((_, Err(_))) => {
                Err(self.fail(env, Error::new(Kind::Limit, 0, "there is no memory for the message")))
            }
            Err(error) => Err(self.fail(env, error)),
        }
    }

    #[napi(getter, catch_unwind)]
    pub fn memory(&self) -> f64 {
        (size_of::<Self>() - size_of::<Decoder>() + self.decoder.memory()) as f64
    }
}

impl InflateMessages {
    fn fail(&mut self, env: &Env, error: Error) -> napi::Error {
        self.error = Some(error);
        raise(env, error)
    }
}

impl ObjectFinalize for InflateMessages {
    fn finalize(self, env: Env) -> Result<()> {
        self.reported.freed(&env)
    }
}
