//! How files are opened.

/// How a file is opened and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Whether the file is mapped into memory; it is unless told. Otherwise each block is read by
    /// itself, at its place.
    pub map: bool,
    /// Whether the checksum of each block is compared when it is read; it is unless told. Those of
    /// the footer, the metaindex, properties, index and dictionary always are.
    pub checksums: bool,
    /// The most bytes that a block may have when it is decoded, and that range deletions take
    /// together: 256 MiB unless told.
    pub block_limit: usize,
}

impl Options {
    /// The defaults.
    pub const fn new() -> Self {
        Options { map: true, checksums: true, block_limit: 256 << 20 }
    }

    /// Mapping the file, or not.
    #[must_use]
    pub const fn map(self, map: bool) -> Self {
        Options { map, ..self }
    }

    /// Comparing the checksums of data blocks, or not.
    #[must_use]
    pub const fn checksums(self, checksums: bool) -> Self {
        Options { checksums, ..self }
    }

    /// With blocks of at most `bytes`.
    #[must_use]
    pub const fn block_limit(self, bytes: usize) -> Self {
        Options { block_limit: bytes, ..self }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}
