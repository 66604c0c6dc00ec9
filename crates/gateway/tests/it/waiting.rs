//! Memory of sessions that wait for the rest of a message.

use linerate_gateway::{Limits, Scratch, Session, Transport};

use crate::common::wire;

/// A thread that has decoded a large message must not leave its buffer to each waiting session.
#[test]
fn waiting_sessions_hold_only_their_fragments() {
    let mut scratch = Scratch::new();
    let large = vec![b'x'; 3 << 20];
    let small = b"few words".to_vec();
    let sent = [large, small];
    let wire = wire(Transport::Zlib, &sent);
    let mut session = Session::new(Transport::Zlib, Limits::new());
    session.message(&wire[0], &mut scratch).unwrap().unwrap();
    let before = session.memory();
    let (first, rest) = wire[1].split_at(5);
    assert_eq!(session.message(first, &mut scratch).unwrap(), None);
    assert!(session.memory() <= before + 64, "the buffer stays with the thread");
    assert_eq!(session.message(rest, &mut scratch).unwrap().unwrap().payload, sent[1]);
    // A stored block whose content looks like the end of a message.
    let block = [&[0, 4, 0, 0xfb, 0xff][..], &[0, 0, 0xff, 0xff]].concat();
    assert_eq!(session.message(&block, &mut scratch).unwrap(), None);
    assert!(session.memory() <= before + 64);
    let end = [0, 0, 0, 0xff, 0xff];
    assert_eq!(session.message(&end, &mut scratch).unwrap().unwrap().payload, [0, 0, 0xff, 0xff]);
    // Content that is too long to be copied is moved, and the rest of the 3 MiB buffer is freed.
    let block = [&[0, 0, 32, 0xff, 0xdf][..], &[7; 8192]].concat();
    session.reset();
    session.message(&wire[0], &mut scratch).unwrap().unwrap();
    let before = session.memory();
    assert_eq!(session.message(&block, &mut scratch).unwrap(), None);
    assert!(session.memory() <= before + 8192 + 64);
    assert_eq!(session.message(&end, &mut scratch).unwrap().unwrap().payload, [7; 8192]);
}
