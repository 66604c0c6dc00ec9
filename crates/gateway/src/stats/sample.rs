//! Packs a record into the words of a ring, on its way from a decoder to the collecting thread.

use super::record::Verdict;
use super::ring::Item;
use crate::transport::Transport;

/// A record on its way to the collecting thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    /// The times of the message, if it is timed.
    pub(super) time: Option<Time>,
    pub(super) connection: u32,
    pub(super) transport: Transport,
    pub(super) verdict: Verdict,
    pub(super) compressed: u32,
    pub(super) payload: u32,
}

/// The times of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time {
    /// Time of arrival, in nanoseconds since the recorder's base.
    pub(super) arrived: u64,
    pub(super) decode_ns: u32,
}

/// Value of the third byte of the last word if the message is timed.
const TIMED: u8 = 1;

impl Sample {
    /// Packs the sample.
    pub(super) fn to_item(self) -> Item {
        let (time, timed) = match self.time {
            Some(time) => (time, TIMED),
            None => (Time { arrived: 0, decode_ns: 0 }, 0),
        };
        let both = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let kinds = u32::from_le_bytes([self.transport as u8, self.verdict as u8, timed, 0]);
        [
            time.arrived,
            both(self.compressed, self.payload),
            both(self.connection, time.decode_ns),
            kinds.into(),
        ]
    }

    /// Unpacks a sample. Returns `None` for an unknown transport or verdict.
    pub(super) fn of_item([arrived, sizes, connection, kinds]: Item) -> Option<Self> {
        let (low, high) = (|word: u64| word as u32, |word: u64| (word >> 32) as u32);
        let [transport, verdict, timed, ..] = kinds.to_le_bytes();
        let time = Time { arrived, decode_ns: high(connection) };
        Some(Sample {
            time: (timed == TIMED).then_some(time),
            connection: low(connection),
            transport: *Transport::ALL.get(usize::from(transport))?,
            verdict: *Verdict::ALL.get(usize::from(verdict))?,
            compressed: low(sizes),
            payload: high(sizes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_comes_out_of_its_words() {
        let time = Some(Time { arrived: u64::MAX - 1, decode_ns: 0x8765_4321 });
        for (transport, verdict) in Transport::ALL.into_iter().zip(Verdict::ALL) {
            let (connection, compressed, payload) = (u32::MAX, 0x1234_5678, 0x9abc_def0);
            let sample = Sample { time, connection, transport, verdict, compressed, payload };
            for sample in [sample, Sample { time: None, connection: 3, ..sample }] {
                assert_eq!(Sample::of_item(sample.to_item()), Some(sample));
            }
        }
        assert_eq!(Sample::of_item([0, 0, 0, 6]), None);
    }
}
