//! The class behind `GatewayDecompressor`; envelopes of payloads.

use linerate_core::{Error, Kind};
use linerate_gateway::{Checks, Encoding, Limits, ScratchPool, Session, SessionError, Transport};
use napi::bindgen_prelude::{Buffer, BufferSlice, Object, ObjectFinalize};
use napi::{Env, JsString, Result};
use napi_derive::napi;

use crate::error::{broken, raise, raise_session_error, session_error_object};
use crate::memory::{ReportedMemory, buffer_of};

/// Working memory for all connections of the process. Each worker uses one.
static SCRATCH: ScratchPool = ScratchPool::new(16);

/// Opcode, sequence number and event of a payload.
#[napi(object)]
#[derive(Clone, Default)]
pub struct Envelope {
    pub op: Option<f64>,
    pub s: Option<f64>,
    pub t: Option<String>,
}

impl From<linerate_gateway::Envelope<'_>> for Envelope {
    fn from(envelope: linerate_gateway::Envelope<'_>) -> Self {
        let linerate_gateway::Envelope { op, sequence, event } = envelope;
        let number = |n: Option<u64>| n.map(|n| n as f64);
        Envelope { op: number(op), s: number(sequence), t: event.map(str::to_owned) }
    }
}

/// Options, checked in JavaScript.
#[napi(object)]
pub struct GatewayOptions {
    pub kind: String,
    pub max_message: f64,
    pub window_log: u8,
    pub checks: Option<String>,
    pub sequence: bool,
    pub recent_messages: Option<f64>,
    pub recent_bytes: Option<f64>,
}

/// The decompressor of one connection.
#[napi(custom_finalize)]
pub struct GatewaySession {
    session: Session,
    last: Option<Envelope>,
    payload_bytes: u64,
    /// The error of a payload that could not be delivered.
    error: Option<SessionError>,
    /// Whether a call is under way, or has panicked.
    in_call: bool,
    reported: ReportedMemory,
}

#[napi]
impl GatewaySession {
    #[napi(constructor, catch_unwind)]
    pub fn new(env: Env, options: GatewayOptions) -> Result<Self> {
        let session =
            session_of(&options).map_err(|what| raise(&env, Error::new(Kind::BadArgument, 0, what)))?;
        Ok(GatewaySession {
            session,
            last: None,
            payload_bytes: 0,
            error: None,
            in_call: false,
            reported: ReportedMemory::default(),
        })
    }

    /// The payload as a buffer; none for a fragment.
    #[napi(catch_unwind)]
    pub fn decompress<'env>(&mut self, env: &'env Env, frame: &[u8]) -> Result<Option<BufferSlice<'env>>> {
        self.receive(env, frame, |payload| BufferSlice::copy_from(env, payload).map_err(|_| NO_MEMORY))
    }

    /// The payload as a string; none for a fragment.
    #[napi(catch_unwind)]
    pub fn decompress_text<'env>(&mut self, env: &'env Env, frame: &[u8]) -> Result<Option<JsString<'env>>> {
        self.receive(env, frame, |payload| text_of(env, payload))
    }

    #[napi(catch_unwind)]
    pub fn reset(&mut self, env: &Env) -> Result<()> {
        self.session.reset();
        (self.last, self.payload_bytes, self.error, self.in_call) = (None, 0, None, false);
        self.reported.update(env, self.memory_held())
    }

    #[napi(catch_unwind)]
    pub fn resume_after(&mut self, sequence: f64) {
        self.session.resume_after(sequence as u64);
    }

    #[napi(catch_unwind)]
    pub fn recording(&self, env: &Env) -> Result<Option<Buffer>> {
        self.session.recording().map(|file| buffer_of(env, file)).transpose()
    }

    #[napi(getter, catch_unwind)]
    pub fn messages(&self) -> f64 {
        self.session.messages() as f64
    }

    #[napi(getter, catch_unwind)]
    pub fn compressed_bytes(&self) -> f64 {
        self.session.consumed() as f64
    }

    #[napi(getter, catch_unwind)]
    pub fn payload_bytes(&self) -> f64 {
        self.payload_bytes as f64
    }

    #[napi(getter, catch_unwind)]
    pub fn memory(&self) -> f64 {
        self.memory_held() as f64
    }

    #[napi(getter, catch_unwind)]
    pub fn envelope(&self) -> Option<Envelope> {
        self.last.clone()
    }

    #[napi(getter, catch_unwind)]
    pub fn error<'env>(&self, env: &'env Env) -> Result<Option<Object<'env>>> {
        let error = self.session.error().or(self.error);
        error.map(|error| session_error_object(env, error)).transpose()
    }
}

const NO_MEMORY: Error =
    Error::new(Kind::Limit, 0, "there is no memory for the payload, or it is too long for a string");

impl GatewaySession {
    fn receive<T>(
        &mut self,
        env: &Env,
        frame: &[u8],
        deliver: impl FnOnce(&[u8]) -> linerate_core::Result<T>,
    ) -> Result<Option<T>> {
        if self.in_call {
            return Err(broken(env));
        }
        if let Some(error) = self.error {
            return Err(raise_session_error(env, error));
        }
        self.in_call = true;
        let begin = self.session.consumed();
        let mut scratch = SCRATCH.acquire();
        let delivered = match self.session.message(frame, &mut scratch) {
            Ok(None) => Ok(None),
            Ok(Some(message)) => {
                self.payload_bytes += message.payload.len() as u64;
                self.last = message.envelope.map(Envelope::from);
                deliver(message.payload).map(Some).map_err(|error| SessionError {
                    error: error.shifted(begin),
                    message_index: message.index,
                })
            }
            Err(error) => Err(error),
        };
        drop(scratch);
        self.in_call = false;
        self.reported.update(env, self.memory_held())?;
        delivered.map_err(|error| {
            // Of a stream it persists, as the session's own do: what follows may depend on the lost message.
            if matches!(self.session.transport(), Transport::Zlib | Transport::Zstd)
                && self.session.error().is_none()
            {
                self.error = Some(error);
            }
            raise_session_error(env, error)
        })
    }

    fn memory_held(&self) -> usize {
        size_of::<Self>() - size_of::<Session>() + self.session.memory()
    }
}

impl ObjectFinalize for GatewaySession {
    fn finalize(self, env: Env) -> Result<()> {
        self.reported.freed(&env)
    }
}

/// A string of UTF-8. That of ASCII alone is made much faster.
fn text_of<'env>(env: &'env Env, bytes: &[u8]) -> linerate_core::Result<JsString<'env>> {
    if bytes.is_ascii() {
        return env.create_string_latin1(bytes).map_err(|_| NO_MEMORY);
    }
    let text =
        std::str::from_utf8(bytes).map_err(|_| Error::new(Kind::Corrupt, 0, "the payload is not UTF-8"))?;
    env.create_string(text).map_err(|_| NO_MEMORY)
}

fn session_of(options: &GatewayOptions) -> std::result::Result<Session, &'static str> {
    let transport: Transport = options.kind.parse().map_err(|_| "there is no such kind of transport")?;
    let limits = Limits::new().max_message(options.max_message as usize).window_log(options.window_log);
    let checks = match &options.checks {
        Some(name) => Checks::complete(encoding_of(name)?).sequence(options.sequence),
        None => Checks::NONE,
    };
    let session = Session::new(transport, limits).checks(checks);
    Ok(match (options.recent_messages, options.recent_bytes) {
        (Some(messages), Some(bytes)) => session.keep_recent(messages as usize, bytes as usize),
        _ => session,
    })
}

fn encoding_of(name: &str) -> std::result::Result<Encoding, &'static str> {
    match name {
        "json" => Ok(Encoding::Json),
        "etf" => Ok(Encoding::Etf),
        _ => Err("the encoding must be \"json\" or \"etf\""),
    }
}

/// The kinds of transports.
#[napi(catch_unwind)]
pub fn gateway_kinds() -> Vec<String> {
    Transport::ALL.iter().map(|transport| transport.name().to_owned()).collect()
}

/// Reads the envelope of a payload without the rest.
#[napi(catch_unwind)]
pub fn gateway_peek(env: Env, payload: &[u8], encoding: String) -> Result<Envelope> {
    let peeked =
        encoding_of(&encoding).and_then(|encoding| linerate_gateway::Envelope::peek(payload, encoding));
    peeked.map(Envelope::from).map_err(|what| raise(&env, Error::new(Kind::Corrupt, 0, what)))
}
