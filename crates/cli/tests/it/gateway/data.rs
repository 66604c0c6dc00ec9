//! Makes files of connections.

use std::fs;
use std::path::{Path, PathBuf};

use linerate_gateway::{Entry, Limits, Recorder, Scratch, Session, Transport};

use linerate_testkit::program::Folder;
pub(crate) use linerate_testkit::program::{DAMAGED, FAILED, LIMIT, USAGE, WARNED};

/// Writes length-prefixed messages.
pub(crate) fn write_messages(folder: &Folder, name: &str, all: &[Vec<u8>]) {
    folder.write(name, &prefixed(all));
}

/// Writes a recording with several connections, each with the first messages of `file` in
/// `testdata/gateway`, one nanosecond apart. `connections` has the number of messages of each
/// connection.
pub(crate) fn write_recording(folder: &Folder, name: &str, file: &str, connections: &[usize]) {
    let all = sample_messages(file);
    let transport = if file.ends_with(".zlib") { Transport::Zlib } else { Transport::Zstd };
    let mut recorder = Recorder::new(Vec::new(), transport).expect("a recording");
    let mut scratch = Scratch::new();
    let mut time = 1000;
    for (i, count) in connections.iter().enumerate() {
        if i > 0 {
            recorder.add(&Entry::Connection { time }).expect("an entry");
        }
        let mut session = Session::new(transport, Limits::new());
        for wire in &all[..*count] {
            let message = session.message(wire, &mut scratch).expect("sound").expect("whole");
            let payload = Some(message.payload.len() as u32);
            recorder.add(&Entry::Frame { time, payload, wire: wire.clone() }).expect("an entry");
            time += 1;
        }
    }
    folder.write(name, &recorder.finish().expect("a recording"));
}

/// The path of a file in `testdata/gateway`.
pub(crate) fn sample_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/gateway").join(name)
}

pub(crate) fn sample(name: &str) -> String {
    sample_path(name).to_str().expect("UTF-8").to_owned()
}

/// The messages of a file in `testdata/gateway`.
pub(crate) fn sample_messages(name: &str) -> Vec<Vec<u8>> {
    split(&fs::read(sample_path(name)).expect("a file of the sample"))
}

pub(crate) fn split(file: &[u8]) -> Vec<Vec<u8>> {
    let mut rest = file;
    let mut messages = Vec::new();
    while let Some((len, after)) = rest.split_first_chunk::<4>() {
        let (message, after) = after.split_at(u32::from_le_bytes(*len) as usize);
        messages.push(message.to_vec());
        rest = after;
    }
    assert!(rest.is_empty());
    messages
}

pub(crate) fn prefixed(all: &[Vec<u8>]) -> Vec<u8> {
    all.iter().flat_map(|message| [&(message.len() as u32).to_le_bytes()[..], message].concat()).collect()
}
