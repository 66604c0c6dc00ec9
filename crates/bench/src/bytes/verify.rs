//! Decodes the output of contenders and compares it with their input. The library that decodes is
//! not the one that encoded, except for LZO, and for zlib-rs in builds without libdeflate.

use linerate_deflate::Format;
use zlib_rs::{Inflate, InflateFlush, Status};

use super::encoder::{Coding, Encoder, output_capacity, pieces};
use crate::harness::same;
use crate::kernel::lzo;

/// Compresses every file in chunks of `chunk` bytes, decodes the output, compares it with the
/// input, and returns the size of all output in bytes.
///
/// # Errors
/// The contender's message, or that its output does not decode to the input.
pub fn encode_and_check(
    contender: &mut dyn Encoder,
    files: &[Vec<u8>],
    chunk: usize,
) -> Result<usize, String> {
    let longest = files.iter().map(Vec::len).max().unwrap_or(0);
    let (mut out, mut buffer) = (vec![0; output_capacity(chunk.min(longest))], Vec::new());
    let mut total = 0;
    for file in files {
        let mut stream = Vec::new();
        contender.begin()?;
        for (content, last) in pieces(file, chunk) {
            let n = contender.chunk(content, last, &mut out)?;
            match contender.coding() {
                Coding::Stream(_) => stream.extend_from_slice(&out[..n]),
                Coding::DeflatePieces => inflate(Format::Deflate, content, &out[..n], &mut buffer)?,
                Coding::Lz4Pieces => same(&lz4(&out[..n], content.len())?, content)?,
                Coding::LzoPieces => same(&lzo::decode(&out[..n], content.len())?, content)?,
                Coding::Copy => same(&out[..n], content)?,
            }
            total += n;
        }
        if let Coding::Stream(format) = contender.coding() {
            check_stream(format, file, &stream, &mut buffer)?;
        }
    }
    Ok(total)
}

/// Verifies with zlib-rs that `bytes` is exactly one stream and decodes to `content`, and in builds
/// with libdeflate also with that, which ignores bytes after the stream. `buffer` is memory to
/// reuse.
///
/// # Errors
/// A decoder's message, or that it returns other bytes.
pub(crate) fn check_stream(
    format: Format,
    content: &[u8],
    bytes: &[u8],
    buffer: &mut Vec<u8>,
) -> Result<(), String> {
    inflate(format, content, bytes, buffer)?;
    #[cfg(feature = "libdeflate")]
    {
        let mut decoder = libdeflater::Decompressor::new();
        buffer.resize(content.len(), 0);
        let decoded = match format {
            Format::Deflate => decoder.deflate_decompress(bytes, buffer),
            Format::Zlib => decoder.zlib_decompress(bytes, buffer),
            Format::Gzip => decoder.gzip_decompress(bytes, buffer),
        };
        same(&buffer[..decoded.map_err(|e| format!("the output does not decode: {e}"))?], content)?;
    }
    Ok(())
}

/// Verifies with zlib-rs that `bytes` is exactly one stream and decodes to `content`. `buffer` is
/// memory to reuse.
pub(crate) fn inflate(
    format: Format,
    content: &[u8],
    bytes: &[u8],
    buffer: &mut Vec<u8>,
) -> Result<(), String> {
    let mut decoder = match format {
        Format::Deflate => Inflate::new(false, 15),
        Format::Zlib => Inflate::new(true, 15),
        Format::Gzip => Inflate::new(true, 16 + 15),
    };
    // One extra byte reveals content that is too long, and lets the decoder reach the end of an
    // empty stream.
    buffer.resize(content.len() + 1, 0);
    match decoder.decompress(bytes, buffer, InflateFlush::Finish) {
        Ok(Status::StreamEnd) if decoder.total_in() == bytes.len() as u64 => {
            same(&buffer[..decoder.total_out() as usize], content)
        }
        other => Err(format!("the output does not decode: {other:?}")),
    }
}

fn lz4(bytes: &[u8], n: usize) -> Result<Vec<u8>, String> {
    #[cfg(feature = "lz4")]
    return lz4_flex::block::decompress(bytes, n).map_err(|e| format!("the output does not decode: {e}"));
    #[cfg(not(feature = "lz4"))]
    Err(format!("no LZ4 decoder for {n} bytes of {}: built without the feature `lz4`", bytes.len()))
}
