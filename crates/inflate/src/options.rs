//! Formats and options.

use crate::window::MAX_WINDOW_BITS;

/// The container of deflate data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Deflate data without a container (RFC 1951).
    Deflate,
    /// zlib (RFC 1950): a header of 2 bytes, or 6 with a preset dictionary; Adler-32.
    Zlib,
    /// gzip (RFC 1952): a header of 10 bytes or more; CRC-32 and length.
    Gzip,
    /// gzip if the first byte is 0x1f, which cannot begin a zlib header, and zlib otherwise.
    ZlibOrGzip,
}

/// Options of a [`BufferDecoder`](crate::BufferDecoder) or [`StreamDecoder`](crate::StreamDecoder).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The container.
    pub format: Format,
    /// Base-2 logarithm of the window's size in bytes, 8 to 15. The window is the largest distance
    /// of a match, and the largest window that a zlib header may state. Default: 15, which is
    /// enough for any data. A [`BufferDecoder`](crate::BufferDecoder) has no window and ignores
    /// this.
    pub window_bits: u8,
    /// Maximum output of a stream in bytes. In a [`StreamDecoder`](crate::StreamDecoder) all
    /// members count together. Default: no limit.
    pub output_limit: u64,
    /// Whether to verify CRC-32, Adler-32, the length after gzip data, and the checksum of a gzip
    /// header. Default: yes.
    pub verify_checksum: bool,
}

impl Options {
    /// Returns the default options for a format.
    pub const fn new(format: Format) -> Self {
        Options { format, window_bits: MAX_WINDOW_BITS, output_limit: u64::MAX, verify_checksum: true }
    }

    /// Sets the base-2 logarithm of the window's size.
    #[must_use]
    pub const fn window_bits(self, bits: u8) -> Self {
        Options { window_bits: bits, ..self }
    }

    /// Sets the maximum output, in bytes.
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
