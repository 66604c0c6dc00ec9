//! Decompresses a zstd frame whose content size is missing or not trusted. The memory grows with
//! the content.

use linerate_core::{Error, Kind, Result};
use linerate_zstd::{Format, FrameHeader, Options, PrefixDecoder, PrefixEnd, Scratch};

use crate::block::memory::{lengthen, zeroed};
use crate::format::limits::Limits;

/// The reason why a frame was not decompressed.
pub(crate) enum FrameError {
    /// The bytes do not begin with a whole frame header, or the frame is damaged. The field is the
    /// offset.
    Damaged(u64),
    /// The frame ends early, after its header.
    CutOff,
    /// The window is above the limit.
    Window,
    /// The content is larger than the limit.
    TooLong,
    /// Memory ran out.
    NoMemory,
}

impl From<Error> for FrameError {
    fn from(error: Error) -> FrameError {
        match error.kind {
            // The decoder reports windows of 4 GiB and more this way.
            Kind::Unsupported => FrameError::Window,
            Kind::Limit => FrameError::NoMemory,
            _ => FrameError::Damaged(error.offset),
        }
    }
}

/// Returns the largest allowed window in bytes.
///
/// # Errors
/// Returns [`Kind::BadArgument`] if `window_log` is above [`Limits::MAX_WINDOW_LOG`].
pub(crate) fn window_limit(window_log: u32) -> Result<u64> {
    match window_log <= Limits::MAX_WINDOW_LOG {
        true => Ok(1 << window_log),
        false => Err(Error::new(Kind::BadArgument, 0, "a window limit that zstd does not know")),
    }
}

/// Decompresses the frame at the start of `bytes` to at most `max` bytes. Its window may have at
/// most `window` bytes, unless the frame is a single segment. Returns the content and the length of
/// the frame.
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
    // The stated size is untrusted: the first allocation is at most 64 times the compressed size.
    // Memory that is not needed is never touched.
    let first = claimed.min(bytes.len().saturating_mul(64)).clamp(1, max.max(1));
    let mut out = zeroed(0, first, 0)?;
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
            // One byte more than the limit distinguishes content that just fits from content that
            // is too long.
            PrefixEnd::Full => {
                let len = out.len().saturating_mul(2).max(4096).min(max + 1);
                lengthen(&mut out, len, 0)?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lack_of_memory_is_not_damage() {
        let of = |kind| FrameError::from(Error::new(kind, 7, ""));
        assert!(matches!(of(Kind::Limit), FrameError::NoMemory));
        assert!(matches!(of(Kind::Corrupt), FrameError::Damaged(7)));
    }
}
