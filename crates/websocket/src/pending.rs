//! [`Pending`]: bytes for the peer, in order: a connection's own, and frames that it shares with others.

use std::collections::VecDeque;
use std::sync::Arc;

/// A run of bytes before [`Pending::bytes`].
enum Run {
    Own(Vec<u8>),
    Shared(Arc<[u8]>),
}

impl Run {
    fn bytes(&self) -> &[u8] {
        match self {
            Run::Own(bytes) => bytes,
            Run::Shared(frame) => frame,
        }
    }
}

/// Bytes to be sent. Without any it holds no memory: connections are idle most of the time.
#[derive(Default)]
pub(crate) struct Pending {
    /// Runs with at least a byte each.
    before: VecDeque<Run>,
    /// The connection's own bytes after those.
    pub(crate) bytes: Vec<u8>,
    /// Bytes of the first run that were sent.
    sent: usize,
}

impl Pending {
    /// Bytes to send next; none if nothing is pending.
    pub(crate) fn next(&self) -> &[u8] {
        &self.before.front().map_or(&self.bytes[..], Run::bytes)[self.sent..]
    }

    /// Appends a frame.
    pub(crate) fn share(&mut self, frame: &Arc<[u8]>) {
        if !self.bytes.is_empty() {
            self.before.push_back(Run::Own(std::mem::take(&mut self.bytes)));
        }
        self.before.push_back(Run::Shared(Arc::clone(frame)));
    }

    /// `n` bytes of [`next`](Self::next) were sent.
    pub(crate) fn sent(&mut self, n: usize) {
        self.sent += n;
        if !self.next().is_empty() {
            return;
        }
        self.sent = 0;
        if self.before.pop_front().is_none() {
            self.bytes = Vec::new();
        } else if self.before.is_empty() {
            self.before = VecDeque::new();
        }
    }

    /// Bytes held, without shared frames.
    pub(crate) fn memory(&self) -> usize {
        let own = self.before.iter().map(|run| match run {
            Run::Own(bytes) => bytes.capacity(),
            Run::Shared(_) => 0,
        });
        own.sum::<usize>() + self.before.capacity() * size_of::<Run>() + self.bytes.capacity()
    }
}
