//! A body that follows a script, and a decoder that returns what it has decoded so far.

#![allow(unreachable_pub)]

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame};
use linerate_deflate::checksum::{CRC32_START, crc32};
use linerate_http::Coding;
use zlib_rs::{Inflate, InflateFlush, Status};

/// Result of polling a scripted body once.
#[derive(Clone, Debug)]
pub enum Step {
    Data(Bytes),
    Pending,
    Trailers(HeaderMap),
    Error(&'static str),
}

pub struct Script {
    steps: VecDeque<Step>,
    /// Bytes sent so far.
    pub sent: usize,
    /// Whether the last poll was pending.
    pub is_paused: bool,
}

impl Script {
    pub fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Script { steps: steps.into_iter().collect(), sent: 0, is_paused: false }
    }
}

impl Body for Script {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        let step = self.steps.pop_front();
        self.is_paused = matches!(step, Some(Step::Pending));
        Poll::Ready(match step {
            None => None,
            Some(Step::Data(data)) => {
                self.sent += data.len();
                Some(Ok(Frame::data(data)))
            }
            Some(Step::Trailers(trailers)) => Some(Ok(Frame::trailers(trailers))),
            Some(Step::Error(error)) => Some(Err(error)),
            Some(Step::Pending) => {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        })
    }
}

pub type Polled<B> = Poll<Option<Result<Frame<<B as Body>::Data>, <B as Body>::Error>>>;

/// Polls a body with a waker that does nothing.
pub fn poll<B: Body + Unpin>(body: &mut B) -> Polled<B> {
    Pin::new(body).poll_frame(&mut Context::from_waker(futures_util::task::noop_waker_ref()))
}

/// The decoder of zlib-rs, with everything that it has decoded.
pub struct Decoder {
    inflate: Inflate,
    coding: Coding,
    /// Number of bytes of gzip's header that have not arrived.
    header: usize,
    decoded: Vec<u8>,
    is_ended: bool,
    /// Bytes after the deflate data.
    trailer: Vec<u8>,
}

impl Decoder {
    pub fn new(coding: Coding) -> Self {
        let is_gzip = coding == Coding::Gzip;
        Decoder {
            inflate: Inflate::new(!is_gzip, 15),
            coding,
            header: if is_gzip { 10 } else { 0 },
            decoded: Vec::new(),
            is_ended: false,
            trailer: Vec::new(),
        }
    }

    /// Takes `bytes`, and returns everything that could be decoded since the beginning.
    pub fn push(&mut self, bytes: &[u8]) -> &[u8] {
        let header = self.header.min(bytes.len());
        self.header -= header;
        let mut rest = &bytes[header..];
        let mut buffer = [0; 1 << 16];
        while !self.is_ended {
            let (read, written) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self.inflate.decompress(rest, &mut buffer, InflateFlush::SyncFlush).expect("valid");
            rest = &rest[(self.inflate.total_in() - read) as usize..];
            let len = (self.inflate.total_out() - written) as usize;
            self.decoded.extend_from_slice(&buffer[..len]);
            self.is_ended = status == Status::StreamEnd;
            if len < buffer.len() {
                break;
            }
        }
        self.trailer.extend_from_slice(rest);
        &self.decoded
    }

    /// Whether the final block has been decoded, and with zlib also the Adler-32 after it.
    pub fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// Asserts that the stream has a valid end, and returns everything decoded.
    pub fn finish(self) -> Vec<u8> {
        assert!(self.is_ended, "the stream has no end");
        if self.coding == Coding::Gzip {
            let crc = crc32(CRC32_START, &self.decoded);
            assert_eq!(self.trailer, [crc, self.decoded.len() as u32].map(u32::to_le_bytes).concat());
        }
        self.decoded
    }
}

/// Pseudorandom numbers, the same on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }
}
