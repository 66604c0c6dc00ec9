//! Decompresses a zstd frame of unknown content size, in memory that grows with the content.

use linerate_core::{Error, Kind, Result};
use linerate_zstd::{Format, FrameHeader, Options, PrefixDecoder, PrefixEnd, Scratch};

use crate::format::limits::Limits;

/// Why a frame was not decompressed.
pub(crate) enum FrameError {
    /// It begins with no frame header, or is damaged at this offset.
    Damaged(u64),
    /// It ends early.
    CutOff,
    /// Its window is above the limit.
    Window,
    /// Its content is larger than the limit.
    TooLong,
}

impl From<Error> for FrameError {
    fn from(error: Error) -> FrameError {
        match error.kind {
            // Windows of 4 GiB.
            Kind::Unsupported => FrameError::Window,
            _ => FrameError::Damaged(error.offset),
        }
    }
}

/// The largest window in bytes.
///
/// # Errors
/// [`Kind::BadArgument`] if it is larger than the format's.
pub(crate) fn window_limit(window_log: u32) -> Result<u64> {
    match window_log <= Limits::MAX_WINDOW_LOG {
        true => Ok(1 << window_log),
        false => Err(Error::new(Kind::BadArgument, 0, "a window limit that zstd does not know")),
    }
}

/// Decompresses the frame at the start of `bytes` to at most `max` bytes. Also returns the length of the frame.
pub(crate) fn decompress(
    bytes: &[u8],
    format: Format,
    max: usize,
    window: u64,
) -> core::result::Result<(Vec<u8>, usize), FrameError> {
    let claimed = match FrameHeader::parse(bytes, format) {
        Ok(header) if header.content_size.is_some_and(|size| size > max as u64) => {
            return Err(FrameError::TooLong);
        }
        Ok(header) if header.window > window && !header.single_segment => return Err(FrameError::Window),
        Ok(header) => header.content_size.map_or(max, |size| size as usize),
        Err(error) => return Err(error.into()),
    };
    let (mut scratch, mut decoder) = (Scratch::new(), PrefixDecoder::new(Options::new().format(format)));
    // The stated size is untrusted: the first allocation is at most 64 times the compressed size. What is not needed of
    // it is never touched.
    let mut out = vec![0; claimed.min(bytes.len().saturating_mul(64)).clamp(1, max.max(1))];
    loop {
        let part = decoder.decode(&mut scratch, None, bytes, &mut out)?;
        match part.end {
            PrefixEnd::FrameEnd if part.written > max => return Err(FrameError::TooLong),
            PrefixEnd::FrameEnd => {
                out.truncate(part.written);
                return Ok((out, part.read));
            }
            PrefixEnd::InputEnd => return Err(FrameError::CutOff),
            PrefixEnd::Full if out.len() > max => return Err(FrameError::TooLong),
            // One byte beyond the limit tells content that just fits from content that is too long.
            PrefixEnd::Full => out.resize(out.len().saturating_mul(2).max(4096).min(max + 1), 0),
        }
    }
}
