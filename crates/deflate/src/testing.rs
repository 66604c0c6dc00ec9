//! Helpers for unit tests.

use crate::Format;

/// Decodes one stream of at most `most` bytes with other libraries.
pub(crate) fn inflate(format: Format, bytes: &[u8], most: usize) -> Vec<u8> {
    let window_bits = match format {
        Format::Deflate => -15,
        Format::Zlib => 15,
        Format::Gzip => 16 + 15,
    };
    linerate_testkit::deflate::decode(window_bits, bytes, most).expect("a valid stream")
}
