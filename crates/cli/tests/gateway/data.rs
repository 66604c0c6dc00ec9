//! The program run on connections, and the connections.

use std::fs;
use std::path::{Path, PathBuf};

use linerate_gateway::{Entry, Limits, Recorder, Scratch, Session, Transport};
use serde_json::Value;

use crate::support::{Folder, Run};

pub(crate) const FAILED: i32 = 1;
pub(crate) const USAGE: i32 = 2;
pub(crate) const DAMAGED: i32 = 3;
pub(crate) const LIMIT: i32 = 4;
pub(crate) const WARNED: i32 = 5;

impl Folder {
    /// Runs `linerate gateway` with nothing on standard input.
    pub(crate) fn gateway(&self, args: &[&str]) -> Run {
        self.gateway_with(args, b"")
    }

    /// Runs `linerate gateway` with `input` on standard input.
    pub(crate) fn gateway_with(&self, args: &[&str], input: &[u8]) -> Run {
        let mut command = self.command(&["gateway"]);
        Run::of(command.args(args), input)
    }

    /// Messages in a file, each after its length.
    pub(crate) fn messages(&self, name: &str, all: &[Vec<u8>]) {
        self.write(name, &prefixed(all));
    }

    /// A recording of connections, each of which has the first so many messages of a sample; a message a
    /// nanosecond.
    pub(crate) fn recording(&self, name: &str, file: &str, connections: &[usize]) {
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
        self.write(name, &recorder.finish().expect("a recording"));
    }

    /// Who may do what with a file.
    #[cfg(unix)]
    pub(crate) fn mode(&self, name: &str) -> u32 {
        let meta = fs::metadata(self.path(name)).expect("a file");
        std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o777
    }
}

impl Run {
    /// Standard output as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.stdout.clone()).expect("UTF-8")
    }

    /// The only JSON object of standard output.
    pub(crate) fn object(&self) -> Value {
        let text = self.text();
        assert_eq!(text.lines().count(), 1, "{text} {}", self.stderr);
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
    }
}

/// A file of the carried sample.
pub(crate) fn sample_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/gateway").join(name)
}

pub(crate) fn sample(name: &str) -> String {
    sample_path(name).to_str().expect("UTF-8").to_owned()
}

/// Its messages.
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
