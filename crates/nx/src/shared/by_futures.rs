//! [`AsyncFile`] by the traits of `futures-io`.

use std::io::{self, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_io::{AsyncBufRead, AsyncRead, AsyncSeek};

use linerate_io::ReadAt;

use super::asynchronous::AsyncFile;

impl<S: ReadAt + 'static> AsyncRead for AsyncFile<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.get_mut().poll_copy(cx, buf)
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
    fn poll_seek(self: Pin<&mut Self>, cx: &mut Context<'_>, to: SeekFrom) -> Poll<io::Result<u64>> {
        self.get_mut().poll_seek_to(cx, to)
    }
}
