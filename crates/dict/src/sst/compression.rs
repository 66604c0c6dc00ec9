//! Compression types, from the trailers of blocks.

/// Compression of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// Uncompressed.
    None,
    /// Snappy.
    Snappy,
    /// Raw deflate.
    Zlib,
    /// bzip2, not supported.
    Bzip2,
    /// An LZ4 block.
    Lz4,
    /// An LZ4 block of the high-compression encoder.
    Lz4Hc,
    /// One zstd frame.
    Zstd,
    /// Another type, such as that of a plug-in; not supported.
    Other(u8),
}

impl Compression {
    pub(super) const fn from_number(number: u8) -> Compression {
        match number {
            0 => Compression::None,
            1 => Compression::Snappy,
            2 => Compression::Zlib,
            3 => Compression::Bzip2,
            4 => Compression::Lz4,
            5 => Compression::Lz4Hc,
            7 => Compression::Zstd,
            other => Compression::Other(other),
        }
    }

    /// Returns a name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Compression::None => "none",
            Compression::Snappy => "snappy",
            Compression::Zlib => "zlib",
            Compression::Bzip2 => "bzip2",
            Compression::Lz4 => "lz4",
            Compression::Lz4Hc => "lz4hc",
            Compression::Zstd => "zstd",
            Compression::Other(_) => "other",
        }
    }
}
