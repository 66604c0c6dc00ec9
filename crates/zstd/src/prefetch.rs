//! Fetching the memory of the next job while the current one is decoded.

use crate::dictionary::Dictionary;
use crate::kernel::{LINE, fetch_line};

/// Pieces of memory in a list.
const PIECES: usize = 8;

/// The cache lines that the next job will need. Decoding with such a list
/// ([`Decoder::decode_prefetching`](crate::Decoder::decode_prefetching)) asks for a few of them with
/// each sequence and each run of literals, and for what is left at the end of the block, so that they
/// arrive one by one while there is other work, and not in a burst.
///
/// The memory is named, never read: it need not even exist any more.
#[derive(Clone, Debug)]
pub struct Prefetch {
    /// Addresses of the first line and behind the last.
    pieces: [(usize, usize); PIECES],
    len: usize,
    rate: usize,
}

impl Prefetch {
    /// An empty list, of which two lines are asked for at a time.
    pub const fn new() -> Self {
        Prefetch { pieces: [(0, 0); PIECES], len: 0, rate: 2 }
    }

    /// With `rate` lines at a time, 1 to 4.
    #[must_use]
    pub fn with_rate(mut self, rate: usize) -> Self {
        self.rate = rate.clamp(1, 4);
        self
    }

    /// Adds the lines of `bytes`. A list takes 8 pieces; others are ignored.
    pub fn add(&mut self, bytes: &[u8]) {
        if bytes.is_empty() || self.len == PIECES {
            return;
        }
        let start = bytes.as_ptr() as usize;
        self.pieces[self.len] = (start & !(LINE - 1), start + bytes.len());
        self.len += 1;
    }

    /// Adds the tables of a dictionary and the last `content` bytes of its content.
    pub fn add_dictionary(&mut self, dictionary: &Dictionary<'_>, content: usize) {
        self.add(dictionary.tables());
        let bytes = dictionary.content();
        self.add(&bytes[bytes.len().saturating_sub(content)..]);
    }

    /// Forgets the lines.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Lines not yet asked for.
    pub fn lines(&self) -> usize {
        self.pieces[..self.len].iter().map(|(at, end)| (end - at).div_ceil(LINE)).sum()
    }

    /// Asks for the next few lines.
    #[inline]
    pub(crate) fn pop(&mut self) {
        for _ in 0..self.rate {
            self.pop_line();
        }
    }

    /// Asks for all lines that are left.
    pub(crate) fn flush(&mut self) {
        while self.len > 0 {
            self.pop_line();
        }
    }

    #[inline]
    fn pop_line(&mut self) {
        let Some(last) = self.len.checked_sub(1) else { return };
        let (at, end) = &mut self.pieces[last];
        fetch_line(*at);
        *at += LINE;
        if *at >= *end {
            self.len = last;
        }
    }
}

impl Default for Prefetch {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_asked_for_once() {
        let bytes = vec![0u8; 1000];
        let mut list = Prefetch::new().with_rate(3);
        for _ in 0..10 {
            list.add(&bytes);
        }
        list.add(&[]);
        let lines = list.lines();
        assert!((8 * 16..=8 * 17).contains(&lines));
        for popped in 1..=lines / 3 {
            list.pop();
            assert_eq!(list.lines(), lines - 3 * popped);
        }
        list.flush();
        list.pop();
        assert_eq!(list.lines(), 0);
    }
}
