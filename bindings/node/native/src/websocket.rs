//! The functions behind `DeflateSession` and `InflateSession`: permessage-deflate (RFC 7692).

use linerate_core::{Error, Kind};
use linerate_websocket::{Decoder, Direction, Encoder, Level, Options, Scratch};
use napi::bindgen_prelude::External;
use napi::{Env, Result};
use napi_derive::napi;

use crate::call::{Arguments, Function, UNDEFINED, Value};
use crate::error::{Failure, raise};
use crate::memory::{Pool, ReportedMemory};

/// Largest output buffer that is kept for the next message, in bytes.
const KEPT_BUFFER: usize = 1 << 20;

/// Working memory of a thread while it encodes or decodes.
#[derive(Default)]
struct Work {
    scratch: Scratch,
    out: Vec<u8>,
}

static WORK: Pool<Work> = Pool::new();

/// Compresses the messages of one direction of a connection.
pub struct DeflateMessages {
    encoder: Encoder,
    /// Whether a call is under way, or has panicked.
    in_call: bool,
    reported: ReportedMemory,
}

#[napi(catch_unwind)]
pub fn deflate_messages(
    env: Env,
    window_bits: u8,
    takeover: bool,
    level: u8,
) -> Result<External<DeflateMessages>> {
    let encoder = Level::from_number(level)
        .and_then(|level| Encoder::new(Direction { window_bits, takeover }, level))
        .map_err(|error| raise(&env, error))?;
    let mut reported = ReportedMemory::new(env);
    reported.update(encoder.memory())?;
    Ok(External::new(DeflateMessages { encoder, in_call: false, reported }))
}

/// Returns the number of bytes that `messages` holds, with the window.
#[napi(catch_unwind)]
pub fn deflate_messages_memory(messages: &External<DeflateMessages>) -> f64 {
    (size_of::<DeflateMessages>() - size_of::<Encoder>() + messages.encoder.memory()) as f64
}

/// Decompresses the messages of one direction of a connection.
pub struct InflateMessages {
    decoder: Decoder,
    /// Largest message in decoded bytes.
    limit: usize,
    /// Number of decoded bytes of the fragments so far of an incomplete message.
    len: usize,
    /// The error that ended the connection, which every later call returns.
    error: Option<Error>,
    /// Whether a call is under way, or has panicked.
    in_call: bool,
    reported: ReportedMemory,
}

#[napi(catch_unwind)]
pub fn inflate_messages(
    env: Env,
    window_bits: u8,
    takeover: bool,
    limit: f64,
) -> Result<External<InflateMessages>> {
    let options = Options { message_limit: limit as u64, ..Options::default() };
    let decoder = Decoder::new(Direction { window_bits, takeover }, &options);
    let decoder = decoder.map_err(|error| raise(&env, error))?;
    let mut reported = ReportedMemory::new(env);
    reported.update(decoder.memory())?;
    let (limit, len) = (limit as usize, 0);
    Ok(External::new(InflateMessages { decoder, limit, len, error: None, in_call: false, reported }))
}

/// Returns the number of bytes that `messages` holds, with the window.
#[napi(catch_unwind)]
pub fn inflate_messages_memory(messages: &External<InflateMessages>) -> f64 {
    (size_of::<InflateMessages>() - size_of::<Decoder>() + messages.decoder.memory()) as f64
}

/// Flag of a call: the fragment ends its message.
const FIN: u32 = 1;

/// Compresses a fragment of a message, or a whole one.
pub(crate) struct DeflateMessage;

impl Function for DeflateMessage {
    type Object = DeflateMessages;

    fn call(messages: &mut DeflateMessages, arguments: &Arguments) -> std::result::Result<Value, Failure> {
        let Some(data) = arguments.data() else { return Ok(UNDEFINED) };
        messages.compress(data, arguments)
    }
}

/// Decompresses a fragment of a message, or a whole one.
pub(crate) struct InflateMessage;

impl Function for InflateMessage {
    type Object = InflateMessages;

    fn call(messages: &mut InflateMessages, arguments: &Arguments) -> std::result::Result<Value, Failure> {
        let Some(data) = arguments.data() else { return Ok(UNDEFINED) };
        messages.decompress(data, arguments)
    }
}

impl DeflateMessages {
    fn compress(&mut self, data: &[u8], arguments: &Arguments) -> std::result::Result<Value, Failure> {
        let fin = arguments.flags() == FIN;
        if std::mem::replace(&mut self.in_call, true) {
            return Err(Failure::Broken);
        }
        let encoded = WORK.with(|Work { scratch, .. }| {
            let encoded = self.encoder.part(scratch, data, fin)?;
            Ok(arguments.deliver(encoded)?)
        });
        self.in_call = false;
        self.reported.update(self.encoder.memory())?;
        encoded
    }
}

impl InflateMessages {
    fn decompress(&mut self, data: &[u8], arguments: &Arguments) -> std::result::Result<Value, Failure> {
        let fin = arguments.flags() == FIN;
        if let Some(error) = self.error {
            return Err(error.into());
        }
        if std::mem::replace(&mut self.in_call, true) {
            return Err(Failure::Broken);
        }
        let made = WORK.with(|Work { scratch, out }| {
            let left = self.limit - self.len;
            let decoded = self.decoder.part_to_buffer(scratch, data, fin, out, left);
            let no_memory = Error::new(Kind::Limit, 0, "out of memory for the message");
            let made = decoded.and_then(|n| Ok((n, arguments.deliver(&out[..n]).map_err(|_| no_memory)?)));
            if out.capacity() > KEPT_BUFFER {
                *out = Vec::new();
            }
            made
        });
        self.in_call = false;
        self.reported.update(self.decoder.memory())?;
        self.error = made.as_ref().err().copied();
        let (n, value) = made?;
        self.len = if fin { 0 } else { self.len + n };
        Ok(value)
    }
}
