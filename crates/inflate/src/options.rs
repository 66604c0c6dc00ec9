//! Formats and options.

use crate::window::MAX_WINDOW_BITS;

/// A container of deflate data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// None (RFC 1951).
    Deflate,
    /// A header of 2 bytes, 6 with a preset dictionary; Adler-32 (RFC 1950).
    Zlib,
    /// A header of 10 bytes and more; CRC-32 and length (RFC 1952).
    Gzip,
    /// Gzip if the first byte is 0x1f, which is no zlib header, and zlib otherwise.
    ZlibOrGzip,
}

/// Options of a [`BufferDecoder`](crate::BufferDecoder) or [`StreamDecoder`](crate::StreamDecoder).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The container.
    pub format: Format,
    /// Logarithm of the window's size in bytes, 8 to 15: the longest distance of a match, and the largest window that a zlib
    /// header may state. Default: 15, which any data may need. A [`BufferDecoder`](crate::BufferDecoder) has no window, and
    /// ignores it.
    pub window_bits: u8,
    /// Largest output of a stream in bytes, all members of a [`StreamDecoder`](crate::StreamDecoder) together. Default: none.
    pub output_limit: u64,
    /// Whether CRC-32, Adler-32 and the length after gzip data are verified. Default: yes.
    pub verify_checksum: bool,
}

impl Options {
    /// The defaults for a format.
    pub const fn new(format: Format) -> Self {
        Options { format, window_bits: MAX_WINDOW_BITS, output_limit: u64::MAX, verify_checksum: true }
    }

    /// Sets the logarithm of the window's size.
    #[must_use]
    pub const fn window_bits(self, bits: u8) -> Self {
        Options { window_bits: bits, ..self }
    }

    /// Sets the largest output, in bytes.
    #[must_use]
    pub const fn output_limit(self, bytes: u64) -> Self {
        Options { output_limit: bytes, ..self }
    }

    /// Sets whether checksums are verified.
    #[must_use]
    pub const fn verify_checksum(self, verify: bool) -> Self {
        Options { verify_checksum: verify, ..self }
    }
}
