//! Proof that what a contender writes decodes to what it was given, by another library's decoder.

use libdeflater::Decompressor;
use linerate_deflate::Format;
use zlib_rs::{Inflate, InflateFlush, Status};

use crate::contender::{Coding, Contender, pieces, room};

/// Compresses every file in chunks of `chunk` bytes, decodes the result, and returns its size.
///
/// # Errors
/// What the contender says, or that its output decodes to something else.
pub fn encode_and_check(
    contender: &mut dyn Contender,
    files: &[Vec<u8>],
    chunk: usize,
) -> Result<usize, String> {
    let longest = files.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = vec![0; room(chunk.min(longest))];
    let mut checker = Checker { decoder: Decompressor::new(), buffer: Vec::new() };
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

fn encode(
    contender: &mut dyn Contender,
    file: &[u8],
    chunk: usize,
    out: &mut [u8],
) -> Result<Encoded, String> {
    let mut encoded = Encoded { bytes: Vec::new(), ends: Vec::new() };
    contender.begin()?;
    for (piece, last) in pieces(file, chunk) {
        let n = contender.chunk(piece, last, out)?;
        encoded.bytes.extend_from_slice(&out[..n]);
        encoded.ends.push(encoded.bytes.len());
    }
    Ok(encoded)
}

struct Checker {
    decoder: Decompressor,
    buffer: Vec<u8>,
}

impl Checker {
    fn check(&mut self, coding: Coding, file: &[u8], chunk: usize, encoded: &Encoded) -> Result<(), String> {
        match coding {
            Coding::Stream(format) => self.stream(format, file, &encoded.bytes),
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

    /// With libdeflate, which refuses what lenient decoders let pass.
    fn stream(&mut self, format: Format, file: &[u8], bytes: &[u8]) -> Result<(), String> {
        self.buffer.resize(file.len(), 0);
        let out = &mut self.buffer[..];
        let decoded = match format {
            Format::Deflate => self.decoder.deflate_decompress(bytes, out),
            Format::Zlib => self.decoder.zlib_decompress(bytes, out),
            Format::Gzip => self.decoder.gzip_decompress(bytes, out),
        };
        match decoded {
            Ok(n) => same(&self.buffer[..n], file),
            Err(e) => Err(format!("the output does not decode: {e}")),
        }
    }

    fn piece(&mut self, coding: Coding, piece: &[u8], bytes: &[u8]) -> Result<(), String> {
        match coding {
            Coding::Copy => same(bytes, piece),
            Coding::Lz4Pieces => same(&lz4(bytes, piece.len())?, piece),
            Coding::DeflatePieces | Coding::Stream(_) => {
                self.buffer.resize(piece.len(), 0);
                let mut inflate = Inflate::new(false, 15);
                let status = inflate.decompress(bytes, &mut self.buffer, InflateFlush::Finish);
                match status {
                    Ok(Status::StreamEnd) if inflate.total_out() == piece.len() as u64 => {
                        same(&self.buffer, piece)
                    }
                    other => Err(format!("the output does not decode: {other:?}")),
                }
            }
        }
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

fn same(decoded: &[u8], input: &[u8]) -> Result<(), String> {
    if decoded == input { Ok(()) } else { Err("the output decodes to something else".into()) }
}
