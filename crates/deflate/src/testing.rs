//! Helpers of several unit tests.

use crate::Format;

/// Decodes one stream of at most `most` bytes, with another library.
pub(crate) fn inflate(format: Format, bytes: &[u8], most: usize) -> Vec<u8> {
    let mut out = vec![0; most + 1];
    let mut decoder = libdeflater::Decompressor::new();
    let n = match format {
        Format::Deflate => decoder.deflate_decompress(bytes, &mut out),
        Format::Zlib => decoder.zlib_decompress(bytes, &mut out),
        Format::Gzip => decoder.gzip_decompress(bytes, &mut out),
    };
    out.truncate(n.expect("a valid stream"));
    out
}
