//! [`AsyncRead`] and [`AsyncWrite`] of tokio.

use std::io::{ErrorKind, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{DeflateStream, invalid};
use crate::codec::PIECE;

impl<S: AsyncWrite + Unpin> DeflateStream<S> {
    fn poll_pending(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        while !self.link.pending().is_empty() {
            match ready!(Pin::new(&mut self.stream).poll_write(cx, self.link.pending()))? {
                0 => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                n => self.link.sent(n),
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for DeflateStream<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        let start = buf.filled().len();
        if buf.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        // The caller's buffer first takes the bytes that the peer sent, and then the decoded ones.
        // Only decoded bytes may be returned, so the loop must not end when the peer's bytes fill
        // the buffer.
        loop {
            let received = this.link.receive(&mut buf.filled_mut()[start..]);
            buf.set_filled(start);
            if let Err(error) = received {
                // The peer gets the close frame if the socket takes it now.
                if this.poll_pending(cx).is_ready() {
                    let _: Poll<Result<()>> = Pin::new(&mut this.stream).poll_flush(cx);
                }
                return Poll::Ready(Err(invalid(error)));
            }
            let ready = this.link.ready();
            if !ready.is_empty() {
                let n = ready.len().min(buf.remaining());
                buf.put_slice(&ready[..n]);
                this.link.consume(n);
                return Poll::Ready(Ok(()));
            }
            ready!(Pin::new(&mut this.stream).poll_read(cx, buf))?;
            if buf.filled().len() == start {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for DeflateStream<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_pending(cx))?;
        let taken = &buf[..buf.len().min(PIECE)];
        this.link.send(taken).map_err(invalid)?;
        match this.poll_pending(cx) {
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            _ => Poll::Ready(Ok(taken.len())),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_pending(cx))?;
        Pin::new(&mut this.stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_pending(cx))?;
        Pin::new(&mut this.stream).poll_shutdown(cx)
    }
}
