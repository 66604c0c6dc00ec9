//! The buffer that a message is decoded into.

use linerate_core::{Error, Kind};

/// Room that is made at first.
const FIRST: usize = 64 << 10;
/// Room that is kept whatever came.
const KEPT: usize = 1 << 20;
const NO_MEMORY: Error = Error::new(Kind::Limit, 0, "there is no memory for a message");
/// Messages in a row that do with what is kept, after which more is given back.
const PATIENCE: u32 = 256;

/// Bytes of a message, in a buffer that stays from message to message.
#[derive(Default)]
pub(crate) struct Payload {
    /// All of it was written once, so that none of it need be cleared again.
    bytes: Vec<u8>,
    len: usize,
    /// Messages in a row that did with little.
    small: u32,
}

impl Payload {
    pub(crate) const TOO_LONG: Error = Error::new(Kind::Limit, 0, "a message is longer than the limit");

    pub(crate) const fn new() -> Self {
        Payload { bytes: Vec::new(), len: 0, small: 0 }
    }

    /// Begins a message.
    pub(crate) fn begin(&mut self) {
        self.rest();
        self.len = 0;
    }

    /// Gives back what only a large message needed, some time after it.
    fn rest(&mut self) {
        if self.bytes.len() <= KEPT || self.len > KEPT {
            self.small = 0;
            return;
        }
        self.small += 1;
        if self.small == PATIENCE {
            self.trim();
        }
    }

    /// Gives back what is above the room that is kept anyway.
    pub(crate) fn trim(&mut self) {
        self.bytes.truncate(KEPT);
        self.bytes.shrink_to_fit();
        self.small = 0;
    }

    /// Room for `least` bytes more, or as many as `limit` and one more leave. That one tells a message
    /// of `limit` bytes from a longer one.
    fn grow(&mut self, least: usize, limit: usize) -> Result<usize, Error> {
        let most = limit.saturating_add(1);
        let wanted = self.len.saturating_add(least).min(most);
        if wanted > self.bytes.len() {
            let len = wanted.max(2 * self.bytes.len()).max(FIRST);
            self.bytes.try_reserve_exact(len - self.bytes.len()).map_err(|_| NO_MEMORY)?;
            self.bytes.resize(len, 0);
        }
        Ok(self.bytes.len().min(most).max(self.len))
    }

    /// Room behind what is there: `least` bytes or more, fewer only where the message would then be
    /// longer than `limit` by more than one byte.
    pub(crate) fn room(&mut self, least: usize, limit: usize) -> Result<&mut [u8], Error> {
        let end = self.grow(least, limit)?;
        Ok(&mut self.bytes[self.len..end])
    }

    /// What is there and the room behind it, as [`room`](Self::room) makes it, and where that begins.
    pub(crate) fn output(&mut self, least: usize, limit: usize) -> Result<(&mut [u8], usize), Error> {
        let end = self.grow(least, limit)?;
        Ok((&mut self.bytes[..end], self.len))
    }

    /// Counts bytes that were written into the room.
    pub(crate) fn wrote(&mut self, count: usize, limit: usize) -> Result<(), Error> {
        self.reached(self.len + count, limit)
    }

    /// Sets the length to where writing has come.
    pub(crate) fn reached(&mut self, len: usize, limit: usize) -> Result<(), Error> {
        self.len = len;
        if len > limit { Err(Self::TOO_LONG) } else { Ok(()) }
    }

    /// Forgets what is behind `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Without room that is far beyond what is there.
    pub(crate) fn fitted(mut self) -> Self {
        if self.bytes.len() > 4 * self.len + FIRST {
            self.bytes.truncate(self.len);
            self.bytes.shrink_to_fit();
        }
        self
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Bytes held.
    pub(crate) fn memory(&self) -> usize {
        self.bytes.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_ends_one_byte_behind_the_limit() {
        let mut payload = Payload::default();
        payload.room(3, 10).unwrap()[..3].copy_from_slice(b"abc");
        payload.wrote(3, 10).unwrap();
        let room = payload.room(1000, 10).unwrap();
        assert_eq!(room.len(), 8);
        room.fill(b'x');
        payload.wrote(7, 10).unwrap();
        assert_eq!(payload.bytes(), b"abcxxxxxxx");
        assert_eq!(payload.room(1000, 10).unwrap().len(), 1);
        assert_eq!(payload.wrote(1, 10).unwrap_err().kind, Kind::Limit);
        assert!(payload.room(1, 10).unwrap().is_empty());
    }

    #[test]
    fn memory_of_a_large_message_goes_back() {
        let mut payload = Payload::default();
        let large = 3 << 20;
        payload.room(large, usize::MAX).unwrap();
        payload.wrote(large, usize::MAX).unwrap();
        for _ in 0..=PATIENCE {
            assert!(payload.memory() >= large);
            payload.begin();
            payload.room(5, usize::MAX).unwrap()[..5].copy_from_slice(b"small");
            payload.wrote(5, usize::MAX).unwrap();
        }
        assert_eq!(payload.memory(), KEPT);
        assert_eq!(payload.bytes(), b"small");
    }
}
