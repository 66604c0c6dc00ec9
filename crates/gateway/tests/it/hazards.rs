//! Hazards of gateway streams that no other file tests: known defects of other decoders, and
//! properties of the formats.

use linerate_gateway::{Checks, Encoding, Kind, Limits, Scratch, ScratchPool, Session, Transport};

use crate::common::{traffic, wire};

/// A message is decoded completely before it is returned, so there is nothing to drain.
#[test]
fn ignoring_a_payload_does_not_affect_the_next_message() {
    let sent = traffic(3, 3, 60);
    for transport in Transport::ALL {
        let mut scratch = Scratch::new();
        let mut session = Session::new(transport, Limits::new());
        for (i, (wire, sent)) in wire(transport, &sent).iter().zip(&sent).enumerate() {
            let message = session.message(wire, &mut scratch).unwrap().unwrap();
            if i % 7 == 6 {
                assert!(message.payload == sent);
            }
            // The next message does not depend on the scratch, either.
            if i % 3 == 0 {
                scratch = Scratch::new();
            } else {
                scratch.trim();
            }
        }
    }
}

#[test]
fn empty_zstd_message_is_an_error_and_empty_zlib_message_a_fragment() {
    let mut scratch = Scratch::new();
    let mut zstd = Session::new(Transport::Zstd, Limits::new());
    assert_eq!(zstd.message(b"", &mut scratch).unwrap_err().kind(), Kind::Truncated);
    // The encoder of this crate makes messages of empty payloads, too.
    let payloads = [vec![], vec![], b"text".to_vec(), vec![]];
    zstd.reset();
    for (wire, sent) in wire(Transport::Zstd, &payloads).iter().zip(&payloads) {
        assert_eq!(zstd.message(wire, &mut scratch).unwrap().unwrap().payload, sent);
    }
    // zlib waits for an empty stored block.
    let mut zlib = Session::new(Transport::Zlib, Limits::new());
    assert_eq!(zlib.message(b"", &mut scratch).unwrap(), None);
    let flush = [0x78, 0x9c, 0, 0, 0, 0xff, 0xff];
    assert_eq!(zlib.message(&flush, &mut scratch).unwrap().unwrap().payload, b"");
    assert_eq!(zlib.message(&flush[2..], &mut scratch).unwrap().unwrap().payload, b"");
    // An empty payload fails the JSON check.
    let mut checked = Session::new(Transport::Zstd, Limits::new()).checks(Checks::complete(Encoding::Json));
    let empty = &wire(Transport::Zstd, &[vec![]])[0];
    assert_eq!(checked.message(empty, &mut scratch).unwrap_err().kind(), Kind::Corrupt);
}

#[test]
fn payload_limit_is_exact_in_the_middle_of_a_connection() {
    for len in [1, 700, 65_535, 65_536, 65_537, 131_072, 300_000] {
        let noise = traffic(len as u64, 2, 10).concat();
        let large: Vec<u8> = noise.iter().copied().cycle().take(len).collect();
        let sent = [b"before".to_vec(), large, b"after".to_vec()];
        for transport in Transport::ALL {
            let wire = wire(transport, &sent);
            for (limit, fits) in [(len.max(6), true), (len - 1, false)] {
                let mut scratch = Scratch::new();
                let mut session = Session::new(transport, Limits::new().max_message(limit.max(6)));
                let fits = fits || len <= 6;
                // zlib messages come in two fragments, which count together.
                let mut each = |wire: &Vec<u8>| {
                    let half = if transport == Transport::Zlib { wire.len() / 2 } else { 0 };
                    if half > 0 {
                        assert_eq!(session.message(&wire[..half], &mut scratch)?, None);
                    }
                    session.message(&wire[half..], &mut scratch).map(|m| m.unwrap().payload.to_vec())
                };
                assert_eq!(each(&wire[0]).as_ref(), Ok(&sent[0]));
                let got = each(&wire[1]);
                assert_eq!(got.is_ok(), fits, "{transport} {len} {limit}");
                match got {
                    Ok(payload) => {
                        assert!(payload == sent[1]);
                        assert_eq!(each(&wire[2]).as_ref(), Ok(&sent[2]));
                    }
                    Err(error) => assert_eq!((error.kind(), error.message_index), (Kind::Limit, 1)),
                }
            }
        }
    }
}

#[test]
fn resumed_connection_has_a_new_stream_and_continues_sequence_numbers() {
    let sent = traffic(12, 1, 40);
    let number = |message: &Vec<u8>| {
        let envelope = linerate_gateway::Envelope::peek(message, Encoding::Json);
        envelope.unwrap().sequence
    };
    let cut = sent.len() / 2;
    let last = sent[..cut].iter().rev().find_map(number).unwrap();
    for transport in Transport::ALL {
        // The gateway begins a new stream and sends the missed events.
        let (first, second) = (wire(transport, &sent[..cut]), wire(transport, &sent[cut..]));
        let checks = Checks::complete(Encoding::Json).sequence(true);
        let mut scratch = Scratch::new();
        let mut session = Session::new(transport, Limits::new()).checks(checks);
        for wire in &first {
            session.message(wire, &mut scratch).unwrap().unwrap();
        }
        for told in [last, last - 1, last + 1] {
            session.reset();
            session.resume_after(told);
            let done = second.iter().try_for_each(|wire| session.message(wire, &mut scratch).map(drop));
            assert_eq!(done.is_ok(), told == last, "{transport} {told}");
        }
    }
}

#[test]
fn sessions_can_move_between_threads() {
    static POOL: ScratchPool = ScratchPool::new(4);
    let sent = traffic(13, 2, 40);
    for transport in Transport::ALL {
        let mut session = Session::new(transport, Limits::new());
        for (wire, sent) in wire(transport, &sent).into_iter().zip(&sent) {
            session = std::thread::scope(|scope| {
                let decode = move || {
                    POOL.with(|scratch| {
                        assert!(session.message(&wire, scratch).unwrap().unwrap().payload == sent);
                    });
                    session
                };
                scope.spawn(decode).join().unwrap()
            });
        }
    }
}
