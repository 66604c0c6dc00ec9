//! A queue of cache lines to prefetch for the next job while the current one is decoded.

use linerate_core::{CACHE_LINE, prefetch_line};

/// Maximum number of memory ranges in a queue.
const MAX_RANGES: usize = 8;

/// The cache lines that the next job will read.
/// [`FrameDecoder::decode_prefetching`](crate::FrameDecoder::decode_prefetching) spreads their
/// prefetches over the sequences of the current block, because a CPU stalls if too many are in
/// flight. It prefetches the rest at the end.
///
/// The queue holds addresses and never reads the memory, so the memory may even have been freed.
#[derive(Clone, Debug)]
pub struct PrefetchQueue {
    /// Address of the first line, and the address after the last byte.
    ranges: [(usize, usize); MAX_RANGES],
    len: usize,
    /// Number of lines prefetched per loop iteration: 1, 2 or 4; 0 counts as 1.
    rate: u32,
}

impl PrefetchQueue {
    /// Makes an empty queue.
    pub const fn new() -> Self {
        PrefetchQueue { ranges: [(0, 0); MAX_RANGES], len: 0, rate: 1 }
    }

    /// Adds the lines of `bytes`. The range enqueued last is prefetched first. A queue holds 8
    /// ranges, and ignores further ones.
    pub fn enqueue(&mut self, bytes: &[u8]) {
        if bytes.is_empty() || self.len == MAX_RANGES {
            return;
        }
        let start = bytes.as_ptr() as usize;
        self.ranges[self.len] = (start & !(CACHE_LINE - 1), start + bytes.len());
        self.len += 1;
    }

    /// Empties the queue.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Returns the number of lines that are not prefetched yet.
    pub fn lines(&self) -> usize {
        self.ranges[..self.len].iter().map(|(at, end)| (end - at).div_ceil(CACHE_LINE)).sum()
    }

    /// Chooses the lowest rate that prefetches all lines in `iterations` loop iterations, or the
    /// highest rate if none does.
    pub(crate) fn spread_over(&mut self, iterations: usize) {
        self.rate = match self.lines().div_ceil(iterations.max(1)) {
            rate @ 0..=2 => rate as u32,
            _ => 4,
        };
    }

    /// Prefetches the lines of one iteration.
    #[inline]
    pub(crate) fn prefetch_next(&mut self) {
        let mut cursor = self.take();
        cursor.prefetch_next(self);
        self.put_back(cursor);
    }

    /// Takes a range out, so that a loop can keep it in registers.
    #[inline]
    pub(crate) fn take(&mut self) -> PrefetchCursor {
        let mut cursor = PrefetchCursor { at: 0, end: 0, rate: self.rate };
        cursor.advance(self);
        cursor
    }

    /// Puts the rest of a range back.
    #[inline]
    pub(crate) fn put_back(&mut self, cursor: PrefetchCursor) {
        if cursor.at < cursor.end {
            self.ranges[self.len] = (cursor.at, cursor.end);
            self.len += 1;
        }
    }

    /// Prefetches all remaining lines.
    pub(crate) fn prefetch_now(&mut self) {
        for &(at, end) in &self.ranges[..self.len] {
            (at..end).step_by(CACHE_LINE).for_each(prefetch_line);
        }
        self.len = 0;
    }
}

/// The range of a queue that a loop is prefetching.
#[derive(Clone, Copy)]
pub(crate) struct PrefetchCursor {
    at: usize,
    end: usize,
    rate: u32,
}

impl PrefetchCursor {
    /// A cursor without lines.
    pub(crate) const EMPTY: PrefetchCursor = PrefetchCursor { at: 0, end: 0, rate: 1 };

    /// Prefetches the lines of one iteration. Up to three of them may be past the range, because a
    /// check would cost more.
    #[inline(always)]
    pub(crate) fn prefetch_next(&mut self, queue: &mut PrefetchQueue) {
        if self.at >= self.end && !self.advance(queue) {
            return;
        }
        self.line();
        // Unrolled: a loop would cost as much as the prefetches.
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

    /// Advances to the range that was enqueued before. Returns whether there is one.
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
    fn each_line_is_prefetched_once() {
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
                let prefetched = lines - queue.lines();
                assert!(
                    prefetched <= 4 * iteration
                        && (prefetched >= iteration.min(lines) || lines == prefetched)
                );
            }
            // All lines were prefetched, unless there are more than four per iteration.
            assert!(queue.lines() == 0 || 4 * iterations < lines + 8 * 4);
            queue.prefetch_now();
            queue.prefetch_next();
            assert_eq!(queue.lines(), 0);
        }
    }
}
