//! Implements the traits that tokio and `futures-io` have in common, once for both.

/// Implements the decoders' traits for one crate, except `AsyncRead`, whose buffers differ. The
/// crates use the same names, except for the end of a writer: `poll_close` or `poll_shutdown`. The
/// calling module imports `AsyncBufRead` and `AsyncWrite` from its crate.
macro_rules! impl_polled {
    ($poll_close:ident) => {
        /// A reader or writer with the context that polls it.
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

        impl<W: AsyncWrite> AsyncWrite for write::ZstdDecoder<W> {
            fn poll_write(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                input: &[u8],
            ) -> Poll<io::Result<usize>> {
                let this = self.project();
                this.content.poll_write(Polled(this.writer, cx), input)
            }

            fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                let this = self.project();
                this.content.poll_flush(Polled(this.writer, cx))
            }

            fn $poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                let mut this = self.project();
                ready!(this.content.poll_drain(&mut Polled(this.writer.as_mut(), cx)))?;
                this.content.frames.check_end()?;
                this.writer.$poll_close(cx)
            }
        }
    };
}

pub(super) use impl_polled;
