//! [`ContentWriter`]: decodes written bytes into a sink, which may block or be polled.

use std::io;
use std::ops::Range;
use std::task::{Poll, ready};

use super::frames::Frames;
use crate::frame::BLOCK_MAX;

/// Takes content.
pub(crate) trait Sink {
    /// Takes some of the bytes, and returns the number taken.
    fn poll_write(&mut self, bytes: &[u8]) -> Poll<io::Result<usize>>;

    /// Passes on the bytes it holds.
    fn poll_flush(&mut self) -> Poll<io::Result<()>>;
}

/// Writes the content of frames.
pub(crate) struct ContentWriter<'a> {
    pub(crate) frames: Frames<'a>,
    buffer: Box<[u8]>,
    /// The part of the buffer that is not written yet.
    pending: Range<usize>,
}

impl<'a> ContentWriter<'a> {
    pub(crate) fn new(frames: Frames<'a>) -> Self {
        ContentWriter { frames, buffer: vec![0; 2 * BLOCK_MAX].into(), pending: 0..0 }
    }

    fn poll_write_pending(&mut self, sink: &mut impl Sink) -> Poll<io::Result<()>> {
        while !self.pending.is_empty() {
            match ready!(sink.poll_write(&self.buffer[self.pending.clone()])) {
                Ok(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Ok(n) => self.pending.start += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Poll::Ready(Err(e)),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Decodes into the empty buffer. Returns the number of bytes consumed.
    fn step(&mut self, input: &[u8]) -> io::Result<usize> {
        let progress = self.frames.decode(input, &mut self.buffer)?;
        self.pending = 0..progress.written;
        Ok(progress.read)
    }

    /// Decodes all of `input`, or the part before an error or before the sink is not ready; the
    /// next call meets the error or the sink again. Returns the number of bytes consumed.
    pub(crate) fn poll_write(&mut self, mut sink: impl Sink, input: &[u8]) -> Poll<io::Result<usize>> {
        let mut read = 0;
        loop {
            match self.poll_write_pending(&mut sink) {
                Poll::Ready(Ok(())) => {}
                _ if read > 0 => return Poll::Ready(Ok(read)),
                other => return other.map_ok(|()| 0),
            }
            if read == input.len() && !self.frames.has_output() {
                return Poll::Ready(Ok(read));
            }
            match self.step(&input[read..]) {
                Ok(n) => read += n,
                Err(_) if read > 0 => return Poll::Ready(Ok(read)),
                Err(e) => return Poll::Ready(Err(e)),
            }
        }
    }

    /// Writes all content that is decoded.
    pub(crate) fn poll_drain(&mut self, sink: &mut impl Sink) -> Poll<io::Result<()>> {
        ready!(self.poll_write_pending(sink))?;
        while self.frames.has_output() {
            self.step(&[])?;
            ready!(self.poll_write_pending(sink))?;
        }
        Poll::Ready(Ok(()))
    }

    /// Writes all content that is decoded, and flushes the sink.
    pub(crate) fn poll_flush(&mut self, mut sink: impl Sink) -> Poll<io::Result<()>> {
        ready!(self.poll_drain(&mut sink))?;
        sink.poll_flush()
    }
}
