//! Replay, transcoding and statistics of recorded connections.

use std::collections::BTreeMap;

use crate::checks::Encoding;
use crate::encoder::Encoder;
use crate::envelope::Envelope;
use crate::error::{Result, SessionError};
use crate::scratch::Scratch;
use crate::session::Session;

/// Result of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replay {
    /// Number of decoded messages.
    pub messages: u64,
    /// Number of frames, including one that failed. It exceeds the number of messages also if some
    /// came in fragments.
    pub frames: u64,
    /// Compressed bytes of these frames.
    pub compressed: u64,
    /// Payload bytes in total.
    pub payload: u64,
    /// The error that ended the replay.
    pub error: Option<SessionError>,
}

impl Replay {
    /// Decodes frames in order with a new or reset session, up to the first error, and calls `each`
    /// with every payload.
    pub fn run<'f>(
        session: &mut Session,
        scratch: &mut Scratch,
        frames: impl IntoIterator<Item = &'f [u8]>,
        mut each: impl FnMut(&[u8]),
    ) -> Replay {
        let mut replay = Replay::default();
        for frame in frames {
            replay.frames += 1;
            replay.compressed += frame.len() as u64;
            match session.message(frame, scratch) {
                Ok(Some(message)) => {
                    replay.messages += 1;
                    replay.payload += message.payload.len() as u64;
                    each(message.payload);
                }
                Ok(None) => {}
                Err(error) => {
                    replay.error = Some(error);
                    break;
                }
            }
        }
        replay
    }
}

/// Compresses payloads with `encoder` and returns the compressed bytes of each.
///
/// # Errors
/// Returns the errors of [`Encoder::message`].
pub fn transcode<'p>(
    encoder: &mut Encoder,
    payloads: impl IntoIterator<Item = &'p [u8]>,
) -> Result<Vec<Vec<u8>>> {
    let one = |payload| {
        let mut wire = Vec::new();
        encoder.message(payload, &mut wire).map(|()| wire)
    };
    payloads.into_iter().map(one).collect()
}

/// Counters of a group of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Number of messages.
    pub messages: u64,
    /// Compressed bytes in total.
    pub compressed: u64,
    /// Payload bytes in total.
    pub payload: u64,
}

impl Counters {
    fn add(&mut self, compressed: usize, payload: usize) {
        self.messages += 1;
        self.compressed += compressed as u64;
        self.payload += payload as u64;
    }

    /// Compression ratio: payload bytes per compressed byte; 0 without compressed bytes.
    pub fn ratio(&self) -> f64 {
        if self.compressed == 0 { 0.0 } else { self.payload as f64 / self.compressed as f64 }
    }
}

/// Counters of messages by size, opcode and event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Counters of all messages.
    pub all: Counters,
    /// Counters by the number of bits of the payload length: 0 for empty payloads, `n` for lengths
    /// from `1 << (n - 1)` to `(1 << n) - 1`.
    pub by_size: BTreeMap<u32, Counters>,
    /// Counters by opcode; `None` for payloads without one, or whose envelope cannot be read.
    pub by_opcode: BTreeMap<Option<u64>, Counters>,
    /// Counters by the name of the event. After 1,000 different names, new ones are counted as
    /// `other`.
    pub by_event: BTreeMap<String, Counters>,
}

impl Statistics {
    /// Maximum number of distinct event names, besides `other`.
    const MAX_EVENTS: usize = 1000;

    /// Creates statistics of no messages.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a message of `compressed` bytes.
    pub fn add(&mut self, compressed: usize, payload: &[u8], encoding: Encoding) {
        let size = payload.len();
        let envelope = Envelope::read(payload, encoding).unwrap_or_default();
        self.all.add(compressed, size);
        self.by_size.entry(usize::BITS - size.leading_zeros()).or_default().add(compressed, size);
        self.by_opcode.entry(envelope.op).or_default().add(compressed, size);
        if let Some(event) = envelope.event {
            let known = self.by_event.contains_key(event) || self.by_event.len() < Self::MAX_EVENTS;
            let name = if known { event } else { "other" };
            match self.by_event.get_mut(name) {
                Some(counters) => counters.add(compressed, size),
                None => self.by_event.entry(name.to_owned()).or_default().add(compressed, size),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_counted_by_size_opcode_and_event() {
        let mut statistics = Statistics::new();
        statistics.add(10, br#"{"op":0,"t":"A","s":1,"d":0}"#, Encoding::Json);
        statistics.add(20, br#"{"op":11}"#, Encoding::Json);
        statistics.add(30, b"garbage", Encoding::Json);
        statistics.add(0, b"", Encoding::Json);
        assert_eq!(statistics.all, Counters { messages: 4, compressed: 60, payload: 28 + 9 + 7 });
        assert_eq!(statistics.by_size.keys().copied().collect::<Vec<_>>(), [0, 3, 4, 5]);
        let opcodes: Vec<_> = statistics.by_opcode.iter().map(|(op, t)| (*op, t.messages)).collect();
        assert_eq!(opcodes, [(None, 2), (Some(0), 1), (Some(11), 1)]);
        assert_eq!(statistics.by_event["A"].compressed, 10);
    }

    #[test]
    fn event_names_above_the_maximum_are_counted_as_other() {
        let mut statistics = Statistics::new();
        for i in 0..Statistics::MAX_EVENTS + 50 {
            statistics.add(1, format!("{{\"t\":\"E{i}\"}}").as_bytes(), Encoding::Json);
        }
        assert_eq!(statistics.by_event.len(), Statistics::MAX_EVENTS + 1);
        assert_eq!(statistics.by_event["other"].messages, 50);
    }
}
