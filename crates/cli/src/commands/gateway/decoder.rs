//! The decoder of a connection: ours, or a peer to compare with.

use std::borrow::Cow;

use linerate_bench::messages::PeerDecoder;
use linerate_core::Kind;
use linerate_gateway::{Scratch, Session};

use crate::ui::error::CliError;

pub(crate) enum PayloadDecoder {
    /// The input has payloads.
    Nothing,
    Ours {
        session: Box<Session>,
        scratch: Scratch,
    },
    Other {
        name: String,
        decoder: Box<PeerDecoder>,
    },
}

/// Why a message was not decoded.
pub(crate) struct PayloadError {
    pub(crate) kind: Kind,
    /// The compressed byte of the connection, from those that can tell.
    pub(crate) at: Option<u64>,
    pub(crate) what: Cow<'static, str>,
}

impl PayloadDecoder {
    pub(crate) fn ours(session: Session) -> PayloadDecoder {
        PayloadDecoder::Ours { session: Box::new(session), scratch: Scratch::new() }
    }

    /// Decodes a websocket message; `None` if the payload continues in the next one.
    pub(crate) fn frame<'e>(&'e mut self, wire: &'e [u8]) -> Result<Option<&'e [u8]>, PayloadError> {
        match self {
            PayloadDecoder::Nothing => Ok(Some(wire)),
            PayloadDecoder::Ours { session, scratch } => match session.message(wire, scratch) {
                Ok(message) => Ok(message.map(|message| message.payload)),
                Err(fault) => Err(PayloadError {
                    kind: fault.kind(),
                    at: Some(fault.offset()),
                    what: fault.error.message.into(),
                }),
            },
            PayloadDecoder::Other { name, decoder } => decoder.message(wire).map_err(|what| PayloadError {
                kind: Kind::Corrupt,
                at: None,
                what: format!("{name}: {what}").into(),
            }),
        }
    }

    /// Begins a new connection.
    pub(crate) fn reset(&mut self) -> Result<(), CliError> {
        match self {
            PayloadDecoder::Nothing => {}
            PayloadDecoder::Ours { session, .. } => session.reset(),
            PayloadDecoder::Other { decoder, .. } => decoder.reset().map_err(CliError::Refused)?,
        }
        Ok(())
    }

    /// Bytes that the connection holds, and the thread.
    pub(crate) fn memory(&self) -> (usize, usize) {
        match self {
            PayloadDecoder::Nothing => (0, 0),
            PayloadDecoder::Ours { session, scratch } => (session.memory(), scratch.memory()),
            PayloadDecoder::Other { decoder, .. } => (decoder.memory().unwrap_or(0), 0),
        }
    }
}
