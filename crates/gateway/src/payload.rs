//! The output buffer of a message.

use linerate_core::{Error, Kind};

/// Initial size of the buffer, in bytes.
const INITIAL: usize = 64 << 10;
/// Size in bytes up to which the buffer is kept for good.
const RETAINED: usize = 1 << 20;
/// Longest content that is copied to and from a waiting connection, in bytes; longer content is
/// moved.
const COPIED: usize = 4 << 10;
const NO_MEMORY: Error = Error::new(Kind::Limit, 0, "out of memory for a message");
/// Consecutive messages of at most [`RETAINED`] bytes after which a larger buffer is trimmed.
const TRIM_AFTER: u32 = 256;

/// The output buffer of a message, reused from message to message.
#[derive(Default)]
pub(crate) struct Payload {
    /// The content, then free space. The space is zeroed when the buffer grows, and not again for
    /// each message.
    bytes: Vec<u8>,
    len: usize,
    /// Consecutive messages of at most [`RETAINED`] bytes.
    small: u32,
}

impl Payload {
    pub(crate) const TOO_LONG: Error = Error::new(Kind::Limit, 0, "a message is longer than the limit");

    pub(crate) const fn new() -> Self {
        Payload { bytes: Vec::new(), len: 0, small: 0 }
    }

    /// Clears the buffer for a new message.
    pub(crate) fn begin(&mut self) {
        self.trim_after_small_messages();
        self.len = 0;
    }

    /// Frees the memory of a large message after [`TRIM_AFTER`] small ones.
    fn trim_after_small_messages(&mut self) {
        if self.bytes.len() <= RETAINED || self.len > RETAINED {
            self.small = 0;
            return;
        }
        self.small += 1;
        if self.small == TRIM_AFTER {
            self.trim();
        }
    }

    /// Frees the buffer above [`RETAINED`] bytes, with the content there.
    pub(crate) fn trim(&mut self) {
        self.bytes.truncate(RETAINED);
        self.bytes.shrink_to_fit();
        self.small = 0;
    }

    /// Makes room for at least `min` bytes after the content, up to `limit + 1` bytes in total. The
    /// extra byte distinguishes a message of `limit` bytes from a longer one. Returns the usable
    /// length.
    fn grow(&mut self, min: usize, limit: usize) -> Result<usize, Error> {
        let max = limit.saturating_add(1);
        let wanted = self.len.saturating_add(min).min(max);
        if wanted > self.bytes.len() {
            let len = wanted.max(2 * self.bytes.len()).max(INITIAL);
            self.bytes.try_reserve_exact(len - self.bytes.len()).map_err(|_| NO_MEMORY)?;
            self.bytes.resize(len, 0);
        }
        Ok(self.bytes.len().min(max).max(self.len))
    }

    /// Returns the free space after the content: at least `min` bytes, or fewer if the message
    /// would otherwise exceed `limit` by more than one byte.
    pub(crate) fn spare(&mut self, min: usize, limit: usize) -> Result<&mut [u8], Error> {
        let end = self.grow(min, limit)?;
        Ok(&mut self.bytes[self.len..end])
    }

    /// Returns the content followed by the free space of [`spare`](Self::spare), and the length of
    /// the content.
    pub(crate) fn output(&mut self, min: usize, limit: usize) -> Result<(&mut [u8], usize), Error> {
        let end = self.grow(min, limit)?;
        Ok((&mut self.bytes[..end], self.len))
    }

    /// Appends bytes to the content.
    ///
    /// # Errors
    /// Returns [`TOO_LONG`](Self::TOO_LONG) if the content then has more than `limit` bytes.
    ///
    /// # Panics
    /// Panics if the content would exceed `limit` by more than one byte.
    pub(crate) fn append(&mut self, bytes: &[u8], limit: usize) -> Result<(), Error> {
        self.spare(bytes.len(), limit)?[..bytes.len()].copy_from_slice(bytes);
        self.advance(bytes.len(), limit)
    }

    /// Counts `count` bytes that were written to the free space as content.
    pub(crate) fn advance(&mut self, count: usize, limit: usize) -> Result<(), Error> {
        self.set_len(self.len + count, limit)
    }

    /// Sets the length of the content after writing.
    ///
    /// # Errors
    /// Returns [`TOO_LONG`](Self::TOO_LONG) for more than `limit` bytes.
    pub(crate) fn set_len(&mut self, len: usize, limit: usize) -> Result<(), Error> {
        self.len = len;
        if len > limit { Err(Self::TOO_LONG) } else { Ok(()) }
    }

    /// Takes the content out, for a connection that waits for the rest of a message. Returns `None`
    /// if the content is empty.
    ///
    /// Short content is copied, so the buffer stays with its thread and the connection holds only
    /// what it needs. Longer content is moved, so many fragments cost no copies.
    pub(crate) fn suspend(&mut self) -> Option<Payload> {
        if self.len == 0 {
            return None;
        }
        if self.len <= COPIED {
            return Some(Payload { bytes: self.bytes().to_vec(), len: self.len, small: 0 });
        }
        let mut content = std::mem::take(self);
        if content.bytes.len() > 4 * content.len + INITIAL {
            content.bytes.truncate(content.len);
            content.bytes.shrink_to_fit();
        }
        Some(content)
    }

    /// Puts back content that [`suspend`](Self::suspend) returned.
    pub(crate) fn resume(&mut self, content: Payload) {
        match self.bytes.get_mut(..content.len) {
            Some(space) if content.len <= COPIED => {
                space.copy_from_slice(content.bytes());
                self.len = content.len;
            }
            _ => *self = content,
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Number of bytes held.
    pub(crate) fn memory(&self) -> usize {
        self.bytes.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spare_ends_one_byte_after_the_limit() {
        let mut payload = Payload::default();
        payload.spare(3, 10).unwrap()[..3].copy_from_slice(b"abc");
        payload.advance(3, 10).unwrap();
        let spare = payload.spare(1000, 10).unwrap();
        assert_eq!(spare.len(), 8);
        spare.fill(b'x');
        payload.advance(7, 10).unwrap();
        assert_eq!(payload.bytes(), b"abcxxxxxxx");
        assert_eq!(payload.spare(1000, 10).unwrap().len(), 1);
        assert_eq!(payload.advance(1, 10).unwrap_err().kind, Kind::Limit);
        assert!(payload.spare(1, 10).unwrap().is_empty());
    }

    #[test]
    fn memory_of_a_large_message_is_freed_after_small_ones() {
        let mut payload = Payload::default();
        let large = 3 << 20;
        payload.spare(large, usize::MAX).unwrap();
        payload.advance(large, usize::MAX).unwrap();
        for _ in 0..=TRIM_AFTER {
            assert!(payload.memory() >= large);
            payload.begin();
            payload.spare(5, usize::MAX).unwrap()[..5].copy_from_slice(b"small");
            payload.advance(5, usize::MAX).unwrap();
        }
        assert_eq!(payload.memory(), RETAINED);
        assert_eq!(payload.bytes(), b"small");
    }
}
