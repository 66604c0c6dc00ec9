//! A body that compresses the frames of another one.

use std::cell::Cell;
use std::fmt;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use linerate_deflate::Level;
use pin_project_lite::pin_project;

use crate::encoder::{Encoder, Then};
use crate::load::Load;
use crate::negotiation::Coding;

/// Largest number of bytes that one call compresses. Such a call takes about 0.4 ms, for which
/// other tasks of the thread wait. Calls with fewer bytes would compress worse.
const MAX_CALL: usize = 128 << 10;

thread_local! {
    /// Buffer in which short frames are gathered. It is empty between calls.
    static GATHERED: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

pin_project! {
    /// Compresses the data of another body, or passes it on unchanged.
    ///
    /// Frames that are ready at once are compressed together, up to 128 KiB. When the inner body is
    /// pending, everything that it has sent is flushed, so a client can decode an event as soon as
    /// it was sent. Trailers follow the data.
    ///
    /// Between polls it holds the inner body, the encoder (16 bytes, or a session of
    /// [`with_window`](Self::with_window)), the rest of a frame that did not fit into the 128 KiB,
    /// and the trailers. All other memory belongs to the thread.
    ///
    /// An error of the inner body is returned unchanged and ends this body; frames that were ready
    /// together with it are lost. The compressed stream then has no end, so the client notices.
    ///
    /// ```
    /// use bytes::Bytes;
    /// use http_body_util::{BodyExt, Full};
    /// use linerate_http::{Coding, CompressionBody, Level};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), std::convert::Infallible> {
    /// let page = Full::new(Bytes::from("<p>a page</p>\n".repeat(1000)));
    /// let body = CompressionBody::new(page, Coding::Gzip, Level::Default);
    /// let compressed = body.collect().await?.to_bytes();
    /// assert_eq!(compressed[..3], [0x1f, 0x8b, 8]);
    /// # Ok(())
    /// # }
    /// ```
    pub struct CompressionBody<B> {
        #[pin]
        inner: B,
        encoder: Option<Encoder>,
        load: Option<Arc<Load>>,
        // The rest of a frame that did not fit into the last call.
        rest: Bytes,
        trailers: Option<Box<HeaderMap>>,
        is_ended: bool,
    }
}

impl<B> CompressionBody<B> {
    /// Compresses `inner` without a window: no match refers to data of earlier polls, so the
    /// encoder of an idle response holds only 16 bytes.
    pub fn new(inner: B, coding: Coding, level: Level) -> Self {
        Self::with_encoder(inner, Some(Encoder::new(coding, level)), None)
    }

    /// Compresses `inner` with matches into the last 2^`window_bits` bytes, for server-sent events
    /// and other short messages. `window_bits` is 8 to 15; a value outside is replaced by the
    /// nearest.
    pub fn with_window(inner: B, coding: Coding, level: Level, window_bits: u8) -> Self {
        Self::with_encoder(inner, Some(Encoder::with_window(coding, level, window_bits.clamp(8, 15))), None)
    }

    /// Passes on `inner` unchanged, for services whose responses must all have the same type of
    /// body.
    pub fn identity(inner: B) -> Self {
        Self::with_encoder(inner, None, None)
    }

    /// The body of a response to HEAD: it has no content, and claims no length.
    pub(crate) fn head(inner: B) -> Self {
        CompressionBody { is_ended: true, ..Self::identity(inner) }
    }

    pub(crate) fn with_encoder(inner: B, encoder: Option<Encoder>, load: Option<Arc<Load>>) -> Self {
        CompressionBody { inner, encoder, load, rest: Bytes::new(), trailers: None, is_ended: false }
    }

    /// The inner body.
    pub fn get_ref(&self) -> &B {
        &self.inner
    }
}

impl<B: fmt::Debug> fmt::Debug for CompressionBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompressionBody")
            .field("inner", &self.inner)
            .field("is_compressed", &self.encoder.is_some())
            .finish_non_exhaustive()
    }
}

/// Input of one call of the encoder: a single frame, or the copied data of several.
#[derive(Default)]
struct Input {
    one: Bytes,
    gathered: Vec<u8>,
}

impl Input {
    fn len(&self) -> usize {
        self.one.len() + self.gathered.len()
    }

    /// Takes as much of `data` as fits into [`MAX_CALL`] bytes, and returns the rest. The first
    /// frame is taken whole.
    fn push(&mut self, mut data: Bytes) -> Bytes {
        if self.len() == 0 {
            self.one = data;
            return Bytes::new();
        }
        if self.gathered.is_empty() {
            // While the thread ends, its buffer may be gone; a new one is then used.
            self.gathered = GATHERED.try_with(Cell::take).unwrap_or_default();
            self.gathered.extend_from_slice(&mem::take(&mut self.one));
        }
        let rest = data.split_off(data.len().min(MAX_CALL - self.gathered.len()));
        self.gathered.extend_from_slice(&data);
        rest
    }

    /// Calls `encode` with at most [`MAX_CALL`] bytes. Returns its result, and the rest of the input
    /// if that is a single longer frame.
    fn take<R>(mut self, encode: impl FnOnce(&[u8]) -> R) -> (R, Bytes) {
        if self.gathered.is_empty() {
            let rest = self.one.split_off(self.one.len().min(MAX_CALL));
            return (encode(&self.one), rest);
        }
        let result = encode(&self.gathered);
        self.gathered.clear();
        let _ = GATHERED.try_with(|place| place.set(self.gathered));
        (result, Bytes::new())
    }
}

impl<B: Body> Body for CompressionBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let mut this = self.project();
        if *this.is_ended {
            return Poll::Ready(this.trailers.take().map(|trailers| Ok(Frame::trailers(*trailers))));
        }
        let Some(encoder) = this.encoder else {
            let frame = this.inner.poll_frame(cx);
            return frame.map_ok(|frame| frame.map_data(|mut data| data.copy_to_bytes(data.remaining())));
        };
        let mut input = Input { one: mem::take(this.rest), gathered: Vec::new() };
        let then = loop {
            if input.len() >= MAX_CALL {
                break Then::More;
            }
            match this.inner.as_mut().poll_frame(cx) {
                Poll::Pending => break Then::Pause,
                Poll::Ready(None) => break Then::End,
                Poll::Ready(Some(Err(error))) => {
                    *this.is_ended = true;
                    return Poll::Ready(Some(Err(error)));
                }
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(mut data) => *this.rest = input.push(data.copy_to_bytes(data.remaining())),
                    Err(frame) => {
                        *this.trailers = frame.into_trailers().ok().map(Box::new);
                        break Then::End;
                    }
                },
            }
        };
        *this.is_ended = then == Then::End;
        let (output, rest) = input.take(|input| {
            if let Some(load) = this.load {
                let level = load.level();
                encoder.set_level(level);
                load.add_input(level, input.len());
            }
            encoder.encode(input, then)
        });
        if !rest.is_empty() {
            *this.rest = rest;
        }
        if output.is_empty() && then == Then::Pause {
            return Poll::Pending;
        }
        Poll::Ready(Some(Ok(Frame::data(output))))
    }

    fn is_end_stream(&self) -> bool {
        if self.is_ended {
            self.trailers.is_none()
        } else {
            self.encoder.is_none() && self.inner.is_end_stream()
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self.encoder {
            None if !self.is_ended => self.inner.size_hint(),
            Some(_) if self.is_ended => SizeHint::with_exact(0),
            None | Some(_) => SizeHint::default(),
        }
    }
}
