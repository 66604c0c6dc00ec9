//! [`AsyncFile`] by the traits of tokio.

use std::io::{self, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncBufRead, AsyncRead, AsyncSeek, ReadBuf};

use linerate_io::ReadAt;

use super::asynchronous::AsyncFile;

impl<S: ReadAt + 'static> AsyncRead for AsyncFile<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let len = ready!(self.get_mut().poll_copy(cx, buf.initialize_unfilled()))?;
        buf.advance(len);
        Poll::Ready(Ok(()))
    }
}

impl<S: ReadAt + 'static> AsyncBufRead for AsyncFile<S> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.get_mut().poll_bytes(cx)
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        self.get_mut().advance(amount);
    }
}

impl<S: ReadAt + 'static> AsyncSeek for AsyncFile<S> {
    fn start_seek(self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        self.get_mut().request_seek(to);
        Ok(())
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        self.get_mut().poll_requested_seek(cx)
    }
}
