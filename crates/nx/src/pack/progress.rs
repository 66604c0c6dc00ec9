//! Progress of packing.

/// Progress of packing, reported by [`Builder::on_progress`](super::Builder::on_progress).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Blocks written.
    pub blocks: u64,
    /// Blocks in total.
    pub blocks_total: u64,
    /// Bytes of content of those blocks, and of blocks in work as far as they are encoded; for reused blocks, their
    /// compressed bytes.
    pub bytes_in: u64,
    /// What `bytes_in` becomes.
    pub bytes_in_total: u64,
    /// Bytes of the written blocks in the archive, without padding.
    pub bytes_out: u64,
}
