//! [`Search`]: finds the dictionary size with the smallest total.

use linerate_core::{Error, Kind, Result, parallel_map};

use crate::train::samples::{Split, extrapolate, subsample};
use crate::train::savings::Savings;
use crate::train::training::Training;

/// Default candidate sizes, in bytes.
pub const SIZES: &[usize] = &[1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 110 << 10];

/// Maximum number of holdout bytes. More would hardly change the result.
const MAX_HOLDOUT_BYTES: usize = 8 << 20;

/// Options of a search for the best dictionary size.
///
/// A larger dictionary makes blocks smaller, but has to be stored itself. The search minimizes the
/// sum of both, which depends on the amount of data that the dictionary will serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    sizes: Vec<usize>,
    small_tables: bool,
    level: i32,
    expected: Option<u64>,
    threads: usize,
}

/// One candidate size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Candidate {
    /// The requested size.
    pub size: usize,
    /// Sizes measured on holdout samples.
    pub savings: Savings,
    /// Estimated number of bytes of all expected data compressed with the dictionary, plus the
    /// dictionary.
    pub total: u64,
}

/// Result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchResult {
    /// The best dictionary, trained with all samples. `None` if no size saves bytes.
    pub dictionary: Option<Vec<u8>>,
    /// Index of the best size in `candidates`.
    pub best: Option<usize>,
    /// The sizes in ascending order, without those that could not be trained.
    pub candidates: Vec<Candidate>,
    /// Number of bytes of expected data.
    pub expected: u64,
    /// Estimated number of bytes of expected data compressed without a dictionary.
    pub without: u64,
}

impl Search {
    /// Makes a search among `sizes`, in bytes, such as [`SIZES`].
    pub fn new(sizes: &[usize]) -> Self {
        let mut sizes = sizes.to_vec();
        sizes.sort_unstable();
        sizes.dedup();
        Search { sizes, small_tables: false, level: 3, expected: None, threads: 1 }
    }

    /// Sets whether to train with small tables, like [`Training::small_tables`].
    #[must_use]
    pub fn small_tables(self, small: bool) -> Self {
        Search { small_tables: small, ..self }
    }

    /// Sets the libzstd compression level. Default: 3.
    #[must_use]
    pub fn level(self, level: i32) -> Self {
        Search { level, ..self }
    }

    /// Sets the number of bytes of data that the dictionary will serve. Default: the bytes of the
    /// samples.
    #[must_use]
    pub fn expected_bytes(self, expected: u64) -> Self {
        Search { expected: Some(expected), ..self }
    }

    /// Sets the number of threads, which does not affect the result. Default: 1.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Search { threads, ..self }
    }

    /// Trains a dictionary of each size with about three quarters of the samples, and measures it
    /// on at most 8 MiB of the rest. The best size, if it saves bytes, is trained again with all
    /// samples.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] if the samples are too few or too short, or the sizes too
    /// small, to train any size, and [`Kind::Limit`] if libzstd is out of memory.
    pub fn run(&self, samples: &[&[u8]]) -> Result<SearchResult> {
        self.run_with_progress(samples, &|_| {})
    }

    /// Runs the search like [`run`](Self::run). `progress` receives, from any thread, the number of
    /// sample bytes trained with or compressed since its last call.
    ///
    /// # Errors
    /// Returns the errors of [`run`](Self::run).
    pub fn run_with_progress(
        &self,
        samples: &[&[u8]],
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<SearchResult> {
        let split = Split::new(samples);
        let holdout = subsample(&split.holdout, MAX_HOLDOUT_BYTES);
        let content: usize = holdout.iter().map(|block| block.len()).sum();
        let expected = self.expected.unwrap_or_else(|| samples.iter().map(|s| s.len() as u64).sum());
        let measured = parallel_map(self.threads, &self.sizes, || {
            |&size: &usize| self.candidate(size, &split.training, &holdout, progress)
        });
        let mut candidates = Vec::new();
        for (&size, measured) in self.sizes.iter().zip(measured) {
            match measured {
                Ok(savings) => {
                    let total = extrapolate(savings.with, content, expected)
                        .saturating_add(savings.dictionary as u64);
                    candidates.push(Candidate { size, savings, total });
                }
                Err(error) if error.kind == Kind::BadArgument => {}
                Err(error) => return Err(error),
            }
        }
        let first = candidates.first().ok_or(Error::new(
            Kind::BadArgument,
            0,
            "the samples are too few or too short to train a dictionary of any of these sizes",
        ))?;
        let without = extrapolate(first.savings.without, content, expected);
        // The smallest of equally good sizes wins, because its dictionary is read fastest.
        let best = (0..candidates.len())
            .min_by_key(|&i| (candidates[i].total, i))
            .filter(|&i| candidates[i].total < without);
        let dictionary = best.map(|i| self.train(candidates[i].size, samples, progress)).transpose()?;
        Ok(SearchResult { dictionary, best, candidates, expected, without })
    }

    fn candidate(
        &self,
        size: usize,
        training: &[&[u8]],
        holdout: &[&[u8]],
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<Savings> {
        let dictionary = self.train(size, training, progress)?;
        let savings = Savings::measure(&dictionary, holdout, self.level)?;
        progress(savings.content);
        Ok(savings)
    }

    fn train(&self, size: usize, samples: &[&[u8]], progress: &(dyn Fn(usize) + Sync)) -> Result<Vec<u8>> {
        let training = Training::new(size).small_tables(self.small_tables).level(self.level);
        training.train_with_progress(samples, progress)
    }
}
