//! Implements tokio's traits for the decoders.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, ReadBuf};

use super::polled::impl_polled;
use super::{bufread, write};
use crate::stream::sink::Sink;
use crate::stream::source::Source;

impl_polled!(poll_shutdown);

impl<R: AsyncBufRead> AsyncRead for bufread::ZstdDecoder<R> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.project();
        let free = buf.initialize_unfilled();
        let n = ready!(this.content.poll_read(Polled(this.reader, cx), free))?;
        buf.advance(n);
        Poll::Ready(Ok(()))
    }
}
