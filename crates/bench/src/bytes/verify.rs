//! Verifies a contender's output with another library's decoder.

use linerate_deflate::Format;
use zlib_rs::{Inflate, InflateFlush, Status};

use super::encoder::{Coding, Encoder, output_capacity, pieces};
use crate::harness::same;
use crate::kernel::lzo;

/// Compresses every file in chunks of `chunk` bytes, decodes the result, and returns its size.
///
/// # Errors
/// The contender's message, or that its output decodes to other bytes.
pub fn encode_and_check(
    contender: &mut dyn Encoder,
    files: &[Vec<u8>],
    chunk: usize,
) -> Result<usize, String> {
    let longest = files.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = vec![0; output_capacity(chunk.min(longest))];
    let mut checker = Checker::default();
    let mut total = 0;
    for file in files {
        let encoded = encode(contender, file, chunk, &mut out)?;
        total += encoded.bytes.len();
        checker.check(contender.coding(), file, chunk, &encoded)?;
    }
    Ok(total)
}

struct Encoded {
    bytes: Vec<u8>,
    /// Where the output of each chunk ends.
    ends: Vec<usize>,
}

fn encode(contender: &mut dyn Encoder, file: &[u8], chunk: usize, out: &mut [u8]) -> Result<Encoded, String> {
    let mut encoded = Encoded { bytes: Vec::new(), ends: Vec::new() };
    contender.begin()?;
    for (piece, last) in pieces(file, chunk) {
        let n = contender.chunk(piece, last, out)?;
        encoded.bytes.extend_from_slice(&out[..n]);
        encoded.ends.push(encoded.bytes.len());
    }
    Ok(encoded)
}

#[derive(Default)]
struct Checker {
    buffer: Vec<u8>,
}

impl Checker {
    fn check(&mut self, coding: Coding, file: &[u8], chunk: usize, encoded: &Encoded) -> Result<(), String> {
        match coding {
            Coding::Stream(format) => check_stream(format, file, &encoded.bytes, &mut self.buffer),
            _ => {
                let mut start = 0;
                for (piece, &end) in file.chunks(chunk).zip(&encoded.ends) {
                    self.piece(coding, piece, &encoded.bytes[start..end])?;
                    start = end;
                }
                Ok(())
            }
        }
    }

    fn piece(&mut self, coding: Coding, piece: &[u8], bytes: &[u8]) -> Result<(), String> {
        match coding {
            Coding::Copy => same(bytes, piece),
            Coding::Lz4Pieces => same(&lz4(bytes, piece.len())?, piece),
            Coding::LzoPieces => same(&lzo::decode(bytes, piece.len())?, piece),
            Coding::DeflatePieces | Coding::Stream(_) => {
                inflate(Format::Deflate, piece, bytes, &mut self.buffer)
            }
        }
    }
}

/// Verifies that a stream decodes to `content`, with libdeflate: it is the strictest decoder.
///
/// # Errors
/// The decoder's message, or that other bytes came out.
#[cfg(feature = "libdeflate")]
pub(crate) fn check_stream(
    format: Format,
    content: &[u8],
    bytes: &[u8],
    buffer: &mut Vec<u8>,
) -> Result<(), String> {
    let mut decoder = libdeflater::Decompressor::new();
    buffer.resize(content.len(), 0);
    let decoded = match format {
        Format::Deflate => decoder.deflate_decompress(bytes, buffer),
        Format::Zlib => decoder.zlib_decompress(bytes, buffer),
        Format::Gzip => decoder.gzip_decompress(bytes, buffer),
    };
    match decoded {
        Ok(n) => same(&buffer[..n], content),
        Err(e) => Err(format!("the output does not decode: {e}")),
    }
}

/// Verifies that a stream decodes to `content`, with zlib-rs.
///
/// # Errors
/// The decoder's message, or that other bytes came out.
#[cfg(not(feature = "libdeflate"))]
pub(crate) fn check_stream(
    format: Format,
    content: &[u8],
    bytes: &[u8],
    buffer: &mut Vec<u8>,
) -> Result<(), String> {
    inflate(format, content, bytes, buffer)
}

/// Verifies with zlib-rs that all of `bytes` is one stream, which decodes to `content`.
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
    // One byte more, so that the end of a stream of no content is found, and longer content noticed.
    buffer.resize(content.len() + 1, 0);
    match decoder.decompress(bytes, buffer, InflateFlush::Finish) {
        Ok(Status::StreamEnd) if decoder.total_in() == bytes.len() as u64 => {
            same(&buffer[..decoder.total_out() as usize], content)
        }
        other => Err(format!("the output does not decode: {other:?}")),
    }
}

#[cfg(feature = "lz4")]
fn lz4(bytes: &[u8], n: usize) -> Result<Vec<u8>, String> {
    lz4_flex::block::decompress(bytes, n).map_err(|e| format!("the output does not decode: {e}"))
}

#[cfg(not(feature = "lz4"))]
fn lz4(_: &[u8], _: usize) -> Result<Vec<u8>, String> {
    Err("no LZ4 decoder: built without the feature `lz4`".into())
}
