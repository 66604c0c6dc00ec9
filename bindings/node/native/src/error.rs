//! Makes JavaScript errors of the engines' errors, with `code`, `kind`, `offset` and, for gateways,
//! `messageIndex`.

use linerate_core::{Error, Kind};
use linerate_gateway::SessionError;
use napi::bindgen_prelude::{JsObjectValue, Object};
use napi::{Env, JsValue, Result};

/// Why a call fails. The JavaScript error is made after the call, since making it may run
/// JavaScript.
pub(crate) enum Failure {
    Engine(Error),
    Session(SessionError),
    /// A panic has left the object in an unknown state.
    Broken,
    Node(napi::Error),
}

impl Failure {
    pub(crate) fn raise(self, env: &Env) -> napi::Error {
        match self {
            Failure::Engine(error) => raise(env, error),
            Failure::Session(error) => raised(session_error_object(env, error)),
            Failure::Broken => broken(env),
            Failure::Node(error) => error,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Engine(error)
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        Failure::Session(error)
    }
}

impl From<napi::Error> for Failure {
    fn from(error: napi::Error) -> Self {
        Failure::Node(error)
    }
}

/// Makes the JavaScript error of an engine's error.
pub(crate) fn raise(env: &Env, error: Error) -> napi::Error {
    raised(object(env, &error.to_string(), error.kind, error.offset))
}

/// Makes the error object of a connection's error, without throwing it.
pub(crate) fn session_error_object<'e>(env: &'e Env, error: SessionError) -> Result<Object<'e>> {
    let mut object = object(env, &error.to_string(), error.kind(), error.offset())?;
    object.set_named_property("messageIndex", error.message_index as f64)?;
    Ok(object)
}

/// The error for calls of an object that a panic has left in an unknown state.
pub(crate) fn broken(env: &Env) -> napi::Error {
    let made = env.create_error(napi::Error::from_reason("an internal error occurred in an earlier call"));
    raised(made.and_then(|mut object| {
        object.set_named_property("code", "ERR_LINERATE_INTERNAL")?;
        Ok(object)
    }))
}

fn object<'e>(env: &'e Env, text: &str, kind: Kind, offset: u64) -> Result<Object<'e>> {
    let mut object = env.create_error(napi::Error::from_reason(text))?;
    object.set_named_property("code", code(kind))?;
    object.set_named_property("kind", kind.name())?;
    object.set_named_property("offset", offset as f64)?;
    Ok(object)
}

fn raised(object: Result<Object<'_>>) -> napi::Error {
    match object {
        Ok(object) => napi::Error::from(object.to_unknown()),
        Err(error) => error,
    }
}

const fn code(kind: Kind) -> &'static str {
    match kind {
        Kind::Truncated => "ERR_LINERATE_TRUNCATED",
        Kind::Corrupt => "ERR_LINERATE_CORRUPT",
        Kind::Unsupported => "ERR_LINERATE_UNSUPPORTED",
        Kind::OutputTooSmall => "ERR_LINERATE_OUTPUT_TOO_SMALL",
        Kind::Limit => "ERR_LINERATE_LIMIT",
        Kind::Read => "ERR_LINERATE_READ",
        Kind::Write => "ERR_LINERATE_WRITE",
        _ => "ERR_LINERATE_BAD_ARGUMENT",
    }
}
