//! The functions behind `GatewayDecompressor`; envelopes of payloads.

use linerate_core::{Error, Kind};
use linerate_gateway::{Checks, Encoding, Limits, ScratchPool, Session, SessionError, Transport};
use napi::bindgen_prelude::{Buffer, External, Object};
use napi::{Env, JsValue, Result};
use napi_derive::napi;

use crate::call::{Arguments, Function, UNDEFINED, Value};
use crate::error::{Failure, raise, session_error_object};
use crate::memory::{ReportedMemory, buffer_of};
use crate::text::string_of;

/// Working memory that all connections of the process share. Each thread uses one item of the pool
/// while it decodes a message.
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

/// Options of a decompressor. JavaScript has checked them.
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
pub struct GatewaySession {
    session: Session,
    last: Option<Envelope>,
    payload_bytes: u64,
    /// The error of a stream whose payload could not be delivered. Every later call that
    /// decompresses returns it, until a reset.
    error: Option<SessionError>,
    /// Whether a call is under way, or has panicked.
    in_call: bool,
    reported: ReportedMemory,
}

/// Counts of a connection.
#[napi(object)]
pub struct GatewayCounts {
    pub messages: f64,
    pub compressed_bytes: f64,
    pub payload_bytes: f64,
    pub memory: f64,
}

#[napi(catch_unwind)]
pub fn gateway_session(env: Env, options: GatewayOptions) -> Result<External<GatewaySession>> {
    let session = session_of(&options).map_err(|what| raise(&env, Error::new(Kind::BadArgument, 0, what)))?;
    Ok(External::new(GatewaySession {
        session,
        last: None,
        payload_bytes: 0,
        error: None,
        in_call: false,
        reported: ReportedMemory::new(env),
    }))
}

#[napi(catch_unwind)]
pub fn gateway_reset(session: &mut External<GatewaySession>) -> Result<()> {
    session.session.reset();
    (session.last, session.payload_bytes, session.error, session.in_call) = (None, 0, None, false);
    let memory = session.memory_held();
    session.reported.update(memory)
}

#[napi(catch_unwind)]
pub fn gateway_resume_after(session: &mut External<GatewaySession>, sequence: f64) {
    session.session.resume_after(sequence as u64);
}

#[napi(catch_unwind)]
pub fn gateway_recording(env: &Env, session: &External<GatewaySession>) -> Result<Option<Buffer>> {
    if session.session.recent().is_none() {
        return Ok(None);
    }
    let what = "a kept message has more than 1 GiB, which a recording cannot have";
    let file = session.session.recording();
    let file = file.ok_or_else(|| raise(env, Error::new(Kind::Limit, 0, what)))?;
    buffer_of(env, file).map(Some)
}

#[napi(catch_unwind)]
pub fn gateway_counts(session: &External<GatewaySession>) -> GatewayCounts {
    GatewayCounts {
        messages: session.session.messages() as f64,
        compressed_bytes: session.session.consumed() as f64,
        payload_bytes: session.payload_bytes as f64,
        memory: session.memory_held() as f64,
    }
}

#[napi(catch_unwind)]
pub fn gateway_envelope(session: &External<GatewaySession>) -> Option<Envelope> {
    session.last.clone()
}

#[napi(catch_unwind)]
pub fn gateway_error<'env>(
    env: &'env Env,
    session: &External<GatewaySession>,
) -> Result<Option<Object<'env>>> {
    let error = session.session.error().or(session.error);
    error.map(|error| session_error_object(env, error)).transpose()
}

/// Decompresses a websocket message. Returns the payload as a string, or null if the gateway's
/// message is incomplete.
pub(crate) struct GatewayText;

impl Function for GatewayText {
    type Object = GatewaySession;

    fn call(session: &mut GatewaySession, arguments: &Arguments) -> std::result::Result<Value, Failure> {
        let Some(frame) = arguments.data() else { return Ok(UNDEFINED) };
        session.receive(frame, arguments, |payload| {
            let text = string_of(&arguments.env, payload).map_err(|_| NO_MEMORY)?;
            let text = text.ok_or(Error::new(Kind::Corrupt, 0, "the payload is not UTF-8"))?;
            Ok(text.raw())
        })
    }
}

/// Decompresses a websocket message. [Delivers](Arguments::deliver) the payload as bytes, or
/// returns null if the gateway's message is incomplete.
pub(crate) struct GatewayBytes;

impl Function for GatewayBytes {
    type Object = GatewaySession;

    fn call(session: &mut GatewaySession, arguments: &Arguments) -> std::result::Result<Value, Failure> {
        let Some(frame) = arguments.data() else { return Ok(UNDEFINED) };
        session.receive(frame, arguments, |payload| arguments.deliver(payload).map_err(|_| NO_MEMORY))
    }
}

const NO_MEMORY: Error =
    Error::new(Kind::Limit, 0, "out of memory for the payload, or it is too long for a string");

impl GatewaySession {
    fn receive(
        &mut self,
        frame: &[u8],
        arguments: &Arguments,
        deliver: impl FnOnce(&[u8]) -> linerate_core::Result<Value>,
    ) -> std::result::Result<Value, Failure> {
        if self.in_call {
            return Err(Failure::Broken);
        }
        if let Some(error) = self.error {
            return Err(error.into());
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
        self.reported.update(self.memory_held())?;
        // In a stream, the error of a payload that could not be delivered persists like those of
        // the session, since the payload is lost.
        if let Err(error) = delivered
            && self.session.transport().is_stream()
            && self.session.error().is_none()
        {
            self.error = Some(error);
        }
        match delivered? {
            Some(payload) => Ok(payload),
            None => Ok(arguments.null()?),
        }
    }

    fn memory_held(&self) -> usize {
        size_of::<Self>() - size_of::<Session>() + self.session.memory()
    }
}

fn session_of(options: &GatewayOptions) -> std::result::Result<Session, &'static str> {
    let transport: Transport = options.kind.parse().map_err(|_| "the kind of transport is unknown")?;
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

/// The names of all transports.
#[napi(catch_unwind)]
pub fn gateway_kinds() -> Vec<String> {
    Transport::ALL.iter().map(|transport| transport.name().to_owned()).collect()
}

/// Reads only the envelope of a payload, whose encoding is "json" or "etf".
#[napi(catch_unwind)]
pub fn gateway_peek(env: Env, payload: &[u8], encoding: String) -> Result<Envelope> {
    let peeked =
        encoding_of(&encoding).and_then(|encoding| linerate_gateway::Envelope::peek(payload, encoding));
    peeked.map(Envelope::from).map_err(|what| raise(&env, Error::new(Kind::Corrupt, 0, what)))
}
