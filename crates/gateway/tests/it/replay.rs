//! Replaying and transcoding of recordings.

use linerate_gateway::{
    Checks, Encoder, Encoding, Entry, Kind, Limits, Recorder, Recording, Replay, Scratch, Session, Transport,
    transcode,
};

use crate::common::{traffic, wire};

#[test]
fn replay_stops_at_the_first_error() {
    let sent = traffic(1, 3, 50);
    for transport in Transport::ALL {
        let mut recorder = Recorder::new(Vec::new(), transport).unwrap();
        for (i, wire) in wire(transport, &sent).into_iter().enumerate() {
            recorder
                .add(&Entry::Frame { time: i as i64, payload: Some(sent[i].len() as u32), wire })
                .unwrap();
        }
        let file = recorder.finish().unwrap();
        let mut frames: Vec<Vec<u8>> = Recording::open(&file[..])
            .unwrap()
            .map(|entry| match entry.unwrap() {
                Entry::Frame { wire, .. } => wire,
                Entry::Connection { .. } => unreachable!("none was recorded"),
            })
            .collect();
        let mut scratch = Scratch::new();
        let checks = Checks::complete(Encoding::Json).sequence(true);
        let mut session = Session::new(transport, Limits::new()).checks(checks);
        let mut at = 0;
        let replay = Replay::run(&mut session, &mut scratch, frames.iter().map(|f| &f[..]), |payload| {
            assert_eq!(payload, sent[at]);
            at += 1;
        });
        assert_eq!((replay.error, replay.messages), (None, sent.len() as u64));
        assert_eq!(replay.payload, sent.iter().map(Vec::len).sum::<usize>() as u64);
        frames[30] = b"\x05\0\0\0\0\0\xff\xff".to_vec();
        session.reset();
        let replay = Replay::run(&mut session, &mut scratch, frames.iter().map(|f| &f[..]), |_| {});
        let error = replay.error.unwrap();
        assert_eq!((error.message_index, replay.messages, replay.frames), (30, 30, 31));
        let before: usize = frames[..30].iter().map(Vec::len).sum();
        assert!(error.offset() >= before as u64);
        assert!(matches!(error.kind(), Kind::Corrupt | Kind::Truncated), "{error}");
    }
}

#[test]
fn transcoded_connection_decodes_to_the_same_payloads() {
    let sent = traffic(2, 3, 50);
    let payloads = || sent.iter().map(|payload| &payload[..]);
    for transport in Transport::ALL {
        let frames = transcode(&mut Encoder::new(transport).unwrap(), payloads()).unwrap();
        let mut session = Session::new(transport, Limits::new());
        let mut again = Vec::new();
        let replay =
            Replay::run(&mut session, &mut Scratch::new(), frames.iter().map(|f| &f[..]), |payload| {
                again.push(payload.to_vec())
            });
        assert_eq!((replay.error, again), (None, sent.clone()));
    }
}
