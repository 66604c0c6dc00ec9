//! The decoder of a connection: this project's own, or that of another library to compare with.

use std::borrow::Cow;

use linerate_core::Kind;
use linerate_gateway::{Scratch, Session};

use super::peer_decoder::PeerDecoder;
use crate::ui::error::CliError;

pub(crate) enum PayloadDecoder {
    /// The input holds payloads, which are not compressed.
    Uncompressed,
    Linerate {
        session: Box<Session>,
        scratch: Scratch,
    },
    Peer(Box<PeerDecoder>),
}

/// Why a message was not decoded.
pub(crate) struct PayloadError {
    pub(crate) kind: Kind,
    /// Offset in the compressed bytes of the connection, if the decoder reports one.
    pub(crate) offset: Option<u64>,
    pub(crate) message: Cow<'static, str>,
}

impl PayloadDecoder {
    pub(crate) fn linerate(session: Session) -> PayloadDecoder {
        PayloadDecoder::Linerate { session: Box::new(session), scratch: Scratch::new() }
    }

    /// Decodes a websocket message; `None` if the payload continues in the next one.
    pub(crate) fn frame<'e>(&'e mut self, wire: &'e [u8]) -> Result<Option<&'e [u8]>, PayloadError> {
        match self {
            PayloadDecoder::Uncompressed => Ok(Some(wire)),
            PayloadDecoder::Linerate { session, scratch } => match session.message(wire, scratch) {
                Ok(message) => Ok(message.map(|message| message.payload)),
                Err(error) => Err(PayloadError {
                    kind: error.kind(),
                    offset: Some(error.offset()),
                    message: error.error.message.into(),
                }),
            },
            PayloadDecoder::Peer(decoder) => decoder.message(wire).map_err(|(name, message)| PayloadError {
                kind: Kind::Corrupt,
                offset: None,
                message: format!("{name}: {message}").into(),
            }),
        }
    }

    /// Begins a new connection.
    pub(crate) fn reset(&mut self) -> Result<(), CliError> {
        match self {
            PayloadDecoder::Uncompressed => {}
            PayloadDecoder::Linerate { session, .. } => session.reset(),
            PayloadDecoder::Peer(decoder) => decoder.reset().map_err(CliError::Refused)?,
        }
        Ok(())
    }

    /// Memory of the connection and of the thread's scratch buffers, in bytes; 0 where unknown.
    pub(crate) fn memory(&self) -> (usize, usize) {
        match self {
            PayloadDecoder::Uncompressed => (0, 0),
            PayloadDecoder::Linerate { session, scratch } => (session.memory(), scratch.memory()),
            PayloadDecoder::Peer(decoder) => (decoder.memory(), 0),
        }
    }
}
