//! A vector of fixed capacity in a stream's memory.

#![allow(unsafe_code)]

use std::slice;

/// A vector of fixed capacity in memory that belongs to the stream.
pub(crate) struct Buffer {
    start: *mut u8,
    len: usize,
    capacity: usize,
}

impl Buffer {
    /// Creates an empty buffer.
    ///
    /// # Safety
    /// `capacity` bytes at `start` belong to the buffer as long as it exists. They need not be
    /// initialised.
    pub(crate) unsafe fn new(start: *mut u8, capacity: usize) -> Buffer {
        Buffer { start, len: 0, capacity }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn free(&self) -> usize {
        self.capacity - self.len
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the first `len` bytes belong to the buffer, and were written.
        unsafe { slice::from_raw_parts(self.start, self.len) }
    }

    /// Appends `text`, which must fit.
    pub(crate) fn push(&mut self, text: &[u8]) {
        assert!(text.len() <= self.free());
        // SAFETY: that many bytes are free. Nobody else refers to them, so a shared slice cannot
        // overlap them.
        unsafe { self.start.add(self.len).copy_from_nonoverlapping(text.as_ptr(), text.len()) };
        self.len += text.len();
    }

    /// Appends `len` bytes at `from`, which must fit, and returns the copy.
    ///
    /// # Safety
    /// The bytes can be read and are outside this buffer.
    pub(crate) unsafe fn push_from(&mut self, from: *const u8, len: usize) -> &[u8] {
        assert!(len <= self.free());
        let before = self.len;
        // SAFETY: the caller's promise, and that many bytes are free.
        unsafe { self.start.add(before).copy_from_nonoverlapping(from, len) };
        self.len += len;
        &self.bytes()[before..]
    }

    /// Keeps at most the last `count` bytes and moves them to the beginning.
    pub(crate) fn keep_last(&mut self, count: usize) {
        let count = count.min(self.len);
        // SAFETY: both ranges are in use; they may overlap.
        unsafe { self.start.copy_from(self.start.add(self.len - count), count) };
        self.len = count;
    }
}
