//! zstd frames without their magic number, as stored in R3A.

use std::borrow::Cow;

use linerate_core::{Error, Kind, Result};
use zstd_safe::{CCtx, CParameter, DCtx, DParameter, InBuffer, OutBuffer};

/// The magic number of zstd frames (RFC 8878, section 3.1.1), which R3A leaves out.
pub(super) const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// The frame with its magic number.
pub(super) fn with_magic(frame: &[u8]) -> Vec<u8> {
    [&MAGIC, frame].concat()
}

/// The frame with its magic number, added if missing. No frame without one starts with these bytes: they
/// would set a reserved bit of the frame header descriptor.
fn ensure_magic(frame: &[u8]) -> Cow<'_, [u8]> {
    match frame.starts_with(&MAGIC) {
        true => Cow::Borrowed(frame),
        false => Cow::Owned(with_magic(frame)),
    }
}

/// Decompresses one frame to exactly `len` bytes. Errors have offset 0.
pub(super) fn decompress(frame: &[u8], len: usize, window_log: u32) -> Result<Vec<u8>> {
    let corrupt = |what| Error::new(Kind::Corrupt, 0, what);
    let frame = ensure_magic(frame);
    let mut context = DCtx::try_create().ok_or(Error::new(Kind::Limit, 0, "not enough memory"))?;
    context
        .set_parameter(DParameter::WindowLogMax(window_log))
        .map_err(|_| Error::new(Kind::BadArgument, 0, "a window limit that zstd does not know"))?;
    // The stated size is untrusted: the first allocation is at most 64 times the compressed size.
    let mut out = vec![0; len.min(frame.len().saturating_mul(64)).max(1)];
    let (mut filled, mut input) = (0, InBuffer::around(&frame));
    loop {
        let mut output = OutBuffer::around_pos(&mut out[..], filled);
        let left = context.decompress_stream(&mut output, &mut input).map_err(damaged)?;
        filled = output.pos();
        if left == 0 {
            break;
        }
        if filled < out.len() {
            return Err(corrupt("a segment whose data ends early"));
        }
        if filled > len {
            break;
        }
        // One byte beyond tells content that just fits from content that is too long.
        let more = out.len().saturating_mul(2).min(len + 1);
        out.resize(more, 0);
    }
    if filled != len {
        return Err(corrupt("a segment of another size than stated"));
    }
    if input.pos != frame.len() {
        return Err(corrupt("bytes after the frame of a segment"));
    }
    out.truncate(len);
    Ok(out)
}

fn damaged(code: zstd_safe::ErrorCode) -> Error {
    match zstd_safe::get_error_name(code).contains("too much memory") {
        true => Error::new(Kind::Limit, 0, "a zstd window beyond the limit"),
        false => Error::new(Kind::Corrupt, 0, "a damaged segment"),
    }
}

/// Compresses to one frame without magic number, content size, checksum and dictionary id.
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
