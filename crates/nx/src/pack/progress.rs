//! Progress of packing.

/// A stage of packing. The first four come before any [`Progress`] is reported. They take longest
/// if the folder is not in the system's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Lists folders; counts their entries.
    Listing,
    /// Reads the sizes of files; counts the files. If metadata is captured, also reads and counts
    /// folders and links.
    Measuring,
    /// Reads files to compare them with each other or with those of an archive; verifies entries of
    /// existing archives. Counts reads: a file or chunk may be read several times to compare it
    /// with others.
    Comparing,
    /// Reads small files to group similar ones; counts the files.
    Grouping,
    /// Encodes and writes blocks; counts the blocks.
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
    /// Bytes of content that are encoded: those of written blocks, and the encoded part of blocks
    /// in work. Reused blocks count with their compressed bytes.
    pub bytes_in: u64,
    /// Value of `bytes_in` at the end.
    pub bytes_in_total: u64,
    /// Compressed bytes of the written blocks, without padding.
    pub bytes_out: u64,
}
