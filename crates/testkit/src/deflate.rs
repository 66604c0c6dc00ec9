//! Deflate decoders of other projects, as oracles of an encoder: zlib-rs and, with the feature
//! `zlib`, zlib and libdeflate.
//!
//! `window_bits` is that of zlib's `inflateInit2`: 8 to 15 for zlib, -8 to -15 for raw deflate, 24
//! to 31 for gzip. [`decode`] does not take windows of 8 bits if the feature `zlib` is on, since
//! flate2 refuses them.

use zlib_rs::{Inflate, InflateFlush, Status};

#[cfg(feature = "zlib")]
pub use crate::sys::zlib_window::ZlibWindow as Receiver;

/// Whether this build has zlib and libdeflate.
pub const HAS_C: bool = cfg!(feature = "zlib");

/// Decodes one stream, whose content has at most `len` bytes, with each decoder of this build.
///
/// # Errors
/// A phrase about the first decoder that refuses the stream, finds no end, or finds bytes after the
/// end. Content of more than `len` bytes is an error too, but without the feature `zlib` only if it
/// has more than `len + 1`.
///
/// # Panics
/// If two decoders return different bytes. With the feature `zlib`, also if the window has 8 bits.
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
    // One more byte than expected, so that the caller notices longer content, which would otherwise
    // be cut here.
    let mut out = vec![0; len + 1];
    let status = decoder.decompress(encoded, &mut out, InflateFlush::Finish);
    whole(
        status.map_err(|e| format!("{e:?}"))? == Status::StreamEnd,
        decoder.total_in(),
        encoded,
        "zlib-rs",
    )?;
    out.truncate(decoder.total_out() as usize);
    Ok(out)
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

#[cfg(feature = "zlib")]
fn zlib(window_bits: i32, encoded: &[u8], len: usize) -> Result<Vec<u8>, String> {
    use flate2::{Decompress, FlushDecompress};
    let mut decoder = match window_bits {
        16.. => Decompress::new_gzip(window_bits as u8 - 16),
        _ => Decompress::new_with_window_bits(window_bits > 0, window_bits.unsigned_abs() as u8),
    };
    let mut out = vec![0; len + 1];
    let status = decoder.decompress(encoded, &mut out, FlushDecompress::Finish).map_err(|e| e.to_string())?;
    whole(status == flate2::Status::StreamEnd, decoder.total_in(), encoded, "zlib")?;
    out.truncate(decoder.total_out() as usize);
    Ok(out)
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
