//! Deflate decoders of other projects, as oracles of an encoder: zlib-rs and, with the feature
//! `zlib`, zlib and libdeflate.
//!
//! `window_bits` means the same as for zlib's `inflateInit2`: 8 to 15 for zlib, -8 to -15 for raw
//! deflate, 24 to 31 for gzip.

use zlib_rs::{Inflate, InflateFlush, Status};

#[cfg(feature = "zlib")]
pub use crate::sys::zlib_window::ZlibWindow as Receiver;

/// Whether this build has zlib and libdeflate.
pub const HAS_C: bool = cfg!(feature = "zlib");

/// Decodes one stream, whose content has at most `len` bytes, with each decoder of this build.
///
/// # Errors
/// A phrase about the first decoder that refuses the stream, finds no end, finds bytes after the
/// end, or finds more than `len` bytes of content.
///
/// # Panics
/// If two decoders return different bytes.
pub fn decode(window_bits: i32, encoded: &[u8], len: usize) -> Result<Vec<u8>, String> {
    let plain = zlib_rs(window_bits, encoded, len)?;
    #[cfg(feature = "zlib")]
    {
        assert!(zlib(window_bits, encoded, len)? == plain, "zlib and zlib-rs differ");
        assert!(libdeflate(window_bits, encoded, len)? == plain, "libdeflate and zlib-rs differ");
    }
    Ok(plain)
}

fn zlib_rs(window_bits: i32, encoded: &[u8], len: usize) -> Result<Vec<u8>, String> {
    let mut decoder = zlib_rs_decoder(window_bits);
    // One more byte than expected, by which `content` notices longer content.
    let mut out = vec![0; len + 1];
    let status = decoder.decompress(encoded, &mut out, InflateFlush::Finish);
    whole(
        status.map_err(|e| format!("{e:?}"))? == Status::StreamEnd,
        decoder.total_in(),
        encoded,
        "zlib-rs",
    )?;
    content(out, decoder.total_out(), "zlib-rs")
}

fn zlib_rs_decoder(window_bits: i32) -> Inflate {
    Inflate::new(window_bits > 0, window_bits.unsigned_abs() as u8)
}

fn whole(has_ended: bool, taken: u64, encoded: &[u8], who: &str) -> Result<(), String> {
    match encoded.len() as u64 - taken {
        _ if !has_ended => Err(format!("{who}: no end")),
        0 => Ok(()),
        left => Err(format!("{who}: {left} bytes after the end")),
    }
}

/// The first `len` bytes of `out`, unless these fill it.
fn content(mut out: Vec<u8>, len: u64, who: &str) -> Result<Vec<u8>, String> {
    if len == out.len() as u64 {
        return Err(format!("{who}: more than {} bytes of content", len - 1));
    }
    out.truncate(len as usize);
    Ok(out)
}

#[cfg(feature = "zlib")]
fn zlib(window_bits: i32, encoded: &[u8], len: usize) -> Result<Vec<u8>, String> {
    use flate2::{Decompress, FlushDecompress};
    // flate2 has no windows of 8 bits. One of 9 bits decodes their streams, too.
    let bits = (window_bits.unsigned_abs() % 16).max(9) as u8;
    let mut decoder = match window_bits {
        16.. => Decompress::new_gzip(bits),
        _ => Decompress::new_with_window_bits(window_bits > 0, bits),
    };
    let mut out = vec![0; len + 1];
    let status = decoder.decompress(encoded, &mut out, FlushDecompress::Finish).map_err(|e| e.to_string())?;
    whole(status == flate2::Status::StreamEnd, decoder.total_in(), encoded, "zlib")?;
    content(out, decoder.total_out(), "zlib")
}

/// Decodes with libdeflate, the strictest of the decoders about Huffman trees. It ignores data
/// after the stream, which the others refuse.
#[cfg(feature = "zlib")]
fn libdeflate(window_bits: i32, encoded: &[u8], len: usize) -> Result<Vec<u8>, String> {
    let mut decoder = libdeflater::Decompressor::new();
    let mut out = vec![0; len];
    let n = match window_bits {
        16.. => decoder.gzip_decompress(encoded, &mut out),
        0.. => decoder.zlib_decompress(encoded, &mut out),
        _ => decoder.deflate_decompress(encoded, &mut out),
    };
    out.truncate(n.map_err(|e| format!("libdeflate: {e}"))?);
    Ok(out)
}

/// A decoder of a stream that arrives in pieces: zlib with an exact window if this build has it,
/// else zlib-rs, which does not notice a match that reaches beyond the window.
#[cfg(not(feature = "zlib"))]
pub struct Receiver {
    decoder: Inflate,
    dictionary: Vec<u8>,
}

#[cfg(not(feature = "zlib"))]
impl Receiver {
    /// Starts a stream. `dictionary` is its preset dictionary, or empty.
    pub fn new(window_bits: i32, dictionary: &[u8]) -> Self {
        let mut decoder = zlib_rs_decoder(window_bits);
        if window_bits < 0 && !dictionary.is_empty() {
            decoder.set_dictionary(dictionary).expect("a dictionary");
        }
        Receiver { decoder, dictionary: dictionary.to_vec() }
    }

    /// Decodes all of `bytes`, the next piece of the stream, and returns its content.
    ///
    /// # Errors
    /// zlib-rs's error, or the number of bytes after the end of the stream.
    pub fn take(&mut self, mut bytes: &[u8]) -> Result<Vec<u8>, String> {
        let mut plain = Vec::new();
        let mut buffer = [0; 1 << 15];
        loop {
            let before = (self.decoder.total_in(), self.decoder.total_out());
            let result = self.decoder.decompress(bytes, &mut buffer, InflateFlush::SyncFlush);
            bytes = &bytes[(self.decoder.total_in() - before.0) as usize..];
            let len = (self.decoder.total_out() - before.1) as usize;
            plain.extend_from_slice(&buffer[..len]);
            match result {
                Err(zlib_rs::InflateError::NeedDict { .. }) => {
                    self.decoder.set_dictionary(&self.dictionary).map_err(|e| format!("{e:?}"))?;
                }
                Ok(Status::Ok) if len == buffer.len() => {}
                Ok(_) => break,
                Err(e) => return Err(format!("zlib-rs: {e:?} after {} bytes", plain.len())),
            }
        }
        match bytes.len() {
            0 => Ok(plain),
            left => Err(format!("zlib-rs: {left} bytes after the end")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stored block with the content `abc`, as raw deflate data, in zlib's format with a window
    /// of 8 bits, and in gzip's. Each is with its `window_bits`.
    fn streams() -> [(i32, Vec<u8>); 3] {
        let raw = [1, 3, 0, 0xfc, 0xff, b'a', b'b', b'c'];
        let gzip_header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
        [
            (-8, raw.to_vec()),
            (8, [&[0x08, 0x1d][..], &raw, &[0x02, 0x4d, 0x01, 0x27]].concat()),
            (24, [&gzip_header[..], &raw, &[0xc2, 0x41, 0x24, 0x35, 3, 0, 0, 0]].concat()),
        ]
    }

    #[test]
    fn window_of_8_bits_decodes() {
        for (window_bits, encoded) in streams() {
            assert_eq!(decode(window_bits, &encoded, 3), Ok(b"abc".to_vec()), "{window_bits}");
        }
    }

    #[test]
    fn content_of_one_byte_more_than_expected_is_an_error() {
        for (window_bits, encoded) in streams() {
            let why = decode(window_bits, &encoded, 2).unwrap_err();
            assert_eq!(why, "zlib-rs: more than 2 bytes of content", "{window_bits}");
        }
    }
}
