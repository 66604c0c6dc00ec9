//! [`Training`]: trains dictionaries.

use linerate_core::{Error, Kind, Result};
use linerate_zstd::Dictionary;

use crate::train::cover::Cover;
use crate::train::samples::{Split, subsample};
use crate::train::savings::{SizeMeter, prepare};
use crate::train::statistics::Statistics;
use crate::train::tables::{Coverage, TableForm, assemble, describe};

/// Size of the smallest dictionary, in bytes. It has room for tables and some content.
const MIN_SIZE: usize = 256;
/// Smallest number of samples. Fewer do not show what other samples will have in common with them.
const MIN_SAMPLES: usize = 5;
/// Length of the shortest content, in bytes. The repeat offsets must not exceed it.
const MIN_CONTENT: usize = 16;
/// Length of the longest prefix of a sample that is used, in bytes: zstd's largest block.
const MAX_SAMPLE: usize = 128 << 10;
/// Maximum number of sample bytes to train with, unless 128 times the dictionary size is more.
const MAX_TRAINING_BYTES: usize = 1 << 20;
/// If the training samples have this many times the bytes of the dictionary, the content is not
/// chosen again with the holdout samples, which would hardly improve it.
const PLENTY: usize = 32;
/// Largest number of holdout bytes for comparing segment lengths and tables.
const MAX_HOLDOUT_BYTES: usize = 256 << 10;
/// Lengths to try, in bytes, for the segments of samples that make up the content.
const SEGMENTS: [usize; 6] = [32, 80, 200, 500, 1250, 3000];

const TOO_FEW: Error = Error::new(
    Kind::BadArgument,
    0,
    "the samples are too few or too short to train a dictionary of this size",
);

/// Options of training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Training {
    size: usize,
    small_tables: bool,
    level: i32,
}

impl Training {
    /// Makes dictionaries of at most `size` bytes, header and tables included.
    pub const fn new(size: usize) -> Self {
        Training { size, small_tables: false, level: 3 }
    }

    /// Sets whether FSE tables have at most half the full size: 256 cells for literal and match
    /// lengths, and 128 for offsets. Blocks get slightly larger; every zstd decoder reads them.
    /// Default: false.
    #[must_use]
    pub const fn small_tables(self, small: bool) -> Self {
        Training { small_tables: small, ..self }
    }

    /// Sets the libzstd compression level of the blocks. Default: 3.
    #[must_use]
    pub const fn level(self, level: i32) -> Self {
        Training { level, ..self }
    }

    /// Trains a dictionary. The samples should be blocks as they will be compressed. The dictionary
    /// has no tables if they do not make the holdout samples smaller.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] if there are fewer than 5 samples, or they are too short, or
    /// `size` is less than 256, and [`Kind::Limit`] if libzstd is out of memory.
    pub fn train(&self, samples: &[&[u8]]) -> Result<Vec<u8>> {
        self.train_with_progress(samples, &|_| {})
    }

    /// Trains like [`train`](Self::train). `progress` receives the number of sample bytes that were
    /// selected to train with.
    pub(crate) fn train_with_progress(&self, samples: &[&[u8]], progress: &dyn Fn(usize)) -> Result<Vec<u8>> {
        let samples = samples.iter().filter(|sample| !sample.is_empty());
        let samples: Vec<&[u8]> = samples.map(|sample| &sample[..sample.len().min(MAX_SAMPLE)]).collect();
        let samples = subsample(&samples, MAX_TRAINING_BYTES.max(self.size.saturating_mul(128)));
        let trained = self.train_with_all(&samples);
        progress(samples.iter().map(|sample| sample.len()).sum());
        trained
    }

    /// Trains with all of the samples.
    fn train_with_all(&self, samples: &[&[u8]]) -> Result<Vec<u8>> {
        let split = Split::new(samples);
        let trained: usize = split.training.iter().map(|sample| sample.len()).sum();
        if self.size < MIN_SIZE || samples.len() < MIN_SAMPLES || trained < MIN_CONTENT {
            return Err(TOO_FEW);
        }
        let holdout = subsample(&split.holdout, MAX_HOLDOUT_BYTES);
        let (segment, content) = self.best_segment(&split.training, &holdout)?;
        let part = self.best_part(&content, &holdout)?;
        // The content may be chosen again below, from all samples, and get longer than `content`.
        let longest = samples.iter().map(|sample| sample.len()).sum::<usize>().min(self.size);
        let tables = self.best_tables(end_of(&content, part), longest, &holdout)?;
        let content = match trained / PLENTY >= self.size {
            true => content,
            false => self.content(&Cover::new(samples), samples, segment),
        };
        let content = end_of(&content, part);
        Ok(match tables {
            Some(tables) => assemble(&tables, content, self.size),
            None => content.to_vec(),
        })
    }

    /// Returns the segment length whose content makes the holdout smallest, and that content.
    /// Searches by hill climbing from the middle length, so it may miss the best length.
    fn best_segment(&self, training: &[&[u8]], holdout: &[&[u8]]) -> Result<(usize, Vec<u8>)> {
        let cover = Cover::new(training);
        let mut meter = SizeMeter::new(self.level)?;
        let mut measured = |index: usize| {
            let content = self.content(&cover, training, SEGMENTS[index]);
            let len = meter.compressed_len(holdout, Some(&prepare(&content, self.level)?))?;
            Ok((len, index, content))
        };
        let middle = measured(SEGMENTS.len() / 2)?;
        let mut best = measured(SEGMENTS.len() / 2 + 1)?;
        let mut indices: Vec<usize> = (SEGMENTS.len() / 2 + 2..SEGMENTS.len()).collect();
        if middle.0 <= best.0 {
            best = middle;
            indices = (0..SEGMENTS.len() / 2).rev().collect();
        }
        for index in indices {
            let next = measured(index)?;
            if next.0 >= best.0 {
                break;
            }
            best = next;
        }
        Ok((SEGMENTS[best.1], best.2))
    }

    /// Returns the *n* for which the last *n*th of the content makes the holdout smallest: 1, 4, 16
    /// and so on. If content helps little, libzstd takes matches in it whose offsets cost more than
    /// the bytes they replace.
    fn best_part(&self, content: &[u8], holdout: &[&[u8]]) -> Result<usize> {
        let mut meter = SizeMeter::new(self.level)?;
        let mut measured = |part: usize| {
            let prepared = prepare(end_of(content, part), self.level)?;
            Ok((meter.compressed_len(holdout, Some(&prepared))?, part))
        };
        let mut best = measured(1)?;
        while content.len() / (4 * best.1) >= MIN_CONTENT {
            let next = measured(4 * best.1)?;
            if next.0 >= best.0 {
                break;
            }
            best = next;
        }
        Ok(best.1)
    }

    /// Returns raw content made of segments of this length, or all samples if they fit.
    fn content(&self, cover: &Cover, samples: &[&[u8]], segment: usize) -> Vec<u8> {
        let bytes: usize = samples.iter().map(|sample| sample.len()).sum();
        let mut content =
            if bytes <= self.size { samples.concat() } else { cover.select(self.size, segment) };
        if content.len() < MIN_CONTENT {
            let all = samples.concat();
            content = all[all.len().saturating_sub(self.size)..].to_vec();
        }
        let raw = end_of(&content, 1).len();
        content.split_off(content.len() - raw)
    }

    /// Returns the tables that make the holdout smallest with this content, or `None` if it is
    /// smallest without tables.
    fn best_tables(&self, content: &[u8], longest: usize, holdout: &[&[u8]]) -> Result<Option<Vec<u8>>> {
        let mut meter = SizeMeter::new(self.level)?;
        let mut best = (meter.compressed_len(holdout, Some(&prepare(content, self.level)?))?, None);
        let counts = Statistics::count(content, holdout, self.level)?;
        for (literals, sequences) in [
            (Coverage::All, Coverage::All),
            (Coverage::Seen, Coverage::All),
            (Coverage::Seen, Coverage::Seen),
        ] {
            let form = TableForm { literals, sequences, small: self.small_tables };
            let Some(tables) = describe(&counts, form, longest) else { continue };
            if tables.len() + MIN_SIZE / 4 > self.size {
                continue;
            }
            let dictionary = assemble(&tables, content, self.size);
            let len = meter.compressed_len(holdout, Some(&prepare(&dictionary, self.level)?))?;
            if len < best.0 {
                best = (len, Some(tables));
            }
        }
        Ok(best.1)
    }
}

/// Returns the last `part`th of the content. It may be shorter, because libzstd would take content
/// that begins with the magic number for a trained dictionary.
fn end_of(content: &[u8], part: usize) -> &[u8] {
    let is_raw = |at: &usize| Dictionary::measure(&content[*at..]).is_ok_and(|digest| !digest.is_trained());
    let begin = (content.len() - content.len() / part..content.len()).find(is_raw);
    &content[begin.unwrap_or_default()..]
}
