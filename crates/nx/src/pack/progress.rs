//! How far packing is.

/// What has been done, as [`Builder::on_progress`](super::Builder::on_progress) reports it after
/// every block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Blocks written.
    pub blocks: u64,
    /// Blocks that the archive will have.
    pub blocks_total: u64,
    /// Bytes of content read for those blocks, or of blocks carried over.
    pub bytes_in: u64,
    /// Bytes of those blocks in the archive, without padding.
    pub bytes_out: u64,
}
