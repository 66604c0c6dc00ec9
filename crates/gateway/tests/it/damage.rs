//! Damaged, hostile and incomplete streams.

use linerate_gateway::{Checks, Encoding, Entry, Kind, Limits, Recording, Scratch, Session, Transport};

use crate::common::{hex, traffic, wire};

fn first_error(transport: Transport, limits: Limits, frame: &[u8]) -> Kind {
    Session::new(transport, limits).message(frame, &mut Scratch::new()).unwrap_err().kind()
}

#[test]
fn truncated_zstd_message_is_an_error() {
    let sent = traffic(1, 1, 5);
    let wire = wire(Transport::Zstd, &sent);
    let mut scratch = Scratch::new();
    let last = wire.last().unwrap();
    for len in 0..last.len() {
        let mut session = Session::new(Transport::Zstd, Limits::new());
        for wire in &wire[..wire.len() - 1] {
            session.message(wire, &mut scratch).unwrap();
        }
        let error = session.message(&last[..len], &mut scratch).unwrap_err();
        assert_eq!((error.kind(), error.message_index), (Kind::Truncated, wire.len() as u64 - 1), "{len}");
        let consumed: usize = wire[..wire.len() - 1].iter().map(Vec::len).sum();
        assert_eq!(error.offset(), (consumed + len) as u64);
    }
}

/// A message must have at least one block.
#[test]
fn zstd_message_without_a_block_is_an_error() {
    let header = hex("28b52ffd0030");
    let mut scratch = Scratch::new();
    for (before, frame) in [
        (vec![], &b""[..]),
        (vec![], &header),
        ([&header[..], &hex("080000 61")].concat(), b""),
        // A frame ends, and the header of the next one is all that follows.
        ([&header[..], &hex("080000 61")].concat(), &[&hex("090000 62")[..], &header].concat()),
    ] {
        let mut session = Session::new(Transport::Zstd, Limits::new());
        if !before.is_empty() {
            assert_eq!(session.message(&before, &mut scratch).unwrap().unwrap().payload, b"a");
        }
        let error = session.message(frame, &mut scratch).unwrap_err();
        assert_eq!(error.kind(), Kind::Truncated, "{frame:x?}");
        assert_eq!(error.offset(), (before.len() + frame.len()) as u64);
    }
}

#[test]
fn truncated_zlib_message_is_detected_at_a_later_message() {
    let sent = traffic(1, 1, 5);
    let wire = wire(Transport::Zlib, &sent);
    let mut scratch = Scratch::new();
    for len in 0..wire[2].len() {
        let mut session = Session::new(Transport::Zlib, Limits::new())
            .checks(Checks::complete(Encoding::Json).sequence(true));
        for wire in &wire[..2] {
            session.message(wire, &mut scratch).unwrap().unwrap();
        }
        assert_eq!(session.message(&wire[2][..len], &mut scratch).unwrap(), None);
        // The rest of the message is lost. What follows is garbage to the decoder, or completes a
        // payload that is not one object.
        let next = wire[3..].iter().map(|wire| session.message(wire, &mut scratch).map(|m| m.is_some()));
        assert!(next.into_iter().any(|result| result.is_err()), "{len}");
    }
}

/// Flips each bit of a message in the middle of a connection; counts immediate errors, later
/// errors, correct payloads, and undetected damage.
fn flips(transport: Transport, checks: Checks) -> [usize; 4] {
    let sent = traffic(4, 1, 9);
    let wire = wire(transport, &sent);
    let mut scratch = Scratch::new();
    let mut counts = [0; 4];
    let at = 4;
    for bit in 0..8 * wire[at].len() {
        let mut session = Session::new(transport, Limits::new()).checks(checks);
        let mut wrong = false;
        let mut failed = None;
        for (i, (wire, sent)) in wire.iter().zip(&sent).enumerate() {
            let mut frame = wire.clone();
            if i == at {
                frame[bit / 8] ^= 1 << (bit % 8);
            }
            match session.message(&frame, &mut scratch) {
                Ok(Some(message)) => wrong |= message.payload != sent,
                Ok(None) => wrong = true,
                Err(error) => {
                    assert_eq!(session.error(), Some(error));
                    failed = Some(i);
                    break;
                }
            }
        }
        counts[match (failed, wrong) {
            (Some(i), _) if i == at => 0,
            (Some(_), _) => 1,
            (None, false) => 2,
            (None, true) => 3,
        }] += 1;
        // A new connection is not affected.
        session.reset();
        for (wire, sent) in wire.iter().zip(&sent) {
            assert_eq!(session.message(wire, &mut scratch).unwrap().unwrap().payload, sent);
        }
    }
    counts
}

#[test]
fn flipped_bits_are_detected_where_the_format_allows() {
    for transport in Transport::STREAMS {
        let plain = flips(transport, Checks::NONE);
        let checked = flips(transport, Checks::complete(Encoding::Json).sequence(true));
        println!("{transport}: at once, later, right, unnoticed: {plain:?}, with checks {checked:?}");
        assert!(checked[0] > plain[0] && checked[3] < plain[3]);
    }
}

#[test]
fn checks_detect_a_lost_message() {
    let sent = traffic(5, 2, 100);
    for transport in Transport::ALL {
        let wire = wire(transport, &sent);
        let mut scratch = Scratch::new();
        // Heartbeat acknowledgements have no sequence number, and later messages may not depend on
        // them.
        let numbered = |message: &Vec<u8>| !message.starts_with(b"{\"t\":null");
        let most = wire.len() - 40;
        for (lost, _) in sent[..most].iter().enumerate().filter(|(_, message)| numbered(message)) {
            let mut session = Session::new(transport, Limits::new())
                .checks(Checks::complete(Encoding::Json).sequence(true));
            session.resume_after(0);
            let mut rest = wire.iter().enumerate().filter(|(i, _)| *i != lost);
            let noticed = rest.find(|(_, wire)| session.message(wire, &mut scratch).is_err());
            assert!(noticed.is_some_and(|(i, _)| i > lost && i < lost + 40), "{transport} {lost}");
        }
    }
}

/// The term `#{d => Data, op => 0, s => Sequence, t => 'TEST'}` with binaries as keys.
fn term(sequence: u8, data: &[u8]) -> Vec<u8> {
    let key = |name: &[u8]| [&[109, 0, 0, 0, name.len() as u8][..], name].concat();
    let data = [&[109, 0, 0, 0, data.len() as u8][..], data].concat();
    let parts = [
        vec![131, 116, 0, 0, 0, 4],
        key(b"d"),
        data,
        key(b"op"),
        vec![97, 0],
        key(b"s"),
        vec![97, sequence],
        key(b"t"),
        [&[119, 4][..], b"TEST"].concat(),
    ];
    parts.concat()
}

#[test]
fn checks_work_on_terms_as_on_objects() {
    let sent: Vec<_> = (1..20).map(|s| term(s, &[s; 30])).collect();
    let checks = Checks::complete(Encoding::Etf).sequence(true);
    let mut scratch = Scratch::new();
    for transport in Transport::ALL {
        let mut session = Session::new(transport, Limits::new()).checks(checks);
        for (i, (wire, sent)) in wire(transport, &sent).iter().zip(&sent).enumerate() {
            let message = session.message(wire, &mut scratch).unwrap().unwrap();
            let envelope = message.envelope.unwrap();
            assert_eq!(message.payload, sent);
            assert_eq!((envelope.op, envelope.sequence), (Some(0), Some(i as u64 + 1)));
            assert_eq!(envelope.event, Some("TEST"));
        }
        // A skipped number, a repeated one, a term with a trailing byte, a JSON object.
        let object = br#"{"op":0,"s":2,"t":"TEST"}"#.to_vec();
        for second in [term(3, b""), term(1, b""), [term(2, b""), vec![0]].concat(), object] {
            session.reset();
            let wire = wire(transport, &[term(1, b"first"), second]);
            session.message(&wire[0], &mut scratch).unwrap().unwrap();
            let error = session.message(&wire[1], &mut scratch).unwrap_err();
            assert_eq!((error.kind(), error.message_index), (Kind::Corrupt, 1));
            assert_eq!(error.offset(), wire[0].len() as u64, "where the message begins");
        }
    }
}

#[test]
fn two_zstd_frames_in_one_message_are_both_decoded() {
    let (a, b) = (traffic(6, 0, 1), traffic(7, 0, 1));
    let mut ended = wire(Transport::Zstd, &a)[0].clone();
    ended.extend([1, 0, 0]); // an empty last block
    let frame =
        [&ended[..], &hex("50 2a 4d 18 03 00 00 00 aa bb cc"), &wire(Transport::Zstd, &b)[0]].concat();
    let mut scratch = Scratch::new();
    let mut session = Session::new(Transport::Zstd, Limits::new());
    let message = session.message(&frame, &mut scratch).unwrap().unwrap();
    assert_eq!(message.payload, [&a[0][..], &b[0]].concat());
    // The connection continues within the second frame.
    let next = &wire(Transport::Zstd, &b)[1];
    assert_eq!(session.message(next, &mut scratch).unwrap().unwrap().payload, b[1]);
}

#[test]
fn oversized_windows_are_rejected_before_allocation() {
    let window = |log: u8| [&hex("28b52ffd 00")[..], &[(log - 10) << 3], &hex("010000")].concat();
    let limits = Limits::new();
    assert_eq!(first_error(Transport::Zstd, limits, &window(17)), Kind::Limit);
    assert_eq!(first_error(Transport::Zstd, limits, &window(27)), Kind::Limit);
    let mut session = Session::new(Transport::Zstd, limits.window_log(17));
    assert_eq!(session.message(&window(17), &mut Scratch::new()).unwrap().unwrap().payload, b"");
    assert!(session.memory() < 20 << 10);
}

#[test]
fn invalid_streams_are_errors_of_the_right_kind() {
    let limits = Limits::new();
    let zstd = |digits: &str| first_error(Transport::Zstd, limits, &hex(digits));
    assert_eq!(zstd("28b52ffe 00 30 010000"), Kind::Corrupt); // the magic number
    assert_eq!(zstd("28b52ffd 08 30 010000"), Kind::Corrupt); // a reserved bit
    assert_eq!(zstd("28b52ffd 01 30 07 010000"), Kind::Unsupported); // a dictionary
    assert_eq!(zstd("28b52ffd 00 30 070000"), Kind::Corrupt); // an invalid block type
    assert_eq!(zstd("28b52ffd 04 30 010000 00000000"), Kind::Corrupt); // a wrong checksum
    let zlib = |digits: &str| {
        let whole = first_error(Transport::Zlib, limits, &hex(&format!("{digits}0000ffff")));
        assert_eq!(first_error(Transport::Zlib, limits, &hex(digits)), whole, "{digits}: at once");
        whole
    };
    assert_eq!(zlib("789d"), Kind::Corrupt); // the check of the header
    assert_eq!(zlib("7820 00000000"), Kind::Unsupported); // a dictionary
    assert_eq!(zlib("789c 010000ffff 00000001"), Kind::Corrupt); // a final block
    assert_eq!(zlib("789c 06"), Kind::Corrupt); // an invalid block type
    assert_eq!(zlib("789c 000100ffff"), Kind::Corrupt); // a length that does not match its complement
    assert_eq!(zlib("789c 02 02 00"), Kind::Corrupt); // a match before the beginning
}

#[test]
fn reset_discards_an_incomplete_message() {
    let sent = traffic(8, 1, 5);
    for transport in Transport::STREAMS {
        let wire = wire(transport, &sent);
        let mut scratch = Scratch::new();
        let mut session = Session::new(transport, Limits::new()).keep_recent(10, 1 << 20);
        for len in 0..wire[0].len() {
            let _ = session.message(&wire[0][..len], &mut scratch);
            session.reset();
            assert_eq!(session.recent().unwrap().frames().len(), 0);
            for (wire, sent) in wire.iter().zip(&sent) {
                assert_eq!(session.message(wire, &mut scratch).unwrap().unwrap().payload, sent);
            }
            session.reset();
        }
    }
}

#[test]
fn recent_messages_can_be_replayed() {
    let sent = traffic(9, 1, 20);
    let wire = wire(Transport::Zstd, &sent);
    let mut scratch = Scratch::new();
    let mut session = Session::new(Transport::Zstd, Limits::new()).keep_recent(100, 1 << 20);
    for wire in &wire {
        session.message(wire, &mut scratch).unwrap();
    }
    session.message(b"garbage", &mut scratch).unwrap_err();
    let recent = session.recent().unwrap();
    assert!(recent.is_complete());
    // The recording has the times and payload lengths.
    let recording = Recording::open(&session.recording().unwrap()[..]).map(|file| {
        assert_eq!(file.transport(), Transport::Zstd);
        file.collect::<Result<Vec<_>, _>>().unwrap()
    });
    let mut last = 0;
    for (i, (entry, frame)) in recording.unwrap().iter().zip(recent.frames()).enumerate() {
        let Entry::Frame { time, payload, wire } = entry else { panic!("{entry:?}") };
        assert_eq!((&wire[..], *payload), (frame, sent.get(i).map(|sent| sent.len() as u32)));
        assert!(*time > 1_577_836_800_000_000_000 && *time >= last - 1_000_000_000, "after 2020, in order");
        last = *time;
    }
    assert_eq!(Session::new(Transport::Zstd, Limits::new()).recording(), None);
    let mut again = Session::new(Transport::Zstd, Limits::new());
    let errors = recent.frames().filter(|frame| again.message(frame, &mut scratch).is_err()).count();
    assert_eq!((errors, again.messages()), (1, sent.len() as u64));
}
