//! Progress of packing.

/// Progress of packing, reported by [`Builder::on_progress`](super::Builder::on_progress) after every block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Blocks written.
    pub blocks: u64,
    /// Blocks in total.
    pub blocks_total: u64,
    /// Bytes of content read for those blocks; for reused blocks, their compressed bytes.
    pub bytes_in: u64,
    /// Bytes of those blocks in the archive, without padding.
    pub bytes_out: u64,
}
