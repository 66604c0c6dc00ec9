//! The wire format of one connection: encoding, compression and fragments.

use std::borrow::Cow;
use std::num::NonZeroUsize;

use linerate_gateway::{Encoder, Encoding, Result, Transport};
use serde_json::Value;
use tungstenite::Message;
use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::{Data, OpCode};

use crate::script::InjectedFault;
use crate::term;

/// The wire format of one connection: encoding, compression and fragments.
pub(crate) struct WireFormat {
    encoding: Encoding,
    /// `None` without compression.
    encoder: Option<Encoder>,
    transport: Option<Transport>,
    fragment: Option<NonZeroUsize>,
}

impl WireFormat {
    pub(crate) fn new(
        encoding: Encoding,
        transport: Option<Transport>,
        fragment: Option<NonZeroUsize>,
    ) -> Result<Self> {
        Ok(WireFormat { encoding, encoder: transport.map(Encoder::new).transpose()?, transport, fragment })
    }

    /// Converts a JSON payload to the connection's encoding.
    pub(crate) fn encode<'p>(&self, payload: &'p [u8]) -> Cow<'p, [u8]> {
        match self.encoding {
            Encoding::Json => payload.into(),
            Encoding::Etf => term::from_json(payload).into(),
        }
    }

    /// Decodes a client's message. Returns `None` if it is not in the connection's encoding.
    pub(crate) fn decode(&self, message: &[u8]) -> Option<Value> {
        match self.encoding {
            Encoding::Json => serde_json::from_slice(message).ok(),
            Encoding::Etf => term::decode(message),
        }
    }

    /// Compresses an encoded payload.
    pub(crate) fn compress(&mut self, payload: &[u8]) -> Result<Vec<u8>> {
        let Some(encoder) = &mut self.encoder else { return Ok(payload.to_vec()) };
        let mut wire = Vec::new();
        encoder.message(payload, &mut wire)?;
        Ok(wire)
    }

    /// Splits the compressed bytes of a payload into websocket messages, for a zlib stream, or into
    /// frames of one message.
    pub(crate) fn messages(&self, wire: &[u8]) -> Vec<Message> {
        if wire.is_empty() {
            return Vec::new();
        }
        let size = self.fragment.map_or(wire.len(), NonZeroUsize::get);
        let pieces = wire.chunks(size);
        if self.transport == Some(Transport::Zlib) {
            return pieces.map(|piece| Message::binary(piece.to_vec())).collect();
        }
        let text = self.transport.is_none() && self.encoding == Encoding::Json;
        let kind = if text { Data::Text } else { Data::Binary };
        let last = pieces.len() - 1;
        let frame = |(i, piece): (usize, &[u8])| {
            let kind = if i == 0 { kind } else { Data::Continue };
            // This is a raw frame, since damaged text may not be UTF-8.
            Message::Frame(Frame::message(piece.to_vec(), OpCode::Data(kind), i == last))
        };
        pieces.enumerate().map(frame).collect()
    }
}

/// Applies the faults that change compressed bytes.
pub(crate) fn damage(wire: &mut Vec<u8>, faults: &[InjectedFault]) {
    for fault in faults {
        match *fault {
            InjectedFault::Flip(bit) if !wire.is_empty() => {
                let len = wire.len();
                wire[bit / 8 % len] ^= 1 << (bit % 8);
            }
            InjectedFault::Truncate => wire.truncate(wire.len() / 2),
            InjectedFault::Drop => wire.clear(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_flips_truncates_and_drops() {
        let damaged = |faults: &[InjectedFault]| {
            let mut wire = vec![0, 0, 0, 0];
            damage(&mut wire, faults);
            wire
        };
        assert_eq!(damaged(&[InjectedFault::Flip(1)]), [2, 0, 0, 0]);
        assert_eq!(damaged(&[InjectedFault::Flip(32 + 15)]), [0, 128, 0, 0]);
        assert_eq!(damaged(&[InjectedFault::Truncate, InjectedFault::Flip(16)]), [1, 0]);
        assert_eq!(
            damaged(&[InjectedFault::Drop, InjectedFault::Flip(0), InjectedFault::Close(4000)]),
            Vec::<u8>::new()
        );
    }

    #[test]
    fn fragments_are_messages_with_zlib_and_frames_otherwise() {
        let of = |encoding, transport| {
            WireFormat::new(encoding, transport, NonZeroUsize::new(3)).unwrap().messages(b"1234567")
        };
        let zlib = of(Encoding::Json, Some(Transport::Zlib));
        assert_eq!(zlib, [&b"123"[..], b"456", b"7"].map(|piece| Message::binary(piece.to_vec())));
        let opcodes = |messages: Vec<Message>| {
            let opcode = |message| match message {
                Message::Frame(frame) => (frame.header().opcode, frame.header().is_final),
                other => panic!("{other:?}"),
            };
            messages.into_iter().map(opcode).collect::<Vec<_>>()
        };
        let frames = |kind| [(kind, false), (Data::Continue, false), (Data::Continue, true)];
        let expected = |kind| frames(kind).map(|(kind, last)| (OpCode::Data(kind), last));
        assert_eq!(opcodes(of(Encoding::Json, Some(Transport::Zstd))), expected(Data::Binary));
        assert_eq!(opcodes(of(Encoding::Json, None)), expected(Data::Text));
        assert_eq!(opcodes(of(Encoding::Etf, None)), expected(Data::Binary));
    }
}
