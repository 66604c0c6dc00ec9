//! zstd frames without their magic number, as stored in R3A.

use linerate_core::{Error, Kind, Result};
use linerate_zstd::{Format, FrameHeader};
#[cfg(feature = "pack")]
use zstd_safe::{CCtx, CParameter};

use crate::block::memory::no_memory;
use crate::format::frame::{self, FrameError, window_limit};

/// The magic number of zstd frames (RFC 8878, section 3.1.1), which R3A leaves out.
pub(super) const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Returns the frame with its magic number.
pub(super) fn with_magic(frame: &[u8]) -> Vec<u8> {
    [&MAGIC, frame].concat()
}

/// Returns the frame with its magic number and its content size, which is `size` unless the frame
/// already has one. `None` if the frame has no valid header.
pub(super) fn with_content_size(frame: &[u8], size: u32) -> Option<Vec<u8>> {
    let header = FrameHeader::parse(frame, Format::Magicless).ok()?;
    if header.content_size.is_some() {
        return Some(with_magic(frame));
    }
    let (descriptor, rest) = frame.split_first()?;
    // The content size follows the window and the Dictionary_ID. The upper two bits of the
    // descriptor give its length: 2 means four bytes.
    let (fields, blocks) = rest.split_at(header.len - 1);
    Some([&MAGIC[..], &[descriptor | 2 << 6], fields, &size.to_le_bytes(), blocks].concat())
}

/// Decompresses one frame to exactly `len` bytes. Errors have offset 0.
pub(super) fn decompress(frame: &[u8], len: usize, window_log: u32) -> Result<Vec<u8>> {
    let corrupt = |what| Error::new(Kind::Corrupt, 0, what);
    // Some writers keep the magic number. No frame without a magic number starts with these bytes,
    // since they would set a reserved bit of the frame header descriptor.
    let format = if frame.starts_with(&MAGIC) { Format::Standard } else { Format::Magicless };
    let other_size = corrupt("a segment of another size than stated");
    let (out, end) =
        frame::decompress(frame, format, len, window_limit(window_log)?).map_err(|error| match error {
            FrameError::Damaged(_) => corrupt("a damaged segment"),
            FrameError::CutOff => corrupt("a segment whose data ends early"),
            FrameError::Window => Error::new(Kind::Limit, 0, "a zstd window beyond the limit"),
            FrameError::TooLong => other_size,
            FrameError::NoMemory => no_memory(0),
        })?;
    if out.len() != len {
        return Err(other_size);
    }
    if end != frame.len() {
        return Err(corrupt("bytes after the frame of a segment"));
    }
    Ok(out)
}

/// Compresses to one frame without magic number, content size, checksum and dictionary id.
#[cfg(feature = "pack")]
pub(super) fn compress(bytes: &[u8], level: i32, dictionary: &[u8]) -> Result<Vec<u8>> {
    let no_memory = |_| Error::new(Kind::Limit, 0, "not enough memory to compress");
    let mut context = CCtx::try_create().ok_or(no_memory(0))?;
    for parameter in [
        CParameter::CompressionLevel(level),
        CParameter::ContentSizeFlag(false),
        CParameter::ChecksumFlag(false),
        CParameter::DictIdFlag(false),
    ] {
        context
            .set_parameter(parameter)
            .map_err(|_| Error::new(Kind::BadArgument, 0, "a level that zstd does not know"))?;
    }
    if !dictionary.is_empty() {
        context.load_dictionary(dictionary).map_err(|_| unusable())?;
    }
    let mut out = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
    context.compress2(&mut out, bytes).map_err(no_memory)?;
    out.drain(..MAGIC.len());
    Ok(out)
}

/// The error for a dictionary that zstd rejects.
pub(super) const fn unusable() -> Error {
    Error::new(Kind::Corrupt, 0, "a dictionary that zstd refuses")
}

#[cfg(all(test, feature = "pack"))]
mod tests {
    use linerate_zstd::{FrameDecoder, Scratch};

    use super::*;

    #[test]
    fn content_size_is_added_to_a_frame_that_lacks_it() {
        let content = b"some paths ".repeat(40_000);
        let frame = compress(&content, 3, &[]).unwrap();
        let sized = with_content_size(&frame, content.len() as u32).unwrap();
        let header = FrameHeader::parse(&sized, Format::Standard).unwrap();
        assert_eq!(header.content_size, Some(content.len() as u64));
        let mut out = vec![0; content.len()];
        let n = FrameDecoder::default().decode(&mut Scratch::new(), None, &sized, &mut out).unwrap();
        assert!(n == content.len() && out == content);
        let mut by_libzstd = Vec::with_capacity(content.len());
        zstd_safe::decompress(&mut by_libzstd, &sized).unwrap();
        assert!(by_libzstd == content);
        // A frame that has a content size does not change.
        assert_eq!(with_content_size(&sized[4..], 9).unwrap(), sized);
        assert_eq!(with_content_size(&[], 9), None);
    }
}
