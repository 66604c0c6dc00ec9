//! The Huffman decoding table of a dictionary with compact tables, expanded once per thread.

use alloc::boxed::Box;

use linerate_core::{Error, Kind, Result};

use crate::dictionary::digest::Digest;
use crate::entropy::huffman::HuffmanTable;
use crate::entropy::huffman::{self, CanonicalTree};
use crate::kernel;
use crate::kernel_set::KernelSet;

/// Buffer for the Huffman decoding table of one dictionary: 4 KiB. A thread keeps one buffer and
/// rebuilds the table in 0.1 microseconds from the canonical tree in the compact tables. Keeping
/// the table in each dictionary would double the memory of many dictionaries.
pub struct ExpandedHuffman {
    /// A valid table of `1 << log` cells. There is no table if `log` is 0.
    cells: Box<[u16; huffman::MAX_CELLS]>,
    log: u32,
    kernels: KernelSet,
}

impl ExpandedHuffman {
    /// Makes a buffer without a table.
    pub fn new() -> Self {
        let kernels = KernelSet::detected();
        ExpandedHuffman { cells: Box::new([0; _]), log: 0, kernels }
    }

    /// Builds the table of the dictionary with this digest and these compact tables.
    ///
    /// # Errors
    /// Returns [`Kind::Corrupt`] if the Huffman tree in the tables is invalid or the dictionary has
    /// none; the buffer has no table then. The symbols of the tree and the other tables are not
    /// checked.
    pub fn expand(&mut self, digest: &Digest, compact: &[u8]) -> Result<()> {
        self.log = 0;
        let tree = compact.first_chunk::<{ CanonicalTree::LEN }>().filter(|_| digest.is_trained());
        let log = tree.and_then(|tree| kernel::build::codes(self.kernels, tree, &mut self.cells[..]));
        self.log = log.ok_or(Error::new(Kind::Corrupt, 0, "the tables of a dictionary were changed"))?;
        Ok(())
    }

    pub(crate) fn table(&self) -> Option<HuffmanTable<'_>> {
        (self.log > 0).then(|| HuffmanTable { cells: &self.cells[..1 << self.log], log: self.log })
    }
}

impl Default for ExpandedHuffman {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionary::{Dictionary, MAX_TABLES};

    #[test]
    #[cfg_attr(miri, ignore = "libzstd is C")]
    fn expanded_table_equals_the_full_one_and_changed_bits_are_an_error() {
        let samples: Vec<u8> = (0..60_000u32).flat_map(|i| (i * i % 977).to_string().into_bytes()).collect();
        let mut bytes = vec![0; 4096];
        let n = zstd_safe::train_from_buffer(
            &mut bytes[..],
            &samples[..samples.len() / 500 * 500],
            &vec![500; samples.len() / 500],
        );
        bytes.truncate(n.unwrap());
        let mut buffer = vec![0u32; MAX_TABLES / 4];
        let compact: &mut [u8] = bytemuck::cast_slice_mut(&mut buffer);
        let digest = Dictionary::compact_into(&bytes, compact).unwrap();
        let mut codes = ExpandedHuffman::new();
        assert!(codes.table().is_none());
        codes.expand(&digest, compact).unwrap();
        let whole = Dictionary::new(&bytes).unwrap();
        assert_eq!(codes.table().map(|table| table.cells), whole.huffman().map(|table| table.cells));
        for (i, bit) in (0..CanonicalTree::LEN - 256).flat_map(|i| (0..8).map(move |bit| (i, bit))) {
            compact[i] ^= 1 << bit;
            assert_eq!(codes.expand(&digest, compact).unwrap_err().kind, Kind::Corrupt);
            assert!(codes.table().is_none());
            compact[i] ^= 1 << bit;
        }
        // A single code of no bits fills the table, too.
        let numbers = compact[..CanonicalTree::LEN - 256].to_vec();
        for log in 1..=10 {
            compact[..numbers.len()].fill(0);
            compact[2 * log..][..2].copy_from_slice(&1u16.to_ne_bytes());
            compact[2 * huffman::MAX_LOG as usize..][..2].copy_from_slice(&(log as u16).to_ne_bytes());
            assert_eq!(codes.expand(&digest, compact).unwrap_err().kind, Kind::Corrupt, "log {log}");
        }
        compact[..numbers.len()].copy_from_slice(&numbers);
        codes.expand(&digest, compact).unwrap();
        assert!(codes.expand(&digest, &compact[..CanonicalTree::LEN - 1]).is_err());
        assert!(codes.expand(&Digest::default(), compact).is_err());
    }
}
