//! Messages of a zstd stream: each consists of whole blocks, ended by a flush.

use linerate_core::{Error, Kind};
use linerate_zstd::{Options, Status, StreamDecoder};

use crate::limits::Limits;
use crate::scratch::Scratch;

/// Minimum output space per call: one block at the window size of gateways, which is then decoded in place.
const OUTPUT_SPACE: usize = 64 << 10;

pub(crate) struct Zstd {
    decoder: StreamDecoder,
}

impl Zstd {
    pub(crate) fn new(limits: &Limits) -> Self {
        let options = Options::new().window_limit(1 << limits.window_log);
        Zstd { decoder: StreamDecoder::new(options) }
    }

    pub(crate) fn reset(&mut self, limits: &Limits) {
        // Frees the window too: a connection may be idle for long before it is used again.
        *self = Self::new(limits);
    }

    pub(crate) fn memory(&self) -> usize {
        self.decoder.memory()
    }

    /// Decodes one message and appends it to the payload. `before` is the number of compressed bytes before it
    /// on the connection, since the decoder's offsets count from there.
    pub(crate) fn message(
        &mut self,
        mut src: &[u8],
        before: u64,
        scratch: &mut Scratch,
        limits: &Limits,
    ) -> Result<(), Error> {
        if src.is_empty() {
            return Err(Error::new(Kind::Truncated, 0, "a message is empty"));
        }
        self.decoder.prefetch();
        let (payload, buffers) = scratch.for_zstd();
        let (limit, len) = (limits.max_message, src.len());
        loop {
            let read = (len - src.len()) as u64;
            let output = payload.spare(OUTPUT_SPACE, limit).map_err(|e| e.shifted(read))?;
            let relative =
                |e: Error| dictionary_is_unsupported(e).with_offset(e.offset.saturating_sub(before));
            let progress = self.decoder.decode(buffers, None, src, output).map_err(relative)?;
            src = &src[progress.read..];
            payload.advance(progress.written, limit).map_err(|e| e.shifted(read + progress.read as u64))?;
            if progress.status == Status::NeedInput || (progress.status == Status::FrameEnd && src.is_empty())
            {
                break;
            }
        }
        if self.decoder.is_between_blocks() {
            Ok(())
        } else {
            Err(Error::new(Kind::Truncated, len as u64, "a message is cut off"))
        }
    }
}

/// Gateways have no dictionaries: a frame that needs one is unsupported, not a caller's mistake.
fn dictionary_is_unsupported(error: Error) -> Error {
    match error.kind {
        Kind::BadArgument => error.with_kind(Kind::Unsupported),
        _ => error,
    }
}
