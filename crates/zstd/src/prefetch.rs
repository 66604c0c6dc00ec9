//! Fetching the memory of the next job while the current one is decoded.

use linerate_core::{CACHE_LINE, prefetch_line};

/// Pieces of memory in a list.
const PIECES: usize = 8;

/// The cache lines that the next job will need. Decoding with such a list
/// ([`Decoder::decode_prefetching`](crate::Decoder::decode_prefetching)) asks for them spread over the
/// sequences of the block, since a CPU waits when many are asked for at once, and for what is left at the
/// end.
///
/// The memory is named, never read: it need not even exist any more.
#[derive(Clone, Debug)]
pub struct PrefetchQueue {
    /// Addresses of the first line and behind the last.
    pieces: [(usize, usize); PIECES],
    len: usize,
    /// Lines that a turn of a loop asks for: 1, 2 or 4.
    rate: u32,
}

impl PrefetchQueue {
    /// An empty list.
    pub const fn new() -> Self {
        PrefetchQueue { pieces: [(0, 0); PIECES], len: 0, rate: 1 }
    }

    /// Adds the lines of `bytes`, which are asked for before those that were added before. A list takes
    /// 8 pieces; others are ignored.
    pub fn enqueue(&mut self, bytes: &[u8]) {
        if bytes.is_empty() || self.len == PIECES {
            return;
        }
        let start = bytes.as_ptr() as usize;
        self.pieces[self.len] = (start & !(CACHE_LINE - 1), start + bytes.len());
        self.len += 1;
    }

    /// Forgets the lines.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Lines not yet asked for.
    pub fn lines(&self) -> usize {
        self.pieces[..self.len].iter().map(|(at, end)| (end - at).div_ceil(CACHE_LINE)).sum()
    }

    /// Makes the lines last for about so many turns of a loop.
    pub(crate) fn spread(&mut self, turns: usize) {
        self.rate = match self.lines().div_ceil(turns.max(1)) {
            rate @ 0..=2 => rate as u32,
            _ => 4,
        };
    }

    /// Asks for the lines of a turn.
    #[inline]
    pub(crate) fn pop(&mut self) {
        let mut run = self.take();
        run.pop(self);
        self.put_back(run);
    }

    /// Takes the list into a loop.
    #[inline]
    pub(crate) fn take(&mut self) -> Run {
        let mut run = Run { at: 0, end: 0, rate: self.rate };
        run.next(self);
        run
    }

    /// Takes back what a loop has left.
    #[inline]
    pub(crate) fn put_back(&mut self, run: Run) {
        if run.at < run.end {
            self.pieces[self.len] = (run.at, run.end);
            self.len += 1;
        }
    }

    /// Asks for all lines that are left.
    pub(crate) fn flush(&mut self) {
        for &(at, end) in &self.pieces[..self.len] {
            (at..end).step_by(CACHE_LINE).for_each(prefetch_line);
        }
        self.len = 0;
    }
}

/// The piece of a list that a loop is at.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    at: usize,
    end: usize,
    rate: u32,
}

impl Run {
    /// No lines.
    pub(crate) const NONE: Run = Run { at: 0, end: 0, rate: 1 };

    /// Asks for the lines of a turn. The last may lie behind the piece: that costs less than to look.
    #[inline(always)]
    pub(crate) fn pop(&mut self, list: &mut PrefetchQueue) {
        if self.at >= self.end && !self.next(list) {
            return;
        }
        self.line();
        // Not a loop: it would cost as much as the lines.
        if self.rate > 1 {
            self.line();
            if self.rate > 2 {
                self.line();
                self.line();
            }
        }
    }

    #[inline(always)]
    fn line(&mut self) {
        prefetch_line(self.at);
        self.at += CACHE_LINE;
    }

    /// Goes to the next piece, if there is one.
    #[inline(always)]
    fn next(&mut self, list: &mut PrefetchQueue) -> bool {
        let Some(last) = list.len.checked_sub(1) else { return false };
        list.len = last;
        (self.at, self.end) = list.pieces[last];
        true
    }
}

impl Default for PrefetchQueue {
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
        for turns in [1, 7, 60, 135, 1000] {
            let mut list = PrefetchQueue::new();
            for _ in 0..10 {
                list.enqueue(&bytes);
            }
            list.enqueue(&[]);
            let lines = list.lines();
            assert!((8 * 16..=8 * 17).contains(&lines));
            list.spread(turns);
            for turn in 1..=turns {
                list.pop();
                let asked = lines - list.lines();
                assert!(asked <= 4 * turn && (asked >= turn.min(lines) || lines == asked));
            }
            // All were asked for, unless there are more than four for a turn.
            assert!(list.lines() == 0 || 4 * turns < lines + 8 * 4);
            list.flush();
            list.pop();
            assert_eq!(list.lines(), 0);
        }
    }
}
