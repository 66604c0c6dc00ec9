//! [`Clustering`]: shares few dictionaries among many sets of samples.

/// Options of a clustering, which shares dictionaries between files, tenants or tables.
///
/// Each set of samples represents one file, tenant or table. The first dictionaries, the seeds, are
/// each trained for the set that the dictionaries before it serve worst. Then each set is assigned
/// to the dictionary that makes it smallest, and each dictionary is retrained for its sets, until
/// nothing changes or for a maximum number of rounds. Dictionaries that save no more than their own
/// size are pruned.
///
/// Every fourth sample of a set, or the last of fewer than four, is held out. Assignment and all
/// reported sizes are measured on these samples, and scaled to the size of the set. The result does
/// not depend on the number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clustering {
    pub(crate) max_count: usize,
    pub(crate) size: usize,
    pub(crate) small_tables: bool,
    pub(crate) level: i32,
    pub(crate) rounds: usize,
    pub(crate) sample_limit: usize,
    pub(crate) threads: usize,
}

/// Samples of one file, tenant or table.
#[derive(Clone, Copy, Debug)]
pub struct SampleSet<'a> {
    pub(crate) samples: &'a [&'a [u8]],
    pub(crate) bytes: u64,
}

/// The assignment of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Compressed with the dictionary that has this index.
    Dictionary(usize),
    /// Compressed without a dictionary.
    Plain(Reason),
}

/// Reason that a set uses no dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The set has no bytes, or no samples to measure.
    Empty,
    /// The set's samples are too few or too short to train with, and no other set's dictionary
    /// helps.
    TooFewSamples,
    /// No dictionary of the result makes the set smaller.
    NoSavings,
}

/// Total number of bytes of one way to compress all sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Costs {
    /// Number of bytes of compressed blocks.
    pub blocks: u64,
    /// Number of bytes of the dictionaries, uncompressed.
    pub dictionaries: u64,
    /// Number of dictionaries.
    pub count: usize,
}

/// One set in the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetReport {
    /// Assignment of the set.
    pub choice: Choice,
    /// Number of uncompressed bytes.
    pub content: u64,
    /// Number of compressed bytes without a dictionary.
    pub without: u64,
    /// Number of compressed bytes with a dictionary of its own. `None` if none can be trained.
    pub own: Option<u64>,
    /// Number of compressed bytes as assigned.
    pub chosen: u64,
}

/// Result of a clustering.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClusteringResult {
    /// The dictionaries. At least one set uses each.
    pub dictionaries: Vec<Vec<u8>>,
    /// A report for each set.
    pub sets: Vec<SetReport>,
    /// Costs without any dictionary.
    pub without: Costs,
    /// Costs with a dictionary for each set that can have one, whether it saves bytes or not.
    pub own: Costs,
    /// Costs with one dictionary for all sets that it makes smaller, or without any if none can be
    /// trained or the maximum number of dictionaries is 0.
    pub one: Costs,
    /// Costs as assigned.
    pub shared: Costs,
    /// Number of rounds in which a dictionary was replaced.
    pub rounds: usize,
}

impl<'a> SampleSet<'a> {
    /// Makes a set that consists of its samples. Each sample is a block.
    pub fn new(samples: &'a [&'a [u8]]) -> Self {
        SampleSet { samples, bytes: samples.iter().map(|sample| sample.len() as u64).sum() }
    }

    /// Sets the size of the set in bytes. The samples are a part of it.
    #[must_use]
    pub fn total_bytes(self, bytes: u64) -> Self {
        SampleSet { bytes, ..self }
    }
}

impl Costs {
    /// Returns the sum of all bytes.
    pub fn total(&self) -> u64 {
        self.blocks.saturating_add(self.dictionaries)
    }
}

impl ClusteringResult {
    /// Returns the number of uncompressed bytes of all sets.
    pub fn content(&self) -> u64 {
        self.sets.iter().fold(0, |sum, set| sum.saturating_add(set.content))
    }
}

impl Clustering {
    /// Makes a clustering with at most `max_count` dictionaries of at most `size` bytes each.
    pub const fn new(max_count: usize, size: usize) -> Self {
        let sample_limit = 256 << 10;
        Clustering { max_count, size, small_tables: false, level: 3, rounds: 8, sample_limit, threads: 1 }
    }

    /// Sets whether to train with small tables, like
    /// [`Training::small_tables`](crate::Training::small_tables).
    #[must_use]
    pub const fn small_tables(self, small: bool) -> Self {
        Clustering { small_tables: small, ..self }
    }

    /// Sets the libzstd compression level. Default: 3.
    #[must_use]
    pub const fn level(self, level: i32) -> Self {
        Clustering { level, ..self }
    }

    /// Sets the maximum number of rounds before pruning, and again after it. Default: 8.
    #[must_use]
    pub const fn rounds(self, rounds: usize) -> Self {
        Clustering { rounds, ..self }
    }

    /// Sets the maximum number of sample bytes used of each set, evenly spread. At least one sample
    /// is used. Default: 256 KiB. The time is proportional to this number, and to the numbers of
    /// sets, dictionaries and rounds.
    #[must_use]
    pub const fn sample_limit(self, bytes: usize) -> Self {
        Clustering { sample_limit: bytes, ..self }
    }

    /// Sets the number of threads. Default: 1.
    #[must_use]
    pub const fn threads(self, threads: usize) -> Self {
        Clustering { threads, ..self }
    }
}
