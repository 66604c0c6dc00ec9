//! Decodes frames and payloads that begin or end at a guard page, so that an access just outside
//! them ends the program.
use linerate_gateway::{Encoding, Envelope, Limits, Scratch, Session, Transport};
use linerate_testkit::sys::guarded::Guarded;

use crate::common::{Noise, traffic, wire};

/// Copies the bytes to the end of the memory if `last`, else to its beginning.
fn place<'a>(memory: &'a mut Guarded, bytes: &[u8], last: bool) -> &'a [u8] {
    let to = if last { memory.last(bytes.len()) } else { memory.first(bytes.len()) };
    to.copy_from_slice(bytes);
    to
}

/// Decodes a connection up to the first error and returns the payloads.
fn decode(
    session: &mut Session,
    memory: &mut Guarded,
    frames: &[Vec<u8>],
    last: bool,
) -> Vec<Option<Vec<u8>>> {
    let mut scratch = Scratch::new();
    session.reset();
    let one = |frame: &Vec<u8>| {
        let frame = place(memory, frame, last);
        session
            .message(frame, &mut scratch)
            .ok()
            .map(|message| message.map_or(Vec::new(), |m| m.payload.to_vec()))
    };
    frames.iter().map(one).take_while(Option::is_some).collect()
}

#[test]
fn frames_are_not_read_out_of_bounds() {
    let sent = traffic(21, 2, 30);
    for transport in Transport::ALL {
        let wire = wire(transport, &sent);
        let mut memory = Guarded::new(wire.iter().map(Vec::len).max().unwrap());
        let mut session = Session::new(transport, Limits::new());
        for last in [true, false] {
            let got = decode(&mut session, &mut memory, &wire, last);
            assert!(got.iter().map(Option::as_ref).eq(sent.iter().map(Some)));
        }
    }
}

#[test]
fn truncated_and_damaged_frames_are_not_read_out_of_bounds() {
    let sent = traffic(22, 1, 6);
    let mut noise = Noise::new(22);
    for transport in Transport::ALL {
        let wire = wire(transport, &sent);
        let mut memory = Guarded::new(wire.iter().map(Vec::len).max().unwrap() + 4);
        let mut session = Session::new(transport, Limits::new());
        for round in 0..4000 {
            let mut frames = wire.clone();
            let at = noise.below(frames.len());
            let frame = &mut frames[at];
            match round % 3 {
                0 => frame.truncate(noise.below(frame.len())),
                1 => {
                    let bit = noise.below(8 * frame.len());
                    frame[bit / 8] ^= 1 << (bit % 8);
                }
                _ => {
                    let from = noise.below(frame.len());
                    frame[from..].iter_mut().for_each(|byte| *byte = noise.next() as u8);
                }
            }
            if transport == Transport::Zlib {
                // Makes the damaged frame end like a message.
                frame.extend([0, 0, 0xff, 0xff]);
            }
            let [one, other] =
                [true, false].map(|last| decode(&mut session, &mut memory, &frames[..=at], last));
            assert!(one == other, "{transport} {round}");
        }
    }
}

#[test]
fn payloads_are_not_read_out_of_bounds() {
    let text =
        br#"{"t":"A\"B","s":7,"op":0,"d":{"list":[1,2,{"x":"]}\\"}],"text":"some words, and more of them"}}"#;
    let mut memory = Guarded::new(4096);
    for spaces in 0..140 {
        let payload = [&text[..text.len() - 1], &vec![b' '; spaces], b"}"].concat();
        for len in 0..=payload.len() {
            for last in [true, false] {
                let payload = place(&mut memory, &payload[..len], last);
                let whole = len == text.len() + spaces;
                assert_eq!(Envelope::read(payload, Encoding::Json).is_ok(), whole);
                let peeked = Envelope::peek(payload, Encoding::Json);
                assert_eq!(peeked.is_ok(), len > 24, "{len}");
                assert!(Envelope::peek(payload, Encoding::Etf).is_err());
            }
        }
    }
}
