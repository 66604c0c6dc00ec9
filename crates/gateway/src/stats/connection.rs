//! The recorder of one connection, which its session calls.

use std::sync::Arc;

use linerate_core::Kind;

use super::record::Verdict;
use super::recorder::{Sample, Shared};
use crate::transport::Transport;

/// Records the messages of one connection. [`Session::record_stats`](crate::Session::record_stats) takes it.
pub struct ConnectionRecorder {
    shared: Arc<Shared>,
    connection: u32,
    /// Compressed bytes and nanoseconds of the parts of a message that is not whole.
    compressed: u64,
    spent: u64,
}

impl ConnectionRecorder {
    pub(super) fn new(shared: Arc<Shared>, connection: u32) -> Self {
        ConnectionRecorder { shared, connection, compressed: 0, spent: 0 }
    }

    /// Its number, by which [`StatsRecorder::connection_stats`](super::StatsRecorder::connection_stats) knows it.
    pub fn number(&self) -> u32 {
        self.connection
    }

    /// Begins to measure a part of a message.
    pub(crate) fn begin(&self) -> u64 {
        self.shared.now()
    }

    /// Ends to measure a part that began at `begun`: `Ok(None)` if the message goes on, else the bytes of its payload
    /// or why there is none.
    pub(crate) fn end(
        &mut self,
        begun: u64,
        transport: Transport,
        compressed: usize,
        outcome: Result<Option<usize>, Kind>,
    ) {
        self.compressed += compressed as u64;
        let now = self.shared.now();
        self.spent += now.saturating_sub(begun);
        let (verdict, payload) = match outcome {
            Ok(None) => return,
            Ok(Some(payload)) => (Verdict::Decoded, payload),
            Err(kind) => (kind.into(), 0),
        };
        self.shared.push(Sample {
            arrived: self.shared.arrival(begun),
            connection: self.connection,
            transport,
            verdict,
            compressed: saturated(std::mem::take(&mut self.compressed)),
            payload: saturated(payload as u64),
            decode_ns: saturated(std::mem::take(&mut self.spent)),
        });
    }

    /// Forgets the parts of a message that will not be whole.
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
