//! Few dictionaries shared by many sets of samples.

use linerate_core::Result;

use crate::sharing::Sharing;

/// How to share dictionaries between files, tenants or tables.
///
/// Each set of samples stands for one of them. Dictionaries are trained for those sets that others serve
/// worst; then each set takes the dictionary that makes it smallest, and each dictionary is trained anew
/// for the sets that took it, until nothing moves. A dictionary that saves less than its own bytes goes.
///
/// A quarter of each set's samples is kept apart: they decide, and all figures are theirs, scaled up to
/// the bytes of their set. The result is the same for any number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clustering {
    pub(crate) most: usize,
    pub(crate) size: usize,
    pub(crate) small_tables: bool,
    pub(crate) level: i32,
    pub(crate) rounds: usize,
    pub(crate) sample_limit: usize,
    pub(crate) threads: usize,
}

/// The samples of one file, tenant or table.
#[derive(Clone, Copy, Debug)]
pub struct SampleSet<'a> {
    pub(crate) samples: &'a [&'a [u8]],
    pub(crate) bytes: u64,
}

/// What became of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// It uses this one of the dictionaries.
    Dictionary(usize),
    /// It uses none.
    Plain(Reason),
}

/// Reason a set uses no dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It has no bytes.
    Empty,
    /// Its samples are too few or too short to train with, and no other set's dictionary helps.
    TooFewSamples,
    /// No dictionary makes it smaller.
    NoSavings,
}

/// Bytes that everything comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Costs {
    /// Bytes of compressed blocks.
    pub blocks: u64,
    /// Bytes of dictionaries, as they are.
    pub dictionaries: u64,
    /// Dictionaries.
    pub count: usize,
}

/// One set in the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetReport {
    /// What became of it.
    pub choice: Choice,
    /// Its bytes.
    pub content: u64,
    /// Its bytes compressed without a dictionary.
    pub without: u64,
    /// Its bytes compressed with a dictionary of its own; `None` if none can be trained.
    pub own: Option<u64>,
    /// Its bytes compressed as it was chosen.
    pub chosen: u64,
}

/// What a clustering found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClusteringResult {
    /// The dictionaries, each of which some set uses.
    pub dictionaries: Vec<Vec<u8>>,
    /// One for each set.
    pub sets: Vec<SetReport>,
    /// No dictionary at all.
    pub without: Costs,
    /// A dictionary of its own for each set that can have one, whether it pays or not.
    pub own: Costs,
    /// One dictionary for all; none if none can be trained.
    pub one: Costs,
    /// As it was chosen.
    pub shared: Costs,
    /// Rounds that were needed.
    pub rounds: usize,
}

impl<'a> SampleSet<'a> {
    /// A set that is no more than its samples, of which each is a block.
    pub fn new(samples: &'a [&'a [u8]]) -> Self {
        SampleSet { samples, bytes: samples.iter().map(|sample| sample.len() as u64).sum() }
    }

    /// A set of so many bytes, of which the samples are a part.
    #[must_use]
    pub fn total_bytes(self, bytes: u64) -> Self {
        SampleSet { bytes, ..self }
    }
}

impl Costs {
    /// All bytes.
    pub fn total(&self) -> u64 {
        self.blocks.saturating_add(self.dictionaries)
    }
}

impl ClusteringResult {
    /// Bytes of all sets.
    pub fn content(&self) -> u64 {
        self.sets.iter().fold(0, |sum, set| sum.saturating_add(set.content))
    }
}

impl Clustering {
    /// At most `most` dictionaries of at most `size` bytes each.
    pub const fn new(most: usize, size: usize) -> Self {
        let sample_limit = 256 << 10;
        Clustering { most, size, small_tables: false, level: 3, rounds: 8, sample_limit, threads: 1 }
    }

    /// With small tables, as [`Training::small_tables`](crate::Training::with_small_tables), or not.
    #[must_use]
    pub const fn small_tables(self, small: bool) -> Self {
        Clustering { small_tables: small, ..self }
    }

    /// At a level of libzstd; 3 unless told.
    #[must_use]
    pub const fn level(self, level: i32) -> Self {
        Clustering { level, ..self }
    }

    /// With at most so many rounds; 8 unless told.
    #[must_use]
    pub const fn rounds(self, rounds: usize) -> Self {
        Clustering { rounds, ..self }
    }

    /// Using at most so many bytes of the samples of each set, taken evenly; 256 KiB unless told. They
    /// bound the time, which grows with their product by the sets, the dictionaries and the rounds.
    #[must_use]
    pub const fn sample_limit(self, bytes: usize) -> Self {
        Clustering { sample_limit: bytes, ..self }
    }

    /// With so many threads.
    #[must_use]
    pub const fn threads(self, threads: usize) -> Self {
        Clustering { threads, ..self }
    }

    /// Finds the dictionaries. Beside them and the samples, it needs 8 bytes for each pair of a set and a
    /// dictionary.
    ///
    /// # Errors
    /// [`Kind::Limit`](crate::Kind::Limit) if libzstd has no memory. Samples of any kind are no error.
    pub fn run(&self, sets: &[SampleSet<'_>]) -> Result<ClusteringResult> {
        self.run_with_progress(sets, &|_| {})
    }

    /// As [`run`](Self::run); `watch` is told the bytes of samples that were compressed or trained with
    /// since it was told the last time, by whichever thread did it.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_with_progress(
        &self,
        sets: &[SampleSet<'_>],
        watch: &(dyn Fn(usize) + Sync),
    ) -> Result<ClusteringResult> {
        Sharing::new(self, sets, watch)?.run()
    }
}
