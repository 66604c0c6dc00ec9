//! A recorded connection, decoded again.

use std::collections::BTreeMap;

use crate::checks::Encoding;
use crate::encoder::Encoder;
use crate::envelope::Envelope;
use crate::fault::{Fault, Result};
use crate::scratch::Scratch;
use crate::session::Session;

/// What came of replaying frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replay {
    /// Whole messages.
    pub messages: u64,
    /// Frames, which are more where messages came in parts.
    pub frames: u64,
    /// Compressed bytes.
    pub compressed: u64,
    /// Bytes of payloads.
    pub payload: u64,
    /// The first fault, at which replaying ends.
    pub fault: Option<Fault>,
}

impl Replay {
    /// Decodes frames in order with a new or reset session, up to the first fault, and hands each payload
    /// to `each`.
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
                Err(fault) => {
                    replay.fault = Some(fault);
                    break;
                }
            }
        }
        replay
    }
}

/// Compresses payloads anew, as the transport of `encoder` does it: what goes over the wire for each.
///
/// # Errors
/// As [`Encoder::message`].
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

/// Messages counted together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Messages.
    pub messages: u64,
    /// Compressed bytes.
    pub compressed: u64,
    /// Bytes of payloads.
    pub payload: u64,
}

impl Tally {
    fn add(&mut self, compressed: usize, payload: usize) {
        self.messages += 1;
        self.compressed += compressed as u64;
        self.payload += payload as u64;
    }

    /// Bytes of payload for each compressed one; 0 if there are none.
    pub fn ratio(&self) -> f64 {
        if self.compressed == 0 { 0.0 } else { self.payload as f64 / self.compressed as f64 }
    }
}

/// Messages by their size and by what they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// All of them.
    pub all: Tally,
    /// By the bits that the length of the payload has: 0 for empty ones, then `1 << (n - 1)` bytes and
    /// more.
    pub by_size: BTreeMap<u32, Tally>,
    /// By opcode; `None` for payloads that have none.
    pub by_opcode: BTreeMap<Option<u64>, Tally>,
    /// By the name of the event.
    pub by_event: BTreeMap<String, Tally>,
}

impl Statistics {
    /// Names of events that are told apart; all others are counted as `other`.
    pub const MOST_EVENTS: usize = 1000;

    /// Nothing counted yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a message.
    pub fn add(&mut self, compressed: usize, payload: &[u8], encoding: Encoding) {
        let size = payload.len();
        let envelope = Envelope::read(payload, encoding).unwrap_or_default();
        self.all.add(compressed, size);
        self.by_size.entry(usize::BITS - size.leading_zeros()).or_default().add(compressed, size);
        self.by_opcode.entry(envelope.op).or_default().add(compressed, size);
        if let Some(event) = envelope.event {
            let known = self.by_event.contains_key(event) || self.by_event.len() < Self::MOST_EVENTS;
            let name = if known { event } else { "other" };
            match self.by_event.get_mut(name) {
                Some(tally) => tally.add(compressed, size),
                None => self.by_event.entry(name.to_owned()).or_default().add(compressed, size),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_counted_by_size_and_kind() {
        let mut statistics = Statistics::new();
        statistics.add(10, br#"{"op":0,"t":"A","s":1,"d":0}"#, Encoding::Json);
        statistics.add(20, br#"{"op":11}"#, Encoding::Json);
        statistics.add(30, b"garbage", Encoding::Json);
        statistics.add(0, b"", Encoding::Json);
        assert_eq!(statistics.all, Tally { messages: 4, compressed: 60, payload: 28 + 9 + 7 });
        assert_eq!(statistics.by_size.keys().copied().collect::<Vec<_>>(), [0, 3, 4, 5]);
        let opcodes: Vec<_> = statistics.by_opcode.iter().map(|(op, t)| (*op, t.messages)).collect();
        assert_eq!(opcodes, [(None, 2), (Some(0), 1), (Some(11), 1)]);
        assert_eq!(statistics.by_event["A"].compressed, 10);
    }

    #[test]
    fn names_without_end_are_one() {
        let mut statistics = Statistics::new();
        for i in 0..Statistics::MOST_EVENTS + 50 {
            statistics.add(1, format!("{{\"t\":\"E{i}\"}}").as_bytes(), Encoding::Json);
        }
        assert_eq!(statistics.by_event.len(), Statistics::MOST_EVENTS + 1);
        assert_eq!(statistics.by_event["other"].messages, 50);
    }
}
