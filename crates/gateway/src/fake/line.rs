//! Payloads on their way to the wire.

use std::borrow::Cow;
use std::num::NonZeroUsize;

use serde_json::Value;
use tungstenite::Message;
use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::{Data, OpCode};

use super::script::Trouble;
use super::term;
use crate::checks::Encoding;
use crate::encoder::Encoder;
use crate::fault::Result;
use crate::transport::Transport;

/// One connection's way to the wire: its encoding, its compression, its fragments.
pub(super) struct Line {
    encoding: Encoding,
    /// `None` without compression.
    encoder: Option<Encoder>,
    transport: Option<Transport>,
    fragment: Option<NonZeroUsize>,
}

impl Line {
    pub(super) fn new(
        encoding: Encoding,
        transport: Option<Transport>,
        fragment: Option<NonZeroUsize>,
    ) -> Result<Self> {
        Ok(Line { encoding, encoder: transport.map(Encoder::new).transpose()?, transport, fragment })
    }

    /// A payload, which is JSON, in the connection's encoding.
    pub(super) fn encode<'p>(&self, payload: &'p [u8]) -> Cow<'p, [u8]> {
        match self.encoding {
            Encoding::Json => payload.into(),
            Encoding::Etf => term::from_json(payload).into(),
        }
    }

    /// What the client says, if it is something in the connection's encoding.
    pub(super) fn decode(&self, message: &[u8]) -> Option<Value> {
        match self.encoding {
            Encoding::Json => serde_json::from_slice(message).ok(),
            Encoding::Etf => term::decode(message),
        }
    }

    /// The most bytes that a payload can have here that has so many as JSON.
    pub(super) fn largest(&self, json: usize) -> usize {
        match self.encoding {
            Encoding::Json => json,
            Encoding::Etf => json.saturating_mul(term::EXPANSION),
        }
    }

    /// What goes over the wire for an encoded payload.
    pub(super) fn pack(&mut self, payload: &[u8]) -> Result<Vec<u8>> {
        let Some(encoder) = &mut self.encoder else { return Ok(payload.to_vec()) };
        let mut wire = Vec::new();
        encoder.message(payload, &mut wire)?;
        Ok(wire)
    }

    /// The same as websocket messages, or frames of one.
    pub(super) fn messages(&self, wire: &[u8]) -> Vec<Message> {
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
            // A frame, since text that was damaged need not be text.
            Message::Frame(Frame::message(piece.to_vec(), OpCode::Data(kind), i == last))
        };
        pieces.enumerate().map(frame).collect()
    }
}

/// Does to what goes over the wire what the script says.
pub(super) fn damage(wire: &mut Vec<u8>, troubles: &[Trouble]) {
    for trouble in troubles {
        match *trouble {
            Trouble::Flip(bit) if !wire.is_empty() => {
                let len = wire.len();
                wire[bit / 8 % len] ^= 1 << (bit % 8);
            }
            Trouble::Truncate => wire.truncate(wire.len() / 2),
            Trouble::Drop => wire.clear(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_what_was_asked_for() {
        let damaged = |troubles: &[Trouble]| {
            let mut wire = vec![0, 0, 0, 0];
            damage(&mut wire, troubles);
            wire
        };
        assert_eq!(damaged(&[Trouble::Flip(1)]), [2, 0, 0, 0]);
        assert_eq!(damaged(&[Trouble::Flip(32 + 15)]), [0, 128, 0, 0]);
        assert_eq!(damaged(&[Trouble::Truncate, Trouble::Flip(16)]), [1, 0]);
        assert_eq!(damaged(&[Trouble::Drop, Trouble::Flip(0), Trouble::Close(4000)]), Vec::<u8>::new());
    }

    #[test]
    fn fragments_are_messages_for_zlib_and_frames_otherwise() {
        let of = |encoding, transport| {
            Line::new(encoding, transport, NonZeroUsize::new(3)).unwrap().messages(b"1234567")
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
