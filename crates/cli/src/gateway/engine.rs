//! Who decodes a connection: ours, or another decoder to compare with.

use std::borrow::Cow;

#[cfg(feature = "bench")]
use linerate_bench::messages::Other;
use linerate_core::Kind;
use linerate_gateway::{Scratch, Session};

use crate::failure::Failure;

pub(crate) enum Engine {
    /// Payloads are there already.
    Nothing,
    Ours {
        session: Box<Session>,
        scratch: Scratch,
    },
    #[cfg(feature = "bench")]
    Other {
        name: String,
        decoder: Box<Other>,
    },
}

/// What is wrong with a message.
pub(crate) struct Wrong {
    pub(crate) kind: Kind,
    /// The compressed byte of the connection, from those that can tell.
    pub(crate) at: Option<u64>,
    pub(crate) what: Cow<'static, str>,
}

impl Engine {
    pub(crate) fn ours(session: Session) -> Engine {
        Engine::Ours { session: Box::new(session), scratch: Scratch::new() }
    }

    /// Decodes what a websocket message brought; `None` if the rest is to come.
    pub(crate) fn frame<'e>(&'e mut self, wire: &'e [u8]) -> Result<Option<&'e [u8]>, Wrong> {
        match self {
            Engine::Nothing => Ok(Some(wire)),
            Engine::Ours { session, scratch } => match session.message(wire, scratch) {
                Ok(message) => Ok(message.map(|message| message.payload)),
                Err(fault) => Err(Wrong {
                    kind: fault.error.kind,
                    at: Some(fault.error.offset),
                    what: fault.error.message.into(),
                }),
            },
            #[cfg(feature = "bench")]
            Engine::Other { name, decoder } => decoder.message(wire).map_err(|what| Wrong {
                kind: Kind::Corrupt,
                at: None,
                what: format!("{name}: {what}").into(),
            }),
        }
    }

    /// Begins a new connection.
    pub(crate) fn reset(&mut self) -> Result<(), Failure> {
        match self {
            Engine::Nothing => {}
            Engine::Ours { session, .. } => session.reset(),
            #[cfg(feature = "bench")]
            Engine::Other { decoder, .. } => decoder.reset().map_err(Failure::Refused)?,
        }
        Ok(())
    }

    /// Bytes that the connection holds, and the thread.
    pub(crate) fn memory(&self) -> (usize, usize) {
        match self {
            Engine::Nothing => (0, 0),
            Engine::Ours { session, scratch } => (session.memory(), scratch.memory()),
            #[cfg(feature = "bench")]
            Engine::Other { decoder, .. } => (decoder.memory().unwrap_or(0), 0),
        }
    }
}
