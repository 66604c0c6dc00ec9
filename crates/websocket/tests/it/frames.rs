//! Tests handwritten frames, as a peer might send them: fragments, damage, and what RFC 7692
//! forbids.

use std::io::{ErrorKind, Read, Write};

use linerate_testkit::damage::Outcome;
use linerate_websocket::{Agreement, DeflateStream, Direction, Encoder, Level, Options, Role, Scratch};

use crate::common::{End, chat, noise, pair};

/// A frame without a mask, with a length below 126.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    [&[first, payload.len() as u8], payload].concat()
}

fn agreement(bits: u8) -> Agreement {
    Agreement { server: Direction::window_bits(bits), client: Direction::window_bits(bits) }
}

/// Returns a client's stream that is about to receive `wire`, and the peer's end.
fn client(wire: &[u8], options: Options, bits: u8) -> (DeflateStream<End>, End) {
    let (one, mut peer) = pair(usize::MAX);
    peer.outgoing.borrow_mut().extend(wire);
    peer.flush().expect("in memory");
    (DeflateStream::agreed(one, Role::Client, options, Some(agreement(bits))).expect("a stream"), peer)
}

/// Reads everything in pieces of `room` bytes. Returns it, and the error that ended reading, if it
/// was not a lack of input.
fn read_all(stream: &mut DeflateStream<End>, room: usize) -> (Vec<u8>, Option<linerate_websocket::Error>) {
    let (mut all, mut buf, mut waits) = (Vec::new(), vec![0; room], 0);
    loop {
        match stream.read(&mut buf) {
            Ok(n) => {
                all.extend_from_slice(&buf[..n]);
                waits = 0;
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock && waits < 2 => waits += 1,
            Err(e) if e.kind() == ErrorKind::WouldBlock => return (all, None),
            Err(e) => {
                let inner = e.get_ref().and_then(|inner| inner.downcast_ref()).copied();
                return (all, Some(inner.expect("an error of ours")));
            }
        }
    }
}

#[test]
fn fragments_with_control_frames_between_become_a_message() {
    // "Hello" in two fragments (RFC 7692, section 7.2.3.1) with a ping between them.
    let wire = [
        frame(0x41, &[0xf2, 0x48, 0xcd]),
        frame(0x89, b"ping"),
        frame(0x80, &[0xc9, 0xc9, 0x07, 0x00]),
        frame(0x81, b"plain"),
        frame(0xc2, &[0x00]),
    ]
    .concat();
    let (mut stream, _peer) = client(&wire, Options::default(), 15);
    let (got, error) = read_all(&mut stream, 1000);
    assert_eq!(error, None);
    let expected = [
        frame(0x01, b"He"),
        frame(0x89, b"ping"),
        frame(0x80, b"llo"),
        frame(0x81, b"plain"),
        frame(0x82, b""),
    ]
    .concat();
    assert_eq!(got, expected);
}

#[test]
fn a_compressed_message_without_a_payload_is_empty_with_takeover_and_without() {
    let wire = [
        frame(0xc1, &[0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]),
        frame(0xc1, b""),
        frame(0x42, b""),
        frame(0x80, b""),
    ];
    for takeover in [true, false] {
        let direction = Direction { takeover, ..Direction::default() };
        let agreement = Agreement { server: direction, client: direction };
        let (one, peer) = pair(usize::MAX);
        peer.outgoing.borrow_mut().extend(wire.concat().repeat(2));
        let mut stream =
            DeflateStream::agreed(one, Role::Client, Options::default(), Some(agreement)).expect("a stream");
        let (got, error) = read_all(&mut stream, 1000);
        assert_eq!(error, None, "{takeover}");
        assert_eq!(got, [frame(0x81, b"Hello"), frame(0x81, b""), frame(0x82, b"")].concat().repeat(2));
    }
}

#[test]
fn every_frame_of_a_divided_message_has_a_mask_of_its_own() {
    let (one, peer) = pair(usize::MAX);
    let mut stream =
        DeflateStream::agreed(one, Role::Client, Options::default(), Some(agreement(15))).expect("a stream");
    // The library writes one frame with the mask 1, 2, 3, 4.
    let mut wire = [&[0x82, 0xff][..], &(400_000_u64).to_be_bytes(), &[1, 2, 3, 4]].concat();
    wire.extend(noise(400_000));
    for piece in wire.chunks(1 << 14) {
        let mut rest = piece;
        while !rest.is_empty() {
            match stream.write(rest) {
                Ok(n) => rest = &rest[n..],
                Err(e) => assert_eq!(e.kind(), ErrorKind::WouldBlock),
            }
        }
    }
    while stream.flush().is_err() {}
    let sent: Vec<u8> = peer.incoming.borrow().iter().copied().collect();
    let (mut rest, mut masks) = (&sent[..], Vec::new());
    while let [_, len, tail @ ..] = rest {
        let (len, tail) = match len & 0x7f {
            126 => (usize::from(u16::from_be_bytes([tail[0], tail[1]])), &tail[2..]),
            127 => (tail[..8].iter().fold(0, |len, &byte| len << 8 | usize::from(byte)), &tail[8..]),
            len => (usize::from(len), tail),
        };
        masks.push([tail[0], tail[1], tail[2], tail[3]]);
        rest = &tail[4 + len..];
    }
    assert_eq!((masks.len(), masks[0]), (7, [1, 2, 3, 4]));
    masks.sort_unstable();
    masks.dedup();
    assert_eq!(masks.len(), 7);
}

#[test]
fn what_the_rfc_forbids_ends_the_connection_with_a_close_frame() {
    let bomb = {
        let mut encoder = Encoder::new(Direction::default(), Level::Best).expect("an encoder");
        let mut scratch = Scratch::new();
        encoder.message(&mut scratch, &[0; 100_000]).expect("encoded").expect("smaller").to_vec()
    };
    let bomb = [&[0xc2, 126, (bomb.len() >> 8) as u8, bomb.len() as u8], &bomb[..]].concat();
    let cases: [(&str, Vec<u8>, u16); 13] = [
        ("RSV1 in a control frame", frame(0xc9, b""), 1002),
        ("RSV1 in a continuation", [frame(0x41, &[0xf2, 0x48]), frame(0xc0, &[0xcd])].concat(), 1002),
        ("RSV2 beside RSV1", frame(0xe1, b"not deflate"), 1002),
        ("RSV3 beside RSV1", frame(0xd2, b"not deflate"), 1002),
        ("RSV2 in a continuation", [frame(0x41, &[0xf2, 0x48]), frame(0xa0, &[0xcd])].concat(), 1002),
        ("empty blocks", [&[0xc2, 126, 0x40, 0][..], &[3, 0].repeat(1 << 13)].concat(), 1009),
        ("a message inside another", [frame(0x41, &[0xf2, 0x48]), frame(0x81, b"x")].concat(), 1002),
        ("a length of 2^63", [&[0xc2, 127, 0x80][..], &[0; 7]].concat(), 1002),
        ("a block of an unknown kind", frame(0xc2, &[0x06]), 1007),
        ("a match beyond the beginning", frame(0xc2, &[0x02, 0x13, 0x00, 0x00]), 1007),
        ("the end inside a block", frame(0xc2, &[0xf2, 0x48, 0xcd]), 1007),
        ("stored bytes that are the tail", frame(0xc2, &[0x00, 0x04, 0x00, 0xfb, 0xff]), 1007),
        ("a message beyond the limit", bomb, 1009),
    ];
    for (name, wire, code) in cases {
        let (mut stream, peer) = client(&wire, Options { message_limit: 99_999, ..Options::default() }, 15);
        let (_, error) = read_all(&mut stream, 1 << 16);
        assert!(error.is_some(), "{name}");
        assert!(stream.write(&frame(0x81, b"more")).is_err(), "{name}");
        // The close frame has two bytes of header, the mask, and the code.
        let close: Vec<u8> = peer.incoming.borrow().iter().copied().collect();
        assert_eq!((close.len(), &close[..2]), (8, &[0x88, 0x82][..]), "{name}");
        assert_eq!(u16::from_be_bytes([close[6] ^ close[2], close[7] ^ close[3]]), code, "{name}");
    }
}

/// The frames of several messages from a peer with a window of 2^`bits` bytes.
fn conversation(bits: u8) -> Vec<u8> {
    let mut scratch = Scratch::new();
    let mut encoder = Encoder::new(Direction::window_bits(bits), Level::Default).expect("an encoder");
    let mut wire = Vec::new();
    for i in 0..6 {
        let text = chat(i);
        let (start, end) = text.split_at(40);
        wire.extend(frame(0x41, encoder.part(&mut scratch, start.as_bytes(), false).expect("encoded")));
        wire.extend(frame(0x8a, b"pong"));
        wire.extend(frame(0x80, encoder.part(&mut scratch, end.as_bytes(), true).expect("encoded")));
    }
    wire
}

#[test]
fn truncations_give_a_prefix_and_bit_flips_an_error_or_other_frames() {
    let wire = conversation(9);
    let (mut stream, _peer) = client(&wire, Options::default(), 9);
    let (whole, error) = read_all(&mut stream, 4096);
    assert_eq!((error, whole.len() > 600), (None, true));
    for len in 0..wire.len() {
        let (mut stream, _peer) = client(&wire[..len], Options::default(), 9);
        let (got, error) = read_all(&mut stream, 4096);
        assert!(error.is_none() && whole.starts_with(&got), "{len}");
    }
    let mut flips_refused = 0;
    for bit in 0..8 * wire.len() {
        let mut damaged = wire.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let refused = [7, 4096].map(|room| {
            let (mut stream, _peer) = client(&damaged, Options::default(), 9);
            let (got, error) = read_all(&mut stream, room);
            assert!(got.len() < 200_000);
            assert!(stream.memory() < 300_000);
            error.is_some()
        });
        flips_refused += usize::from(refused.contains(&true));
    }
    assert!(flips_refused > wire.len() / 2, "{flips_refused}");
    let (truncations, flips) = (wire.len(), 8 * wire.len());
    // Truncated input gives the whole messages before its end and no error, since the peer may just
    // be gone.
    Outcome { truncations, truncations_refused: 0, flips, flips_refused, ..Outcome::default() }
        .record("reader", "websocket frames");
}

#[test]
fn a_peer_that_uses_a_larger_window_than_agreed_is_refused() {
    let (mut stream, _peer) = client(&conversation(15), Options::default(), 8);
    let (_, error) = read_all(&mut stream, 4096);
    assert_eq!(error.map(|e| e.kind), Some(linerate_websocket::Kind::Corrupt));
}

#[test]
fn a_message_that_expands_a_thousand_times_is_read_in_little_memory() {
    let mut scratch = Scratch::new();
    let mut encoder = Encoder::new(Direction::default(), Level::Best).expect("an encoder");
    let payload = vec![0; 16 << 20];
    let encoded = encoder.message(&mut scratch, &payload).expect("encoded").expect("smaller").to_vec();
    let mut wire = vec![0xc2, 127];
    wire.extend_from_slice(&(encoded.len() as u64).to_be_bytes());
    wire.extend_from_slice(&encoded);
    let (mut stream, _peer) = client(&wire, Options::default(), 15);
    let (mut buf, mut all, mut most) = (vec![0; 1 << 15], 0, 0);
    while all < payload.len() {
        match stream.read(&mut buf) {
            Ok(n) => all += n,
            Err(e) => assert_eq!(e.kind(), ErrorKind::WouldBlock),
        }
        most = most.max(stream.memory());
    }
    assert!(most < 400_000, "{most}");
}
