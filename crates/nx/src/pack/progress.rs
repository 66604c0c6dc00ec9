//! Progress of packing.

/// What packing is at. The first four come before [`Progress`]; a folder that no cache has makes them the longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Listing folders; counts entries.
    Listing,
    /// Reading the sizes, and with metadata the times, of files; counts entries.
    Measuring,
    /// Reading files to compare them with each other, or with those of an archive.
    Comparing,
    /// Reading small files to group similar ones.
    Grouping,
    /// Encoding and writing; counts blocks.
    Packing,
}

impl Stage {
    pub(super) fn from_number(number: u64) -> Stage {
        use Stage::*;
        [Listing, Measuring, Comparing, Grouping, Packing][number as usize]
    }
}

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
