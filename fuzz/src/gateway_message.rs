//! Independently compressed messages: arbitrary bytes as one message.

use std::sync::Arc;

use linerate_gateway::{Dictionaries, Kind, Limits, Scratch, Session, Transport};
use zlib_rs::{Inflate, InflateFlush, Status};

/// Limit on payloads, in bytes.
const LIMIT: usize = 1 << 18;
const TRANSPORTS: [Transport; 4] =
    [Transport::ZstdFrame, Transport::ZlibMessage, Transport::Gzip, Transport::RawDeflate];
/// A dictionary of content alone, which decodes zstd frames that name no dictionary.
const DICTIONARY: &[u8] = br#"{"t":"PRESENCE_UPDATE","s":1,"op":0,"d":{"status":"idle"}}"#;

/// Returns the payload that zlib-rs decodes, if the whole message is valid and the payload has at
/// most [`LIMIT`] bytes. A gzip message may have several members.
fn theirs(transport: Transport, mut src: &[u8]) -> Option<Vec<u8>> {
    let bits = if transport == Transport::Gzip { 31 } else { 15 };
    let mut out = Vec::new();
    loop {
        let mut inflate = Inflate::new(transport != Transport::RawDeflate, bits);
        let begin = out.len();
        out.resize(LIMIT + 1, 0);
        let status = inflate.decompress(src, &mut out[begin..], InflateFlush::Finish).ok()?;
        out.truncate(begin + inflate.total_out() as usize);
        src = &src[inflate.total_in() as usize..];
        if status != Status::StreamEnd || out.len() > LIMIT {
            return None;
        }
        if src.is_empty() {
            return Some(out);
        }
        if transport != Transport::Gzip {
            return None;
        }
    }
}

/// Decodes a message. The first byte chooses the transport and whether there is a dictionary, the
/// rest is the message.
///
/// # Panics
/// If zlib-rs has another verdict or payload (zstd frames are not compared), if the payload is
/// above the limit or depends on the scratch, or if an error affects the next message.
pub fn gateway_message(data: &[u8]) {
    let Some((&choice, src)) = data.split_first() else { return };
    let transport = TRANSPORTS[usize::from(choice & 3)];
    let session = |limit| {
        let session = Session::new(transport, Limits::new().max_message(limit));
        if choice & 4 == 0 {
            return session;
        }
        session.dictionaries(Arc::new(Dictionaries::new([DICTIONARY]).expect("raw content")))
    };
    let (mut first, mut scratch) = (session(LIMIT), Scratch::new());
    let mut decode = |session: &mut Session| {
        let outcome = session.message(src, &mut scratch);
        outcome.map(|message| message.expect("whole").payload.to_vec())
    };
    let got = decode(&mut first);
    assert!(first.error().is_none());
    assert_eq!(first.messages(), 1);
    // Only kinds are compared: offsets of errors count from the beginning of the connection.
    assert_eq!(decode(&mut first).map_err(|error| error.kind()), got.clone().map_err(|error| error.kind()));
    if transport != Transport::ZstdFrame {
        assert_eq!(got.as_ref().ok(), theirs(transport, src).as_ref());
    }
    let Ok(payload) = got else { return };
    assert!(payload.len() <= LIMIT);
    assert_eq!(decode(&mut session(payload.len())).as_ref(), Ok(&payload));
    if let Some(less) = payload.len().checked_sub(1) {
        assert_eq!(decode(&mut session(less)).expect_err("too long").kind(), Kind::Limit);
    }
}
