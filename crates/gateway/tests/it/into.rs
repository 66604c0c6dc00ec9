//! Payloads in buffers of the caller, between guard pages.

use linerate_gateway::{Kind, Limits, Message, Scratch, Session, SessionError, Transport};
use linerate_testkit::sys::guarded::Guarded;

use crate::common::{Noise, traffic, wire};

/// Smallest buffer in which messages of zstd streams are decoded directly: a block of the usual
/// window.
const BLOCK: usize = 64 << 10;

const MOST: usize = 1 << 20;

/// Traffic, and messages whose sizes are around multiples of a block.
fn sent() -> Vec<Vec<u8>> {
    let mut sent = traffic(31, 12, 30);
    let text = sent.concat();
    let text = text.repeat(MOST / text.len() + 1);
    for len in [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 3 * BLOCK + 7, 500_000] {
        sent.push(text[len / 2..][..len].to_vec());
        sent.push(text[len..][..200].to_vec());
    }
    sent
}

fn room(noise: &mut Noise, len: usize) -> usize {
    match noise.below(8) {
        0 => 0,
        1 => len.saturating_sub(1),
        2 => len,
        3 => len + 1,
        4 => BLOCK - 1 + noise.below(3),
        5 => (len / BLOCK).max(1) * BLOCK,
        6 => len / 2,
        _ => MOST - noise.below(1000),
    }
}

#[test]
fn payload_is_in_the_buffer_if_it_fits_there() {
    let sent = sent();
    let (mut memory, mut noise, mut scratch) = (Guarded::new(MOST), Noise::new(31), Scratch::new());
    for transport in Transport::ALL {
        let wire = wire(transport, &sent);
        let mut session = Session::new(transport, Limits::new());
        for round in 0..4 {
            session.reset();
            for (i, (wire, sent)) in wire.iter().zip(&sent).enumerate() {
                let room = room(&mut noise, sent.len());
                let out = memory.last(room);
                let buffer = out.as_ptr_range();
                let message = session.message_into(wire, &mut scratch, out).unwrap().unwrap();
                assert_eq!(message.payload, sent, "{transport} {round} {i}, room for {room}");
                assert_eq!((message.index, message.compressed), (i as u64, wire.len()));
                let is_in_place = buffer.contains(&message.payload.as_ptr());
                assert_eq!(is_in_place, sent.len() <= room, "{transport} {round} {i}, room for {room}");
            }
        }
    }
}

#[test]
fn damage_and_limits_are_the_same_errors_as_without_a_buffer() {
    let sent = sent();
    let (mut memory, mut noise, mut scratch) = (Guarded::new(MOST), Noise::new(32), Scratch::new());
    let limits = Limits::new().max_message(2 * BLOCK);
    for transport in Transport::ALL {
        let wire = wire(transport, &sent);
        let mut sessions = [(); 2].map(|()| Session::new(transport, limits));
        let mut kinds = Vec::new();
        for round in 0..60 {
            let mut frames = wire.clone();
            if round > 0 {
                let at = noise.below(frames.len());
                let bit = noise.below(8 * frames[at].len());
                frames[at][bit / 8] ^= 1 << (bit % 8);
            }
            let [one, other] = &mut sessions;
            for (frame, sent) in frames.iter().zip(&sent) {
                let payload = |result: Result<Option<Message<'_>>, SessionError>| {
                    result.map(|message| message.map(|message| message.payload.to_vec()))
                };
                let expected = payload(one.message(frame, &mut scratch));
                let out = memory.last(room(&mut noise, sent.len()));
                assert_eq!(payload(other.message_into(frame, &mut scratch, out)), expected, "{transport}");
                kinds.extend(expected.err().map(|error| error.kind()));
            }
            sessions.iter_mut().for_each(Session::reset);
        }
        assert!(kinds.contains(&Kind::Limit), "{transport}");
        assert!(kinds.contains(&Kind::Corrupt), "{transport}");
    }
}
