//! Dictionaries from samples.

use linerate_core::{Error, Kind, Result};
use linerate_zstd::Dictionary;

use crate::counts::Counts;

/// Bytes of a trained dictionary before its tree: magic number and its own number.
const HEAD: usize = 8;
const CUT_OFF: Error = Error::new(Kind::Truncated, 0, "a dictionary is cut off");

/// How to train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Training {
    size: usize,
    small_tables: bool,
}

impl Training {
    /// Dictionaries of at most `size` bytes, content and all.
    pub const fn new(size: usize) -> Self {
        Training { size, small_tables: false }
    }

    /// With tables of sequences of half the size, or not: 256 cells for literal and match lengths
    /// and 128 for offsets. Blocks get slightly larger. Every zstd decoder reads them.
    #[must_use]
    pub const fn small_tables(self, small: bool) -> Self {
        Training { small_tables: small, ..self }
    }

    /// Trains a dictionary, through libzstd.
    ///
    /// # Errors
    /// [`Kind::BadArgument`] if the samples are too few or too short to learn from, or `size` is too
    /// small.
    pub fn train(&self, samples: &[&[u8]]) -> Result<Vec<u8>> {
        let sizes: Vec<usize> = samples.iter().map(|sample| sample.len()).collect();
        let mut bytes = vec![0; self.size];
        let n = zstd_safe::train_from_buffer(&mut bytes[..], &samples.concat(), &sizes).map_err(|_| {
            Error::new(Kind::BadArgument, 0, "libzstd cannot make a dictionary of these samples")
        })?;
        bytes.truncate(n);
        if self.small_tables { shrink_tables(&bytes) } else { Ok(bytes) }
    }
}

/// The same dictionary with tables of sequences of at most 256, 128 and 256 cells. Raw content stays
/// as it is.
///
/// # Errors
/// [`Kind::Truncated`] or [`Kind::Corrupt`] for a trained dictionary that is damaged.
pub fn shrink_tables(dictionary: &[u8]) -> Result<Vec<u8>> {
    if !Dictionary::measure(dictionary)?.is_trained() {
        return Ok(dictionary.to_vec());
    }
    // The tree: four bits for each weight, or so many bytes of codes.
    let tree = match usize::from(*dictionary.get(HEAD).ok_or(CUT_OFF)?) {
        few @ 0..128 => 1 + few,
        weights => 1 + (weights - 127).div_ceil(2),
    };
    let (head, mut rest) = dictionary.split_at_checked(HEAD + tree).ok_or(CUT_OFF)?;
    let mut out = head.to_vec();
    // Offsets, match lengths, literal lengths.
    for log in [7, 8, 8] {
        let (counts, len) = Counts::read(rest)?;
        out.extend(counts.coarser(log).write());
        rest = &rest[len..];
    }
    out.extend_from_slice(rest);
    Ok(out)
}
