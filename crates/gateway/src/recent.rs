//! The last compressed messages of a connection, for whoever looks for the cause of a fault.

use std::collections::VecDeque;

/// The last compressed messages of a connection, as they came, the failed one too.
///
/// Since each message builds on all before it, they can be replayed only if none was forgotten:
/// [`is_whole`](Self::is_whole).
#[derive(Clone, Debug, Default)]
pub struct Recent {
    messages: VecDeque<Box<[u8]>>,
    bytes: usize,
    most_messages: usize,
    most_bytes: usize,
    forgotten: u64,
}

impl Recent {
    /// Keeps at most so many messages, and of these as many as `bytes` hold.
    pub(crate) fn new(messages: usize, bytes: usize) -> Self {
        Recent { most_messages: messages, most_bytes: bytes, ..Self::default() }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.most_messages, self.most_bytes);
    }

    pub(crate) fn push(&mut self, frame: &[u8]) {
        self.messages.push_back(frame.into());
        self.bytes += frame.len();
        while self.messages.len() > self.most_messages || self.bytes > self.most_bytes {
            let Some(oldest) = self.messages.pop_front() else { break };
            self.bytes -= oldest.len();
            self.forgotten += 1;
        }
    }

    /// What came, oldest first: one item for each call of [`Session::message`](crate::Session::message).
    pub fn frames(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.messages.iter().map(|frame| &frame[..])
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
        self.bytes + self.messages.capacity() * size_of::<Box<[u8]>>()
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
