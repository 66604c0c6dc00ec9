//! The last compressed messages of a connection, for whoever looks for the cause of a fault.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::record::Recorder;
use crate::transport::Transport;

/// The last compressed messages of a connection, as they came, the failed one too, each with the time
/// when it came.
///
/// Since each message builds on all before it, they can be replayed only if none was forgotten:
/// [`is_whole`](Self::is_whole).
#[derive(Clone, Debug, Default)]
pub struct Recent {
    frames: VecDeque<Frame>,
    bytes: usize,
    most_messages: usize,
    most_bytes: usize,
    forgotten: u64,
}

#[derive(Clone, Debug)]
struct Frame {
    /// Nanoseconds since 1970.
    time: i64,
    /// Bytes of its payload, if it made a message whole.
    payload: Option<u32>,
    wire: Box<[u8]>,
}

/// Nanoseconds since 1970, before it below zero.
fn now() -> i64 {
    let nanoseconds = match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i128::try_from(since.as_nanos()).unwrap_or(i128::MAX),
        Err(before) => -i128::try_from(before.duration().as_nanos()).unwrap_or(i128::MAX),
    };
    nanoseconds.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

impl Recent {
    /// Keeps at most so many messages, and of these as many as `bytes` hold.
    pub(crate) fn new(messages: usize, bytes: usize) -> Self {
        Recent { most_messages: messages, most_bytes: bytes, ..Self::default() }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.most_messages, self.most_bytes);
    }

    pub(crate) fn push(&mut self, wire: &[u8]) {
        self.frames.push_back(Frame { time: now(), payload: None, wire: wire.into() });
        self.bytes += wire.len();
        while self.frames.len() > self.most_messages || self.bytes > self.most_bytes {
            let Some(oldest) = self.frames.pop_front() else { break };
            self.bytes -= oldest.wire.len();
            self.forgotten += 1;
        }
    }

    /// Notes what the last frame has made whole.
    pub(crate) fn gave(&mut self, payload: usize) {
        if let Some(last) = self.frames.back_mut() {
            last.payload = u32::try_from(payload).ok();
        }
    }

    /// What came, oldest first: one item for each call of [`Session::message`](crate::Session::message).
    pub fn frames(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.frames.iter().map(|frame| &frame.wire[..])
    }

    /// Whether everything since the beginning of the connection is there.
    pub fn is_whole(&self) -> bool {
        self.forgotten == 0
    }

    /// How many came before the ones that are there.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.bytes + self.frames.capacity() * size_of::<Frame>()
    }

    /// Writes them as a recording, which [`Recording`](crate::Recording) reads. `transport` is that of
    /// the connection. If some were forgotten, the recording begins in the middle of a connection, and
    /// replaying it fails.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, transport: Transport, out: impl Write) -> io::Result<()> {
        let mut recorder = Recorder::new(out, transport)?;
        for frame in &self.frames {
            recorder.frame(frame.time, frame.payload, &frame.wire)?;
        }
        recorder.finish().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_first() {
        let mut recent = Recent::new(3, 10);
        for frame in [&b"one"[..], b"two", b"four"] {
            recent.push(frame);
        }
        assert!(recent.is_whole());
        recent.push(b"x");
        assert_eq!(recent.frames().collect::<Vec<_>>(), [&b"two"[..], b"four", b"x"]);
        recent.push(b"eightlong");
        assert_eq!(recent.frames().collect::<Vec<_>>(), [&b"x"[..], b"eightlong"]);
        assert_eq!(recent.forgotten(), 3);
        recent.push(b"longer than all of it");
        assert_eq!((recent.frames().len(), recent.bytes), (0, 0));
        recent.clear();
        assert!(recent.is_whole());
    }
}
