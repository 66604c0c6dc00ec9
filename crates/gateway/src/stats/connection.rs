//! Records the messages of one connection; its session calls it.

use std::sync::Arc;

use linerate_core::Kind;

use super::record::Verdict;
use super::recorder::Shared;
use super::ring::{Lease, Writer};
use super::sample::{Sample, Time};
use crate::transport::Transport;

/// One message in this many is timed, since reading a clock costs more than the rest of recording.
pub(super) const TIMED_EVERY: u8 = 16;

/// The state of [`ConnectionRecorder`] from the beginning to the end of a part of a message.
#[derive(Clone, Copy)]
pub(crate) struct Begun {
    /// The writer that will record the message.
    writer: Writer,
    /// Time at which this part of the message began, in nanoseconds, if the message is timed.
    at: Option<u64>,
}

/// Records the messages of one connection. [`Session::record_stats`](crate::Session::record_stats)
/// takes it.
pub struct ConnectionRecorder {
    shared: Arc<Shared>,
    connection: u32,
    /// Number of messages before the next one that is timed.
    untimed: u8,
    /// Number of compressed bytes of the parts so far of an incomplete message, and the nanoseconds
    /// spent decoding them.
    compressed: u64,
    spent: u64,
}

impl ConnectionRecorder {
    pub(super) fn new(shared: Arc<Shared>, connection: u32) -> Self {
        ConnectionRecorder { shared, connection, untimed: 0, compressed: 0, spent: 0 }
    }

    /// The number of the connection, for
    /// [`StatsRecorder::connection_stats`](super::StatsRecorder::connection_stats).
    pub fn number(&self) -> u32 {
        self.connection
    }

    /// Begins a part of a message. `lease` is the lease of the scratch that decodes the part.
    pub(crate) fn begin(&self, lease: &mut Option<Lease>) -> Begun {
        let writer = self.shared.writer(lease);
        Begun { writer, at: (self.untimed == 0).then(|| self.shared.now()) }
    }

    /// Ends a part of a message. `outcome` is `Ok(None)` if the message continues, else the length
    /// of its payload or the kind of error.
    pub(crate) fn end(
        &mut self,
        Begun { writer, at: begun }: Begun,
        transport: Transport,
        compressed: usize,
        outcome: Result<Option<usize>, Kind>,
    ) {
        self.compressed += compressed as u64;
        if let Some(begun) = begun {
            self.spent += self.shared.now().saturating_sub(begun);
        }
        let (verdict, payload) = match outcome {
            Ok(None) => return,
            Ok(Some(payload)) => (Verdict::Decoded, payload),
            Err(kind) => (kind.into(), 0),
        };
        self.untimed = self.untimed.checked_sub(1).unwrap_or(TIMED_EVERY - 1);
        let spent = std::mem::take(&mut self.spent);
        let time =
            begun.map(|begun| Time { arrived: self.shared.arrival(begun), decode_ns: saturated(spent) });
        let sample = Sample {
            time,
            connection: self.connection,
            transport,
            verdict,
            compressed: saturated(std::mem::take(&mut self.compressed)),
            payload: saturated(payload as u64),
        };
        self.shared.push(writer, sample);
    }

    /// Forgets the parts of a message that will not be completed.
    pub(crate) fn reset(&mut self) {
        (self.compressed, self.spent) = (0, 0);
    }
}

impl Drop for ConnectionRecorder {
    fn drop(&mut self) {
        self.shared.close(self.connection);
    }
}

fn saturated(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
