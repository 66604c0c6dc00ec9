//! Fetching the memory of the next job while the current one is decoded.

use linerate_core::{CACHE_LINE, prefetch_line};

/// Pieces of memory in a queue.
const MAX_RANGES: usize = 8;

/// The cache lines that the next job will need. Decoding with such a queue
/// ([`Decoder::decode_prefetching`](crate::Decoder::decode_prefetching)) asks for them spread over the
/// sequences of the block, since a CPU waits when many are asked for at once, and for what is left at the
/// end.
///
/// The memory is named, never read: it need not even exist any more.
#[derive(Clone, Debug)]
pub struct PrefetchQueue {
    /// Addresses of the first line and behind the last.
    ranges: [(usize, usize); MAX_RANGES],
    len: usize,
    /// Lines that a iteration of a loop asks for: 1, 2 or 4.
    rate: u32,
}

impl PrefetchQueue {
    /// An empty queue.
    pub const fn new() -> Self {
        PrefetchQueue { ranges: [(0, 0); MAX_RANGES], len: 0, rate: 1 }
    }

    /// Adds the lines of `bytes`, which are asked for before those that were added before. A queue takes
    /// 8 ranges; others are ignored.
    pub fn enqueue(&mut self, bytes: &[u8]) {
        if bytes.is_empty() || self.len == MAX_RANGES {
            return;
        }
        let start = bytes.as_ptr() as usize;
        self.ranges[self.len] = (start & !(CACHE_LINE - 1), start + bytes.len());
        self.len += 1;
    }

    /// Forgets the lines.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Lines not yet asked for.
    pub fn lines(&self) -> usize {
        self.ranges[..self.len].iter().map(|(at, end)| (end - at).div_ceil(CACHE_LINE)).sum()
    }

    /// Makes the lines last for about so many iterations of a loop.
    pub(crate) fn spread_over(&mut self, iterations: usize) {
        self.rate = match self.lines().div_ceil(iterations.max(1)) {
            rate @ 0..=2 => rate as u32,
            _ => 4,
        };
    }

    /// Asks for the lines of a iteration.
    #[inline]
    pub(crate) fn prefetch_next(&mut self) {
        let mut cursor = self.take();
        cursor.prefetch_next(self);
        self.put_back(cursor);
    }

    /// Takes the queue into a loop.
    #[inline]
    pub(crate) fn take(&mut self) -> PrefetchCursor {
        let mut cursor = PrefetchCursor { at: 0, end: 0, rate: self.rate };
        cursor.advance(self);
        cursor
    }

    /// Takes back what a loop has left.
    #[inline]
    pub(crate) fn put_back(&mut self, cursor: PrefetchCursor) {
        if cursor.at < cursor.end {
            self.ranges[self.len] = (cursor.at, cursor.end);
            self.len += 1;
        }
    }

    /// Asks for all lines that are left.
    pub(crate) fn prefetch_now(&mut self) {
        for &(at, end) in &self.ranges[..self.len] {
            (at..end).step_by(CACHE_LINE).for_each(prefetch_line);
        }
        self.len = 0;
    }
}

/// The range of a queue that a loop is at.
#[derive(Clone, Copy)]
pub(crate) struct PrefetchCursor {
    at: usize,
    end: usize,
    rate: u32,
}

impl PrefetchCursor {
    /// No lines.
    pub(crate) const EMPTY: PrefetchCursor = PrefetchCursor { at: 0, end: 0, rate: 1 };

    /// Asks for the lines of a iteration. The last may lie behind the range: that costs less than to look.
    #[inline(always)]
    pub(crate) fn prefetch_next(&mut self, queue: &mut PrefetchQueue) {
        if self.at >= self.end && !self.advance(queue) {
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

    /// Goes to the next range, if there is one.
    #[inline(always)]
    fn advance(&mut self, queue: &mut PrefetchQueue) -> bool {
        let Some(last) = queue.len.checked_sub(1) else { return false };
        queue.len = last;
        (self.at, self.end) = queue.ranges[last];
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
        for iterations in [1, 7, 60, 135, 1000] {
            let mut queue = PrefetchQueue::new();
            for _ in 0..10 {
                queue.enqueue(&bytes);
            }
            queue.enqueue(&[]);
            let lines = queue.lines();
            assert!((8 * 16..=8 * 17).contains(&lines));
            queue.spread_over(iterations);
            for iteration in 1..=iterations {
                queue.prefetch_next();
                let asked = lines - queue.lines();
                assert!(asked <= 4 * iteration && (asked >= iteration.min(lines) || lines == asked));
            }
            // All were asked for, unless there are more than four for a iteration.
            assert!(queue.lines() == 0 || 4 * iterations < lines + 8 * 4);
            queue.prefetch_now();
            queue.prefetch_next();
            assert_eq!(queue.lines(), 0);
        }
    }
}
