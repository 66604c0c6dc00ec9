//! The decoders over tokio's readers and writers.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, ReadBuf};

use super::{bufread, write};
use crate::stream::sink::Sink;
use crate::stream::source::Source;

/// A reader or writer while it is polled.
struct Polled<'p, 'c, T>(Pin<&'p mut T>, &'p mut Context<'c>);

impl<R: AsyncBufRead> Source for Polled<'_, '_, R> {
    fn poll_fill_buf(&mut self) -> Poll<io::Result<&[u8]>> {
        self.0.as_mut().poll_fill_buf(self.1)
    }

    fn consume(&mut self, count: usize) {
        self.0.as_mut().consume(count);
    }
}

impl<W: AsyncWrite> Sink for Polled<'_, '_, W> {
    fn poll_write(&mut self, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.as_mut().poll_write(self.1, bytes)
    }

    fn poll_flush(&mut self) -> Poll<io::Result<()>> {
        self.0.as_mut().poll_flush(self.1)
    }
}

impl<R: AsyncBufRead> AsyncRead for bufread::ZstdDecoder<R> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.project();
        let free = buf.initialize_unfilled();
        let n = ready!(this.content.poll_read(Polled(this.reader, cx), free))?;
        buf.advance(n);
        Poll::Ready(Ok(()))
    }
}

impl<W: AsyncWrite> AsyncWrite for write::ZstdDecoder<W> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, input: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.project();
        this.content.poll_write(Polled(this.writer, cx), input)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.project();
        this.content.poll_flush(Polled(this.writer, cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut this = self.project();
        ready!(this.content.poll_drain(&mut Polled(this.writer.as_mut(), cx)))?;
        this.content.frames.check_end()?;
        this.writer.poll_shutdown(cx)
    }
}
