//! Messages of a zstd stream: each is the whole blocks that a flush ended.

use linerate_core::{Error, Kind};
use linerate_zstd::{Options, Status, StreamDecoder};

use crate::limits::Limits;
use crate::scratch::Scratch;

/// Room that is at least tried: a block of the window that gateways use, which is then decoded where
/// it stays.
const ROOM: usize = 64 << 10;

pub(crate) struct Zstd {
    decoder: StreamDecoder,
}

impl Zstd {
    pub(crate) fn new(limits: &Limits) -> Self {
        let options = Options::new().window_limit(1 << limits.window_log);
        Zstd { decoder: StreamDecoder::new(options) }
    }

    pub(crate) fn reset(&mut self, limits: &Limits) {
        // The window goes, too: a connection may rest long before it is used again.
        *self = Self::new(limits);
    }

    pub(crate) fn memory(&self) -> usize {
        self.decoder.memory()
    }

    /// Decodes one message behind what the payload holds. `before` bytes came before it, from which
    /// the decoder counts.
    pub(crate) fn message(
        &mut self,
        mut src: &[u8],
        before: u64,
        scratch: &mut Scratch,
        limits: &Limits,
    ) -> Result<(), Error> {
        let (payload, buffers) = scratch.for_zstd();
        let (limit, len) = (limits.max_message, src.len());
        loop {
            let read = (len - src.len()) as u64;
            let room = payload.room(ROOM, limit).map_err(|e| e.shifted(read))?;
            let relative = |e: Error| named_dictionary(e).with_offset(e.offset.saturating_sub(before));
            let progress = self.decoder.decode(buffers, None, src, room).map_err(relative)?;
            src = &src[progress.read..];
            payload.wrote(progress.written, limit).map_err(|e| e.shifted(read + progress.read as u64))?;
            if progress.status == Status::NeedInput || (progress.status == Status::FrameEnd && src.is_empty())
            {
                break;
            }
        }
        if self.decoder.is_between_blocks() {
            Ok(())
        } else {
            Err(Error::new(Kind::Truncated, len as u64, "a message ends within a block"))
        }
    }
}

/// Gateways have no dictionary to give, so it is the stream that asks too much, not the caller.
fn named_dictionary(error: Error) -> Error {
    match error.kind {
        Kind::BadArgument => error.with_kind(Kind::Unsupported),
        _ => error,
    }
}
