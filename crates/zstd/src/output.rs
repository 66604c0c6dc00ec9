//! The output buffer of a block, and the history its matches may copy from.

use linerate_core::{Error, Kind, Result};

/// Number of history segments before the output: the newer and the older part of a wrapped window,
/// or window and dictionary.
pub(crate) const HISTORY_SEGMENTS: usize = 2;

/// A segment of history, and readable bytes after it.
#[derive(Clone, Copy, Default)]
pub(crate) struct HistorySegment<'a> {
    all: &'a [u8],
    len: usize,
}

impl<'a> HistorySegment<'a> {
    /// Makes a segment of the first `len` bytes of `all`.
    pub(crate) fn new(all: &'a [u8], len: usize) -> Self {
        debug_assert!(len <= all.len());
        HistorySegment { all, len }
    }

    pub(crate) fn bytes(&self) -> &'a [u8] {
        &self.all[..self.len]
    }

    /// The segment and the readable bytes after it.
    pub(crate) fn all(&self) -> &'a [u8] {
        self.all
    }
}

/// An output buffer. `buf[start..at]` is history, and the segments in `history` precede it.
pub(crate) struct Output<'a> {
    pub(crate) buf: &'a mut [u8],
    /// Offset of the first byte of `buf` that matches may copy.
    pub(crate) start: usize,
    /// Offset in `buf` at which the next byte is written.
    pub(crate) at: usize,
    /// History before `start`, latest first.
    pub(crate) history: [HistorySegment<'a>; HISTORY_SEGMENTS],
}

pub(crate) const OUTPUT_TOO_SMALL: Error =
    Error::new(Kind::OutputTooSmall, 0, "the output buffer is too small for the content");

impl Output<'_> {
    /// Appends bytes.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let free = self.buf.get_mut(self.at..self.at + bytes.len()).ok_or(OUTPUT_TOO_SMALL)?;
        free.copy_from_slice(bytes);
        self.at += bytes.len();
        Ok(())
    }

    /// Appends one byte many times.
    pub(crate) fn fill(&mut self, byte: u8, count: usize) -> Result<()> {
        self.buf.get_mut(self.at..self.at + count).ok_or(OUTPUT_TOO_SMALL)?.fill(byte);
        self.at += count;
        Ok(())
    }

    /// Appends a match of `len` bytes at distance `offset`, which may overlap its own output. The
    /// caller has checked the capacity.
    pub(crate) fn copy_match(&mut self, offset: usize, len: usize) -> Result<()> {
        let end = self.at + len;
        while self.at < end && offset > self.at - self.start {
            let mut back = offset - (self.at - self.start);
            let mut pieces = self.history.iter();
            let piece = loop {
                let Some(piece) = pieces.next() else {
                    return Err(Error::new(Kind::Corrupt, 0, "a match reaches back before the history"));
                };
                if back <= piece.len {
                    break piece.bytes();
                }
                back -= piece.len;
            };
            let count = back.min(end - self.at);
            let from = piece.len() - back;
            self.buf[self.at..self.at + count].copy_from_slice(&piece[from..from + count]);
            self.at += count;
        }
        // If the match overlaps its output, the source doubles with each step.
        let from = self.at - offset.min(self.at);
        while self.at < end {
            let count = (self.at - from).min(end - self.at);
            self.buf.copy_within(from..from + count, self.at);
            self.at += count;
        }
        self.at = end;
        Ok(())
    }
}
