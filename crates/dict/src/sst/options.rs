//! Options of opening and reading files.

/// Options of opening and reading a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SstOptions {
    /// Whether to map the file into memory. Otherwise blocks are read one by one. RocksDB never
    /// shortens a finished file. If another program does, a mapped file ends the process by a
    /// signal on Unix, while a file that is read reports
    /// [`Kind::Truncated`](crate::Kind::Truncated). Default: true.
    pub map: bool,
    /// Whether to verify the checksums of data blocks. The checksums of all other parts that are
    /// read are always verified. Default: true.
    pub checksums: bool,
    /// Maximum content of a block, and maximum memory of range deletions, in bytes. Default: 256
    /// MiB.
    pub block_limit: usize,
}

impl SstOptions {
    /// Returns the default options.
    pub const fn new() -> Self {
        SstOptions { map: true, checksums: true, block_limit: 256 << 20 }
    }

    /// Sets whether to map the file into memory.
    #[must_use]
    pub const fn map(self, map: bool) -> Self {
        SstOptions { map, ..self }
    }

    /// Sets whether to verify the checksums of data blocks.
    #[must_use]
    pub const fn checksums(self, checksums: bool) -> Self {
        SstOptions { checksums, ..self }
    }

    /// Sets the maximum content of a block, and the maximum memory of range deletions, in bytes.
    #[must_use]
    pub const fn block_limit(self, bytes: usize) -> Self {
        SstOptions { block_limit: bytes, ..self }
    }
}

impl Default for SstOptions {
    fn default() -> Self {
        Self::new()
    }
}
