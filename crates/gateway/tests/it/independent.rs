//! Messages that are compressed each on their own, as feeds send them.

use std::sync::Arc;

use linerate_gateway::{Dictionaries, Encoder, Kind, Limits, Scratch, Session, Transport};

use crate::common::{traffic, wire};

const INDEPENDENT: [Transport; 4] =
    [Transport::ZstdFrame, Transport::ZlibMessage, Transport::Gzip, Transport::RawDeflate];

/// Trains a dictionary of at most 64 KiB on messages. As in Jetstream, the header of each frame has
/// the dictionary's id.
fn trained(seed: u64) -> Vec<u8> {
    let samples = traffic(seed, 4, 2000);
    let sizes: Vec<usize> = samples.iter().map(Vec::len).collect();
    let mut dictionary = vec![0; 64 << 10];
    let n =
        zstd_safe::train_from_buffer(&mut dictionary[..], &samples.concat(), &sizes).expect("a dictionary");
    dictionary.truncate(n);
    dictionary
}

fn session(transport: Transport) -> Session {
    Session::new(transport, Limits::new())
}

#[test]
fn messages_decode_in_any_order() {
    let sent = traffic(31, 2, 60);
    for transport in INDEPENDENT {
        let wire = wire(transport, &sent);
        let (mut session, mut scratch) = (session(transport), Scratch::new());
        for at in (0..sent.len()).rev().chain([3, 3]) {
            let message = session.message(&wire[at], &mut scratch).unwrap().unwrap();
            assert_eq!((message.payload, message.compressed), (&sent[at][..], wire[at].len()));
        }
        assert!(session.memory() < 1 << 10, "{transport}");
    }
}

#[test]
fn damaged_message_does_not_affect_the_next_one() {
    let sent = traffic(32, 1, 4);
    for transport in INDEPENDENT {
        let wire = wire(transport, &sent);
        let (mut session, mut scratch) = (session(transport), Scratch::new());
        for (wire, sent) in wire.iter().zip(&sent) {
            for len in 0..wire.len() {
                let error = session.message(&wire[..len], &mut scratch).unwrap_err();
                assert_eq!(error.kind(), Kind::Truncated, "{transport} {len}");
                assert!(session.error().is_none());
            }
            let trailing = [&wire[..], b"?"].concat();
            assert!(session.message(&trailing, &mut scratch).is_err(), "{transport}");
            assert_eq!(session.message(wire, &mut scratch).unwrap().unwrap().payload, sent);
        }
        let count: usize = wire.iter().map(|wire| wire.len() + 2).sum();
        assert_eq!(session.messages(), count as u64);
    }
}

/// Without a checksum, a flipped bit may give any payload.
#[test]
fn flipped_bits_are_errors_where_there_is_a_checksum() {
    let sent = traffic(33, 1, 3);
    for transport in INDEPENDENT {
        let (mut session, mut scratch) = (session(transport), Scratch::new());
        for (wire, sent) in wire(transport, &sent).iter().zip(&sent).filter(|(wire, _)| wire.len() < 400) {
            for bit in 0..8 * wire.len() {
                let mut bad = wire.clone();
                bad[bit / 8] ^= 1 << (bit % 8);
                let outcome = session.message(&bad, &mut scratch);
                let checked = matches!(transport, Transport::ZlibMessage | Transport::Gzip);
                if let (Ok(message), true) = (outcome, checked) {
                    assert_eq!(message.unwrap().payload, sent, "{transport} {bit}");
                }
            }
        }
    }
}

#[test]
fn gzip_members_and_zstd_frames_of_a_message_are_joined() {
    for transport in [Transport::Gzip, Transport::ZstdFrame] {
        let parts = wire(transport, &[b"{\"one\":1,".to_vec(), Vec::new(), b"\"two\":2}".to_vec()]);
        let (mut session, mut scratch) = (session(transport), Scratch::new());
        let message = session.message(&parts.concat(), &mut scratch).unwrap().unwrap();
        assert_eq!(message.payload, b"{\"one\":1,\"two\":2}");
    }
}

#[test]
fn dictionaries_are_found_by_their_ids() {
    let (one, other, raw) = (trained(34), trained(35), b"{\"t\":\"PRESENCE_UPDATE\",\"s\":".repeat(3));
    let dictionaries = Arc::new(Dictionaries::new([&other[..], &raw, &one]).unwrap());
    assert_eq!(dictionaries.ids().count(), 3);
    assert!(dictionaries.memory() > (one.len() + other.len()) / 10 * 9);
    let sent = traffic(36, 0, 100);
    let mut scratch = Scratch::new();
    let mut session = session(Transport::ZstdFrame).dictionaries(dictionaries);
    let (mut with, mut without) = (0, 0);
    for dictionary in [&one, &other, &raw] {
        let mut encoder =
            Encoder::new(Transport::ZstdFrame).unwrap().with_dictionary(dictionary).expect("a dictionary");
        for sent in &sent {
            let mut wire = Vec::new();
            encoder.message(sent, &mut wire).unwrap();
            assert_eq!(session.message(&wire, &mut scratch).unwrap().unwrap().payload, sent);
            with += wire.len();
        }
    }
    // The same session decodes frames without a dictionary.
    for (wire, sent) in wire(Transport::ZstdFrame, &sent).iter().zip(&sent) {
        assert_eq!(session.message(wire, &mut scratch).unwrap().unwrap().payload, sent);
        without += wire.len();
    }
    assert!(with < 2 * without, "{with} {without}");
}

#[test]
fn frame_whose_dictionary_is_missing_is_unsupported() {
    let (known, missing) = (trained(37), trained(38));
    let mut wire = Vec::new();
    let mut encoder = Encoder::new(Transport::ZstdFrame).unwrap().with_dictionary(&missing).unwrap();
    encoder.message(b"{\"t\":\"PRESENCE_UPDATE\"}", &mut wire).unwrap();
    let none = session(Transport::ZstdFrame);
    let other =
        session(Transport::ZstdFrame).dictionaries(Arc::new(Dictionaries::new([&known[..]]).unwrap()));
    for mut session in [none, other] {
        let error = session.message(&wire, &mut Scratch::new()).unwrap_err();
        assert_eq!(error.kind(), Kind::Unsupported);
    }
}

#[test]
fn damaged_dictionaries_equal_ids_and_dictionaries_of_other_transports_are_refused() {
    let one = trained(39);
    let kind = |dictionaries: &[&[u8]]| {
        Dictionaries::new(dictionaries.iter().copied()).err().map(|error| error.kind)
    };
    assert_eq!(kind(&[&one, &one]), Some(Kind::BadArgument));
    assert_eq!(kind(&[&one[..20]]), Some(Kind::Truncated));
    assert_eq!(kind(&[&one]), None);
    for (transport, dictionary) in [(Transport::Zlib, &one[..]), (Transport::ZstdFrame, &one[..20])] {
        let error = Encoder::new(transport).unwrap().with_dictionary(dictionary).err().expect("an error");
        assert_eq!(error.kind(), Kind::BadArgument);
    }
}

/// A frame that states more content than its blocks can hold allocates nothing for it.
#[test]
fn stated_size_alone_takes_no_memory() {
    // A single-segment frame that states 32 MiB in eight bytes, with one raw block of two bytes.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0xe0];
    frame.extend_from_slice(&(32u64 << 20).to_le_bytes());
    frame.extend_from_slice(&[0x11, 0, 0, b'a', b'b']);
    let (mut session, mut scratch) = (session(Transport::ZstdFrame), Scratch::new());
    assert_eq!(session.message(&frame, &mut scratch).unwrap_err().kind(), Kind::Corrupt);
    assert!(scratch.memory() < 1 << 20);
}
