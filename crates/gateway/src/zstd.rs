//! Decodes the messages of a zstd stream. Each consists of whole blocks, ended by a flush.

use linerate_core::{Error, Kind};
use linerate_zstd::{Options, Status, StreamDecoder};

use crate::limits::Limits;
use crate::payload::Payload;
use crate::scratch::Scratch;

/// Minimum output space per call, in bytes: one block at the window size of gateways, so that it is
/// decoded in place.
const OUTPUT_SPACE: usize = 64 << 10;

pub(crate) struct Zstd {
    decoder: StreamDecoder,
}

impl Zstd {
    pub(crate) fn new(limits: &Limits) -> Self {
        let options = Options::new().window_limit(limits.window());
        Zstd { decoder: StreamDecoder::new(options) }
    }

    pub(crate) fn reset(&mut self, limits: &Limits) {
        // Frees the window, too: it may be long before the session is used again.
        *self = Self::new(limits);
    }

    pub(crate) fn memory(&self) -> usize {
        self.decoder.memory()
    }

    /// Decodes one message into `out` and returns its length. If the message does not fit there, or
    /// `out` or the limit on payloads is below [`OUTPUT_SPACE`], appends it to the payload and
    /// returns `None`.
    /// `before` is the number of compressed bytes of earlier messages; it is subtracted from the
    /// offsets of the decoder, which count from the beginning of the connection.
    pub(crate) fn message(
        &mut self,
        src: &[u8],
        before: u64,
        scratch: &mut Scratch,
        out: &mut [u8],
        limits: &Limits,
    ) -> Result<Option<usize>, Error> {
        if src.is_empty() {
            return Err(Error::new(Kind::Truncated, 0, "a message is empty"));
        }
        let (payload, buffers) = scratch.for_zstd();
        let limit = limits.max_message;
        // As in `Payload`, one more byte distinguishes a message of `limit` bytes from a longer
        // one.
        let room = out.len().min(limit.saturating_add(1));
        // Number of bytes in `out`, as long as the message fits there. With less room than a block,
        // the decoder would decode elsewhere and copy.
        let mut in_place = (room >= OUTPUT_SPACE).then_some(0);
        let mut read = 0;
        loop {
            let output = match in_place {
                Some(len) => &mut out[len..room],
                None => payload.spare(OUTPUT_SPACE, limit).map_err(|e| e.shifted(read as u64))?,
            };
            let relative =
                |e: Error| dictionary_is_unsupported(e).with_offset(e.offset.saturating_sub(before));
            let progress = self.decoder.decode(buffers, None, &src[read..], output).map_err(relative)?;
            read += progress.read;
            let counted = match &mut in_place {
                Some(len) => {
                    *len += progress.written;
                    if *len > limit { Err(Payload::TOO_LONG) } else { Ok(()) }
                }
                None => payload.advance(progress.written, limit),
            };
            counted.map_err(|e| e.shifted(read as u64))?;
            match progress.status {
                Status::NeedInput => break,
                Status::FrameEnd if read == src.len() => break,
                Status::FrameEnd => {}
                Status::NeedOutput => {
                    if let Some(len) = in_place.take() {
                        payload.append(&out[..len], limit).map_err(|e| e.shifted(read as u64))?;
                    }
                }
            }
        }
        if self.decoder.is_between_blocks() {
            Ok(in_place)
        } else {
            Err(Error::new(Kind::Truncated, src.len() as u64, "a message is cut off"))
        }
    }
}

/// Reports a frame that needs a dictionary as unsupported: streams have none, so it is not the
/// caller's mistake.
fn dictionary_is_unsupported(error: Error) -> Error {
    match error.kind {
        Kind::BadArgument => error.with_kind(Kind::Unsupported),
        _ => error,
    }
}
