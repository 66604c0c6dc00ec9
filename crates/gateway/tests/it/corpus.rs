//! Recorded connections: the sample in testdata, and the recordings in the folder that
//! `LINERATE_CORPORA` names.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use linerate_gateway::{Checks, Encoding, Envelope, Limits, Messages, Scratch, Session, Transport};
use linerate_testkit::testdata::corpora;

use crate::common::Noise;

fn read(path: &Path) -> Vec<Vec<u8>> {
    let file = File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    Messages::new(BufReader::new(file)).collect::<Result<_, _>>().expect("messages")
}

fn sample(extension: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/gateway");
    read(&folder.join("sample").with_extension(extension))
}

fn wire(path: &Path, transport: Transport) -> Vec<Vec<u8>> {
    read(&path.with_extension(if transport == Transport::Zlib { "zlib" } else { "zst" }))
}

/// Asserts that a connection decodes to its payloads, which pass all checks.
fn check(path: &Path) {
    let sent = read(&path.with_extension("msgs"));
    for transport in Transport::STREAMS {
        let wire = wire(path, transport);
        assert_eq!(wire.len(), sent.len());
        let mut scratch = Scratch::new();
        let checks = Checks::complete(Encoding::Json).sequence(true);
        let mut session = Session::new(transport, Limits::new()).checks(checks);
        for (index, (wire, sent)) in wire.iter().zip(&sent).enumerate() {
            let message = session.message(wire, &mut scratch).unwrap().expect("whole");
            assert!(message.payload == sent, "{} {transport} {index}", path.display());
            assert_eq!(Envelope::peek(sent, Encoding::Json).ok(), message.envelope, "{index}");
        }
        let least = if transport == Transport::Zlib { 32 << 10 } else { 64 << 10 };
        assert!(session.memory() >= least || sent.len() < 100);
        assert!(session.memory() <= 72 << 10);
        if transport == Transport::Zlib {
            fragments(&wire, &sent);
        }
    }
}

/// Splits every message at random positions into four fragments, and asserts that it decodes.
fn fragments(wire: &[Vec<u8>], sent: &[Vec<u8>]) {
    let mut noise = Noise::new(11);
    let (mut scratch, mut session) = (Scratch::new(), Session::new(Transport::Zlib, Limits::new()));
    for (wire, sent) in wire.iter().zip(sent) {
        let mut cuts = [0, 0, 0, wire.len()];
        cuts[..3].fill_with(|| noise.below(wire.len()));
        cuts.sort_unstable();
        let mut from = 0;
        for cut in cuts {
            let message = session.message(&wire[from..cut], &mut scratch).unwrap();
            assert_eq!(message.is_some(), cut == wire.len());
            assert!(message.is_none_or(|message| message.payload == sent));
            from = cut;
        }
    }
}

#[test]
fn sample_decodes_to_its_payloads() {
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/gateway/sample"));
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/gateway/hello"));
}

#[test]
fn sample_messages_in_two_fragments_split_anywhere_decode() {
    let (wire, sent) = (sample("zlib"), sample("msgs"));
    let mut scratch = Scratch::new();
    // The first two messages, and a small one after the large ones.
    for whole in [0, 1, wire.len() - 1] {
        for cut in 1..wire[whole].len().min(1500) {
            let mut session = Session::new(Transport::Zlib, Limits::new());
            for (wire, sent) in wire[..whole].iter().zip(&sent) {
                assert!(session.message(wire, &mut scratch).unwrap().unwrap().payload == sent);
            }
            let (head, tail) = wire[whole].split_at(cut);
            assert_eq!(session.message(head, &mut scratch).unwrap(), None, "{whole} {cut}");
            assert!(session.message(tail, &mut scratch).unwrap().unwrap().payload == sent[whole]);
        }
    }
}

#[test]
fn interleaved_connections_decode() {
    let sent = sample("msgs");
    let mut scratch = Scratch::new();
    for transport in Transport::STREAMS {
        let wire = sample(if transport == Transport::Zlib { "zlib" } else { "zst" });
        let mut sessions: Vec<Session> = (0..7).map(|_| Session::new(transport, Limits::new())).collect();
        // Each connection is a few messages ahead of the next one.
        for turn in 0..wire.len() + 6 * 5 {
            for (i, session) in sessions.iter_mut().enumerate() {
                let Some(at) = turn.checked_sub(5 * i).filter(|&at| at < wire.len()) else { continue };
                assert!(session.message(&wire[at], &mut scratch).unwrap().unwrap().payload == sent[at]);
            }
        }
    }
}

/// Decodes the connections in the subfolder `gateway` of the folder that `LINERATE_CORPORA` names,
/// if it is set, and compares them with their `.msgs` files.
#[test]
fn corpora_decode_to_their_payloads() {
    let Some(folder) = corpora() else { return };
    let entries = folder.join("gateway").read_dir();
    for path in entries.into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.extension().is_some_and(|extension| extension == "msgs") {
            check(&path);
        }
    }
}
