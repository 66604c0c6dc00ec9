//! [`Pending`]: the bytes to send to the peer, in order. Some belong to the connection, others are
//! frames that it shares with other connections.

use std::collections::VecDeque;
use std::sync::Arc;

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

impl Default for Run {
    fn default() -> Self {
        Run::Own(Vec::new())
    }
}

/// The bytes to send. If there are none, it holds no memory, since connections are idle most of the
/// time.
#[derive(Default)]
pub(crate) struct Pending {
    first: Run,
    /// The runs of bytes after the first run. Only the last one may be empty.
    rest: VecDeque<Run>,
    /// Number of bytes of the first run that were sent.
    sent: usize,
}

impl Pending {
    /// The bytes to send next; empty if nothing is pending.
    pub(crate) fn next(&self) -> &[u8] {
        &self.first.bytes()[self.sent..]
    }

    fn last(&mut self) -> &mut Run {
        self.rest.back_mut().unwrap_or(&mut self.first)
    }

    /// A buffer to append bytes to.
    pub(crate) fn own(&mut self) -> &mut Vec<u8> {
        if matches!(self.last(), Run::Shared(_)) {
            self.rest.push_back(Run::default());
        }
        match self.last() {
            Run::Own(bytes) => bytes,
            Run::Shared(_) => unreachable!("the last run was made one of the connection's own"),
        }
    }

    /// Appends a shared frame.
    pub(crate) fn share(&mut self, frame: &Arc<[u8]>) {
        let run = Run::Shared(Arc::clone(frame));
        let last = self.last();
        if last.bytes().is_empty() {
            *last = run;
        } else {
            self.rest.push_back(run);
        }
    }

    /// Removes the first `n` bytes of [`next`](Self::next), which were sent.
    pub(crate) fn sent(&mut self, n: usize) {
        self.sent += n;
        if !self.next().is_empty() {
            match &mut self.first {
                // If the peer is always a little behind, the connection must not keep everything
                // that it has ever sent.
                Run::Own(bytes) if self.sent > bytes.len() / 2 => {
                    bytes.drain(..self.sent);
                    self.sent = 0;
                }
                _ => {}
            }
            return;
        }
        (self.first, self.sent) = (self.rest.pop_front().unwrap_or_default(), 0);
        if self.rest.is_empty() && self.rest.capacity() > 0 {
            self.rest = VecDeque::new();
        }
    }

    /// Number of bytes held, without shared frames.
    pub(crate) fn memory(&self) -> usize {
        let own = std::iter::once(&self.first).chain(&self.rest).map(|run| match run {
            Run::Own(bytes) => bytes.capacity(),
            Run::Shared(_) => 0,
        });
        own.sum::<usize>() + self.rest.capacity() * size_of::<Run>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sent_bytes_are_freed_even_if_some_are_always_pending() {
        let mut pending = Pending::default();
        let (mut put, mut sent) = (0_u32..100_000, 0_u32..99_900);
        pending.own().extend(put.by_ref().take(100).flat_map(u32::to_be_bytes));
        for number in sent.by_ref() {
            pending.own().extend(put.next().into_iter().flat_map(u32::to_be_bytes));
            assert_eq!(pending.next()[..4], number.to_be_bytes());
            pending.sent(4);
        }
        assert!(pending.memory() < 4_000, "{} bytes held", pending.memory());
    }
}
