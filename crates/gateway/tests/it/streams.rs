//! Whole connections, and messages split into fragments in every way that their transport allows.

use linerate_gateway::{Checks, Encoding, Kind, Limits, Scratch, Session, Transport};

use crate::common::{Noise, hex, traffic, wire};

/// Decodes a whole message and asserts that its payload equals `sent`.
fn receive(session: &mut Session, scratch: &mut Scratch, wire: &[u8], sent: &[u8]) {
    let message = session.message(wire, scratch).expect("a sound message").expect("a whole one");
    assert_eq!(message.payload, sent);
}

#[test]
fn connections_round_trip() {
    let sent = traffic(1, 20, 600);
    for transport in Transport::ALL {
        let wire = wire(transport, &sent);
        let mut scratch = Scratch::new();
        let checks = Checks::complete(Encoding::Json).sequence(true);
        let mut session = Session::new(transport, Limits::new()).checks(checks);
        for round in 0..2 {
            let mut consumed = 0;
            for (i, (wire, sent)) in wire.iter().zip(&sent).enumerate() {
                let message = session.message(wire, &mut scratch).unwrap().unwrap();
                assert_eq!(message.payload, sent, "{transport} {round} {i}");
                assert_eq!((message.index, message.compressed), (i as u64, wire.len()));
                consumed += wire.len() as u64;
                assert_eq!((session.messages(), session.consumed()), (i as u64 + 1, consumed));
            }
            session.reset();
        }
    }
}

#[test]
fn interleaved_sessions_share_a_scratch() {
    let sent: Vec<_> = (0..6).map(|seed| traffic(seed, 3, 50)).collect();
    let mut scratch = Scratch::new();
    let mut sessions: Vec<(Session, Vec<Vec<u8>>)> = sent
        .iter()
        .enumerate()
        .map(|(i, sent)| {
            let transport = Transport::ALL[i % 6];
            (Session::new(transport, Limits::new()), wire(transport, sent))
        })
        .collect();
    for at in 0..sent[0].len() {
        for ((session, wire), sent) in sessions.iter_mut().zip(&sent) {
            receive(session, &mut scratch, &wire[at], &sent[at]);
        }
    }
}

#[test]
fn recorded_first_messages_decode() {
    let text = br#"{"t":null,"s":null,"op":10,"d":{"heartbeat_interval":41250,"_trace":["[\"gateway-prd-us-east1-d-0\",{\"micros\":0.0}]"]}}"#;
    let zlib = hex(
        "789c34c9410ac2301005d0bbfc752289e866aed29432368316625b26534542eeae1b770f5e8381d6a31487fac7b6836270c8a08687b0da4dd8\
         a66535d11717d0259eafbf9f4c7916d08021e1ce266ffef85db33faa17ae167df621c1b584e732eb5613289c421f31f6fe050000ffff",
    );
    let zstd = hex(
        "28b52ffd00304403001207181b7069db1441e86e30fb898f22fcfbf0e3ffdf4c882e612b50ff8710ef1d3f5e02529f1ac312e5f0e4ce53a242\
         d46d191b02156b70b10aee2d3c1937f49c2c6be427070124d0af4d30ee45417a99d06cd970a7573f89f40dd37ed6422cfabe0b0100244a12",
    );
    let mut scratch = Scratch::new();
    for (transport, wire) in [(Transport::Zlib, zlib), (Transport::Zstd, zstd)] {
        receive(&mut Session::new(transport, Limits::new()), &mut scratch, &wire, text);
    }
}

#[test]
fn zlib_message_in_two_fragments_split_anywhere_decodes() {
    let sent = traffic(2, 1, 12);
    let wire = wire(Transport::Zlib, &sent);
    let mut scratch = Scratch::new();
    let longest = wire.iter().map(Vec::len).max().unwrap();
    for cut in 0..=longest {
        let mut session = Session::new(Transport::Zlib, Limits::new());
        for (wire, sent) in wire.iter().zip(&sent) {
            let (head, tail) = wire.split_at(cut.min(wire.len()));
            if !tail.is_empty() {
                assert_eq!(session.message(head, &mut scratch).unwrap(), None);
                let message = session.message(tail, &mut scratch).unwrap().unwrap();
                assert_eq!((message.payload, message.compressed), (&sent[..], wire.len()));
            } else {
                receive(&mut session, &mut scratch, wire, sent);
            }
        }
    }
}

#[test]
fn zlib_message_in_any_number_of_fragments_decodes() {
    let sent = traffic(3, 4, 60);
    let wire = wire(Transport::Zlib, &sent);
    let mut scratch = Scratch::new();
    for seed in 0..20 {
        let mut noise = Noise::new(seed);
        let mut session = Session::new(Transport::Zlib, Limits::new());
        for (wire, sent) in wire.iter().zip(&sent) {
            let mut rest = &wire[..];
            loop {
                let (fragment, after) = rest.split_at(noise.below(rest.len().min(40) + 1));
                rest = after;
                let message = session.message(fragment, &mut scratch).unwrap();
                assert_eq!(message.is_some(), rest.is_empty() && !fragment.is_empty());
                if let Some(message) = message {
                    assert_eq!(message.payload, sent);
                    break;
                }
            }
        }
        assert_eq!(session.messages(), sent.len() as u64);
    }
}

/// A stored block of deflate with this content.
fn stored(content: &[u8]) -> Vec<u8> {
    let len = content.len() as u16;
    let mut block = vec![0];
    block.extend(len.to_le_bytes());
    block.extend((!len).to_le_bytes());
    block.extend(content);
    block
}

#[test]
fn flush_marker_within_a_message_does_not_end_it() {
    // A fragment ends after content that looks like the end of a message. It is followed by other
    // content, by the real end, or by the same content again.
    let head = [0x78, 0x9c];
    let block = stored(b"ab\x00\x00\xff\xff");
    for after in [stored(b"c"), stored(b""), block.clone()] {
        let mut scratch = Scratch::new();
        let mut session = Session::new(Transport::Zlib, Limits::new());
        let first = [&head[..], &block].concat();
        assert!(first.ends_with(&[0, 0, 0xff, 0xff]));
        assert_eq!(session.message(&first, &mut scratch).unwrap(), None);
        let message = session.message(&[&after[..], &stored(b"")].concat(), &mut scratch);
        let expected = [b"ab\x00\x00\xff\xff", &after[5..]].concat();
        assert_eq!(message.unwrap().unwrap().payload, expected);
        // An empty stored block that is split between its length and the complement of that.
        assert_eq!(session.message(&stored(b"")[..3], &mut scratch).unwrap(), None);
        assert_eq!(session.message(&stored(b"")[3..], &mut scratch).unwrap().unwrap().payload, b"");
    }
}

#[test]
fn payload_sizes_around_block_and_buffer_limits_round_trip() {
    let mut sizes = vec![0, 1];
    for near in [4000, 8000, 8192, 16_384, 32_768, 65_536, 131_072, 1 << 20] {
        sizes.extend([near - 1, near, near + 1]);
    }
    let mut noise = Noise::new(9);
    let sent: Vec<Vec<u8>> = sizes
        .iter()
        .map(|&len| (0..len).map(|_| if noise.below(3) == 0 { noise.next() as u8 } else { b'a' }).collect())
        .collect();
    let mut scratch = Scratch::new();
    for transport in Transport::ALL {
        let mut session = Session::new(transport, Limits::new());
        for (wire, sent) in wire(transport, &sent).iter().zip(&sent) {
            match session.message(wire, &mut scratch).unwrap() {
                Some(message) => assert_eq!(message.payload, sent),
                None => assert!(wire.is_empty() && transport == Transport::Zlib),
            }
        }
    }
}

#[test]
fn payload_of_exactly_the_limit_is_accepted() {
    let sent = vec![b'x'; 100_000];
    for transport in Transport::ALL {
        let wire = wire(transport, std::slice::from_ref(&sent));
        let mut scratch = Scratch::new();
        let with = |limit| Session::new(transport, Limits::new().max_message(limit));
        receive(&mut with(100_000), &mut scratch, &wire[0], &sent);
        let mut session = with(99_999);
        let error = session.message(&wire[0], &mut scratch).unwrap_err();
        assert_eq!((error.kind(), error.message_index), (Kind::Limit, 0));
        // The error of a stream persists until a reset.
        let again = session.message(&wire[0], &mut scratch).unwrap_err();
        assert_eq!(again.message_index, u64::from(!transport.is_stream()));
        assert_eq!((again.kind(), session.error()), (Kind::Limit, transport.is_stream().then_some(error)));
        session.reset();
        assert!(session.error().is_none());
        receive(&mut with(1 << 20), &mut scratch, &wire[0], &sent);
    }
}

#[test]
fn decompression_bomb_stops_at_the_limit() {
    let sent = vec![0; 64 << 20];
    for transport in Transport::ALL {
        let wire = wire(transport, std::slice::from_ref(&sent));
        let mut scratch = Scratch::new();
        let mut session = Session::new(transport, Limits::new().max_message(1 << 20));
        assert_eq!(session.message(&wire[0], &mut scratch).unwrap_err().kind(), Kind::Limit);
        assert!(scratch.memory() < 4 << 20 && session.memory() < 200 << 10, "{transport}");
    }
}
