//! The common form of the segments after the pool: a u64 followed by a payload.

use core::ops::Range;

use linerate_core::{Error, Kind, Result};

use super::frame;
use super::header::{bits, u64_at};
use crate::block::memory::copied;
use crate::format::limits::Limits;

/// zstd level at which segments are compressed.
#[cfg(feature = "pack")]
const LEVEL: i32 = 16;

/// The widths in bits of the size fields in a segment's word: from the lowest bit up, the size of
/// the content and the compressed size. The version and other fields are above them.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub(super) compressed: u32,
    pub(super) content: u32,
    /// Whether a compressed size of 0 means that the payload is stored.
    pub(super) may_be_stored: bool,
}

pub(super) struct Segment {
    pub(super) word: u64,
    pub(super) payload: Vec<u8>,
    /// The end offset in the archive.
    pub(super) end: usize,
}

/// Parses the segment at the next multiple of 8 from `from` in `head`, the pages of the header.
/// `check` validates its word first. Offsets are in the archive.
pub(super) fn parse(
    head: &[u8],
    from: usize,
    sizes: Sizes,
    limits: &Limits,
    check: impl FnOnce(u64) -> Result<()>,
) -> Result<Segment> {
    let at = from.next_multiple_of(8);
    let wrong = |kind, what| Error::new(kind, at as u64, what);
    if head.len() < at + 8 {
        return Err(wrong(Kind::Corrupt, "a segment that begins past the header"));
    }
    let word = u64_at(head, at);
    check(word).map_err(|e| e.shifted(at as u64))?;
    // Both sizes are below 2^30.
    let content = bits(word, 0, sizes.content) as usize;
    let compressed = bits(word, sizes.content, sizes.compressed) as usize;
    let stored = compressed == 0 && sizes.may_be_stored;
    let data: Range<usize> = at + 8..at + 8 + if stored { content } else { compressed };
    let bytes = head.get(data.clone());
    let bytes = bytes.ok_or(wrong(Kind::Corrupt, "a segment that is larger than the header"))?;
    if content as u64 > limits.header {
        return Err(wrong(Kind::Limit, "a segment larger than the limit of the header"));
    }
    let payload = match stored {
        true => copied(bytes, at as u64)?,
        false => {
            frame::decompress(bytes, content, limits.window_log).map_err(|e| e.shifted(data.start as u64))?
        }
    };
    Ok(Segment { word, payload, end: data.end })
}

/// Appends a segment at the next multiple of 8. `top` is the part of its word above the sizes.
#[cfg(feature = "pack")]
pub(super) fn write(payload: &[u8], sizes: Sizes, top: u64, out: &mut Vec<u8>) -> Result<()> {
    let limit = |what| Error::new(Kind::Limit, 0, what);
    if payload.len() as u64 >= 1 << sizes.content {
        return Err(limit("a segment larger than the format holds"));
    }
    let compressed = frame::compress(payload, LEVEL, &[])?;
    let stored = sizes.may_be_stored && compressed.len() >= payload.len();
    let compressed_len = if stored { 0 } else { compressed.len() as u64 };
    if compressed_len >= 1 << sizes.compressed {
        return Err(limit("a segment larger than the format holds"));
    }
    out.resize(out.len().next_multiple_of(8), 0);
    let word = top | compressed_len << sizes.content | payload.len() as u64;
    out.extend_from_slice(&word.to_le_bytes());
    out.extend_from_slice(if stored { payload } else { &compressed });
    Ok(())
}
