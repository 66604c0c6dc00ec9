//! [`ContentReader`]: reads the content of a source's frames. The source may block or be polled.

use std::io::{self, BufRead};
use std::task::{Poll, ready};

use super::frames::Frames;

/// A reader with a buffer.
pub(crate) trait Source {
    /// Returns the bytes in the buffer, after filling it if it is empty. Returns none at the end of
    /// the input.
    fn poll_fill_buf(&mut self) -> Poll<io::Result<&[u8]>>;

    /// Removes bytes from the buffer.
    fn consume(&mut self, count: usize);
}

/// A source that blocks, and is therefore always ready.
pub(crate) struct Blocking<'r, R>(pub(crate) &'r mut R);

impl<R: BufRead> Source for Blocking<'_, R> {
    fn poll_fill_buf(&mut self) -> Poll<io::Result<&[u8]>> {
        Poll::Ready(self.0.fill_buf())
    }

    fn consume(&mut self, count: usize) {
        self.0.consume(count);
    }
}

/// Reads the content of frames.
pub(crate) struct ContentReader<'a> {
    pub(crate) frames: Frames<'a>,
    /// Whether the content ends with the first frame that is not skippable.
    pub(crate) single_frame: bool,
    /// Whether the content has ended with the first frame.
    is_done: bool,
}

impl<'a> ContentReader<'a> {
    pub(crate) fn new(frames: Frames<'a>) -> Self {
        ContentReader { frames, single_frame: false, is_done: false }
    }

    /// Reads content into `buf`. Returns 0 at the end of the content.
    pub(crate) fn poll_read(&mut self, mut source: impl Source, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        if buf.is_empty() {
            return Poll::Ready(Ok(0));
        }
        while !self.is_done {
            // Return decoded output without waiting for a source that may block.
            let input = if self.frames.has_output() { &[] } else { ready!(source.poll_fill_buf())? };
            let is_end = !self.frames.has_output() && input.is_empty();
            let progress = self.frames.decode(input, buf)?;
            let handled = self.frames.handle_skipped(input);
            source.consume(progress.read);
            self.is_done = self.single_frame && self.frames.has_ended_content(progress);
            handled?;
            if progress.written > 0 {
                return Poll::Ready(Ok(progress.written));
            }
            if is_end {
                self.frames.check_end()?;
                return Poll::Ready(Ok(0));
            }
        }
        Poll::Ready(Ok(0))
    }

    /// Consumes the rest of the current frame, if it has no more content. Stops at the end of the
    /// input.
    pub(crate) fn finish_frame(&mut self, reader: &mut impl BufRead) -> io::Result<()> {
        while !self.is_done && !self.frames.has_output() && self.frames.is_inside() {
            let input = reader.fill_buf()?;
            if input.is_empty() {
                return Ok(());
            }
            let progress = self.frames.decode(input, &mut [])?;
            let handled = self.frames.handle_skipped(input);
            reader.consume(progress.read);
            self.is_done = self.single_frame && self.frames.has_ended_content(progress);
            handled?;
        }
        Ok(())
    }
}
