//! The last compressed messages of a connection, to find the cause of an error.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::record::Recorder;
use crate::transport::Transport;

/// The last compressed websocket messages of a connection, each with its time of receipt. Messages
/// with errors are kept, too. A message that alone exceeds the limit in bytes is dropped with all
/// messages before it.
///
/// Each message of a stream depends on all earlier ones, so a stream can be replayed only if no
/// message was dropped; see [`is_complete`](Self::is_complete).
#[derive(Clone, Debug, Default)]
pub struct Recent {
    frames: VecDeque<Frame>,
    bytes: usize,
    max_messages: usize,
    max_bytes: usize,
    dropped: u64,
}

#[derive(Clone, Debug)]
struct Frame {
    /// Time of receipt, in nanoseconds since 1970.
    time: i64,
    /// Size of the payload in bytes, if the frame completed a message of less than 4 GiB.
    payload: Option<u32>,
    wire: Box<[u8]>,
}

/// The current time in nanoseconds since 1970, negative before.
pub(crate) fn now() -> i64 {
    let nanoseconds = match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i128::try_from(since.as_nanos()).unwrap_or(i128::MAX),
        Err(before) => -i128::try_from(before.duration().as_nanos()).unwrap_or(i128::MAX),
    };
    nanoseconds.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

impl Recent {
    /// Keeps at most `messages` messages and at most `bytes` bytes in total.
    pub(crate) fn new(messages: usize, bytes: usize) -> Self {
        Recent { max_messages: messages, max_bytes: bytes, ..Self::default() }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.max_messages, self.max_bytes);
    }

    pub(crate) fn push(&mut self, wire: &[u8]) {
        self.frames.push_back(Frame { time: now(), payload: None, wire: wire.into() });
        self.bytes += wire.len();
        while self.frames.len() > self.max_messages || self.bytes > self.max_bytes {
            let Some(oldest) = self.frames.pop_front() else { break };
            self.bytes -= oldest.wire.len();
            self.dropped += 1;
        }
    }

    /// Sets the payload length of the message that the last frame completed.
    pub(crate) fn set_payload_len(&mut self, payload: usize) {
        if let Some(last) = self.frames.back_mut() {
            last.payload = u32::try_from(payload).ok();
        }
    }

    /// The compressed bytes, oldest first: one item per call of
    /// [`Session::message`](crate::Session::message).
    pub fn frames(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.frames.iter().map(|frame| &frame.wire[..])
    }

    /// Whether no message has been dropped since the beginning of the connection.
    pub fn is_complete(&self) -> bool {
        self.dropped == 0
    }

    /// Number of bytes held.
    pub(crate) fn memory(&self) -> usize {
        self.bytes + self.frames.capacity() * size_of::<Frame>()
    }

    /// Writes the messages as a file for [`Recording`](crate::Recording). `transport` is the
    /// transport of the connection. If messages were dropped, the file begins in the middle of a
    /// connection, and a stream cannot be replayed from there.
    ///
    /// # Errors
    /// Returns the errors of `out`, and [`io::ErrorKind::InvalidInput`] for a message of more than
    /// 1 GiB.
    pub(crate) fn write(&self, transport: Transport, out: impl Write) -> io::Result<()> {
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
    fn oldest_frames_are_dropped_first() {
        let mut recent = Recent::new(3, 10);
        for frame in [&b"one"[..], b"two", b"four"] {
            recent.push(frame);
        }
        assert!(recent.is_complete());
        recent.push(b"x");
        assert_eq!(recent.frames().collect::<Vec<_>>(), [&b"two"[..], b"four", b"x"]);
        recent.push(b"eightlong");
        assert_eq!(recent.frames().collect::<Vec<_>>(), [&b"x"[..], b"eightlong"]);
        assert_eq!(recent.dropped, 3);
        recent.push(b"longer than all of it");
        assert_eq!((recent.frames().len(), recent.bytes), (0, 0));
        recent.clear();
        assert!(recent.is_complete());
    }
}
