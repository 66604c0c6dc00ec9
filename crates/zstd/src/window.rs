//! The window of a stream: a ring buffer of the last bytes of a frame, kept between calls.

use alloc::vec::Vec;

use linerate_core::{CACHE_LINE, Error, Kind, Result, prefetch_line};

use crate::output::HistorySegment;

/// Number of readable bytes after the kept ones, for wild copies.
const SLACK: usize = 32;

/// A window that grows past a quarter of this size is allocated at this size at once. The smaller
/// allocations that thousands of growing connections free would fragment the heap.
const STEP: usize = 64 << 10;

/// A ring buffer of the last `size` bytes, allocated as it fills.
pub(crate) struct Window {
    bytes: Vec<u8>,
    size: usize,
    /// Position in `bytes` at which the next byte is written.
    at: usize,
    /// Number of bytes kept.
    filled: usize,
}

impl Window {
    pub(crate) const fn new() -> Self {
        Window { bytes: Vec::new(), size: 0, at: 0, filled: 0 }
    }

    /// Empties the window for a frame with a window of `size` bytes. Keeps the memory, even if a
    /// smaller window leaves a part unused.
    pub(crate) fn start(&mut self, size: usize) {
        self.size = size;
        self.clear();
    }

    /// Empties the window and keeps the memory.
    pub(crate) fn clear(&mut self) {
        (self.at, self.filled) = (0, 0);
    }

    /// Number of bytes allocated.
    pub(crate) fn memory(&self) -> usize {
        self.bytes.capacity()
    }

    /// Number of bytes that fit into the memory allocated so far.
    fn capacity(&self) -> usize {
        self.bytes.len().saturating_sub(SLACK)
    }

    fn reserve(&mut self, count: usize) -> Result<()> {
        if count > self.capacity() {
            // Doubling bounds the copying.
            let doubled = count.max(2 * self.capacity());
            let grown = if doubled > STEP / 4 { doubled.max(STEP) } else { doubled };
            let target = grown.min(self.size).saturating_add(SLACK);
            self.bytes
                .try_reserve_exact(target - self.bytes.len())
                .map_err(|_| Error::new(Kind::Limit, 0, "there is no memory for the window"))?;
            self.bytes.resize(target, 0);
        }
        Ok(())
    }

    /// Appends bytes, overwriting the oldest when full.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<()> {
        let bytes = &bytes[bytes.len().saturating_sub(self.size)..];
        if bytes.is_empty() {
            return Ok(());
        }
        self.reserve(self.size.min(self.filled + bytes.len()))?;
        let head = bytes.len().min(self.size - self.at);
        self.bytes[self.at..self.at + head].copy_from_slice(&bytes[..head]);
        self.bytes[..bytes.len() - head].copy_from_slice(&bytes[head..]);
        let at = self.at + bytes.len();
        self.at = if at < self.size { at } else { at - self.size };
        self.filled = self.size.min(self.filled + bytes.len());
        Ok(())
    }

    /// Prefetches the last `count` bytes, and the place for the next ones, regardless of the ring's
    /// end.
    pub(crate) fn prefetch(&self, count: usize) {
        let at = self.bytes.as_ptr().addr() + self.at;
        (at.saturating_sub(count)..at + count).step_by(CACHE_LINE).for_each(prefetch_line);
    }

    /// Returns the last `count` bytes, or all, as two segments, latest first.
    pub(crate) fn last(&self, count: usize) -> [HistorySegment<'_>; 2] {
        let count = count.min(self.filled);
        let newer = count.min(self.at);
        let older = count - newer;
        // The older segment ends with the ring, the newer one at the write position.
        let segment = |from: usize, to: usize| {
            HistorySegment::new(&self.bytes[from..self.bytes.len().min(to + SLACK)], to - from)
        };
        [
            segment(self.at - newer, self.at),
            if older == 0 { HistorySegment::default() } else { segment(self.size - older, self.size) },
        ]
    }

    /// Fills `out` with the bytes that begin `back` bytes before the end.
    pub(crate) fn copy_to(&self, back: usize, out: &mut [u8]) {
        let [newer, older] = self.last(back);
        let head = older.bytes().len().min(out.len());
        let (first, second) = out.split_at_mut(head);
        first.copy_from_slice(&older.bytes()[..head]);
        second.copy_from_slice(&newer.bytes()[..second.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_doubles_as_bytes_are_pushed() {
        for (size, capacities) in [
            (3000, vec![100, 200, 400, 800, 1600, 3000]),
            (64 << 10, vec![100, 200, 400, 800, 1600, 3200, 6400, 12800, 64 << 10]),
            (200 << 10, vec![100, 200, 400, 800, 1600, 3200, 6400, 12800, 64 << 10, 128 << 10, 200 << 10]),
        ] {
            let mut window = Window::new();
            window.start(size);
            let mut seen = Vec::new();
            for _ in 0..3000 {
                window.push(&[7; 100]).unwrap();
                seen.push(window.capacity());
            }
            seen.dedup();
            assert_eq!(seen, capacities);
        }
    }

    #[test]
    fn a_smaller_window_uses_the_memory_of_a_larger_one() {
        let mut window = Window::new();
        let mut check = |size: usize, capacity: usize| {
            window.start(size);
            (0..=255).for_each(|byte| window.push(&[byte; 3]).unwrap());
            let [newer, older] = window.last(size);
            let expected: Vec<u8> = (0..=255).flat_map(|byte| [byte; 3]).collect();
            assert_eq!([older.bytes(), newer.bytes()].concat(), expected[expected.len() - size..]);
            assert_eq!(window.capacity(), capacity);
        };
        check(100, 100);
        check(7, 100);
        check(300, 300);
        check(299, 300);
    }

    #[test]
    fn last_bytes_are_kept_in_order() {
        for size in [1, 2, 7, 64] {
            let (mut window, mut all) = (Window::new(), Vec::new());
            window.start(size);
            for round in 0..200 {
                let piece: Vec<u8> = (0..round % 19).map(|i| (round * 7 + i) as u8).collect();
                window.push(&piece).unwrap();
                all.extend_from_slice(&piece);
                for count in [0, 1, size / 2, size, size + 5] {
                    let count = count.min(all.len());
                    let [newer, older] = window.last(count);
                    let kept = [older.bytes(), newer.bytes()].concat();
                    assert_eq!(kept, all[all.len() - count.min(size)..]);
                }
                let back = size.min(all.len());
                let mut out = vec![0; back / 2];
                window.copy_to(back, &mut out);
                assert_eq!(out, all[all.len() - back..][..back / 2]);
            }
            assert!(window.memory() <= size + SLACK);
        }
    }
}
