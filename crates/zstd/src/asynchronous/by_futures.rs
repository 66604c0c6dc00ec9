//! Implements `futures-io` traits for the decoders.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_io::{AsyncBufRead, AsyncRead, AsyncWrite};

use super::polled::impl_polled;
use super::{bufread, write};
use crate::stream::sink::Sink;
use crate::stream::source::Source;

impl_polled!(poll_close);

impl<R: AsyncBufRead> AsyncRead for bufread::ZstdDecoder<R> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let this = self.project();
        this.content.poll_read(Polled(this.reader, cx), buf)
    }
}
