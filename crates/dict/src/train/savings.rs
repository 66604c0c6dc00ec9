//! Bytes that a dictionary saves.

use linerate_core::{Error, Kind, Result};
use linerate_zstd::Dictionary;
use zstd_safe::{CCtx, CDict};

/// Compressed sizes of sample blocks with and without a dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Savings {
    /// Number of uncompressed bytes of the blocks.
    pub content: usize,
    /// Number of compressed bytes without a dictionary.
    pub without: usize,
    /// Number of compressed bytes with the dictionary.
    pub with: usize,
    /// Length of the dictionary in bytes.
    pub dictionary: usize,
    /// Size of its tables in a store, in bytes.
    pub tables: usize,
}

impl Savings {
    /// Compresses `blocks` at `level` with and without the dictionary. Blocks that the dictionary
    /// was trained with overstate the savings.
    ///
    /// # Errors
    /// Returns the errors of [`shrink_tables`](crate::shrink_tables), and [`Kind::Limit`] if
    /// libzstd is out of memory.
    pub fn measure(dictionary: &[u8], blocks: &[&[u8]], level: i32) -> Result<Savings> {
        let tables = Dictionary::measure(dictionary)?.compact_len();
        let prepared = prepare(dictionary, level)?;
        let mut meter = SizeMeter::new(level)?;
        Ok(Savings {
            content: blocks.iter().map(|block| block.len()).sum(),
            without: meter.compressed_len(blocks, None)?,
            with: meter.compressed_len(blocks, Some(&prepared))?,
            dictionary: dictionary.len(),
            tables,
        })
    }

    /// Returns the compression ratio, with the dictionary's bytes counted.
    pub fn ratio(&self) -> f64 {
        self.content as f64 / (self.with + self.dictionary).max(1) as f64
    }

    /// Returns the compression ratio without the dictionary's bytes, which is the limit for very
    /// many blocks like these.
    pub fn ratio_of_blocks(&self) -> f64 {
        self.content as f64 / self.with.max(1) as f64
    }

    /// Returns the compression ratio without a dictionary.
    pub fn ratio_without(&self) -> f64 {
        self.content as f64 / self.without.max(1) as f64
    }
}

const FAILED: Error = Error::new(Kind::Limit, 0, "libzstd could not compress a block");

/// Digests a dictionary for compression by libzstd.
pub(crate) fn prepare(dictionary: &[u8], level: i32) -> Result<CDict<'static>> {
    CDict::try_create(dictionary, level).ok_or(FAILED)
}

/// Measures compressed sizes.
pub(crate) struct SizeMeter {
    context: CCtx<'static>,
    level: i32,
    out: Vec<u8>,
}

impl SizeMeter {
    pub(crate) fn new(level: i32) -> Result<SizeMeter> {
        Ok(SizeMeter { context: CCtx::try_create().ok_or(FAILED)?, level, out: Vec::new() })
    }

    /// Returns the number of compressed bytes of all blocks, each compressed alone.
    pub(crate) fn compressed_len(
        &mut self,
        blocks: &[&[u8]],
        dictionary: Option<&CDict<'_>>,
    ) -> Result<usize> {
        let SizeMeter { context, level, out } = self;
        blocks.iter().try_fold(0, |sum, block| {
            out.resize(zstd_safe::compress_bound(block.len()), 0);
            let n = match dictionary {
                Some(dictionary) => context.compress_using_cdict(&mut out[..], block, dictionary),
                None => context.compress(&mut out[..], block, *level),
            };
            Ok(sum + n.map_err(|_| FAILED)?)
        })
    }
}
