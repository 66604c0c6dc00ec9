//! Parses trained dictionaries (RFC 8878, section 5) and builds their tables.

use linerate_core::{Error, Kind, Result};

use crate::dictionary::digest::Digest;
use crate::entropy::fse::{Cell, NormalizedCounts};
use crate::entropy::huffman::{CanonicalTree, Weights};
use crate::entropy::tables::{RepeatOffsets, SequenceField};
use crate::kernel;
use crate::kernel_set::KernelSet;

/// First four bytes of a trained dictionary, little-endian.
const MAGIC: u32 = 0xec30_a437;
/// A parsed trained dictionary, before its tables are built.
pub(super) struct Parsed<'a> {
    pub(super) digest: Digest,
    weights: Weights,
    counts: [NormalizedCounts<64>; 3],
    pub(super) content: &'a [u8],
}

const CUT_OFF: Error = Error::new(Kind::Truncated, 0, "a dictionary is cut off");

impl<'a> Parsed<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self> {
        let id = bytes.get(4..8).ok_or(CUT_OFF)?;
        let id = u32::from_le_bytes(id.try_into().expect("four bytes"));
        let mut at = 8;
        let mut weights = Weights::new();
        at += kernel::build::weights(KernelSet::detected(), &bytes[at..], &mut weights)
            .map_err(|e| e.shifted(at as u64))?;
        let mut counts = [const { NormalizedCounts::new() }; 3];
        for field in [SequenceField::Offset, SequenceField::MatchLength, SequenceField::LiteralLength] {
            let symbols = field.extra_bits().len();
            let into = &mut counts[field as usize];
            at += into.read(&bytes[at..], field.max_log(), symbols - 1).map_err(|e| e.shifted(at as u64))?;
        }
        let (repeats, content) = bytes[at..].split_at_checked(12).ok_or(CUT_OFF.shifted(at as u64))?;
        let repeat = |i: usize| u32::from_le_bytes(repeats[i..i + 4].try_into().expect("four bytes"));
        let repeats = RepeatOffsets([repeat(0), repeat(4), repeat(8)]);
        if repeats.0.iter().any(|&offset| offset == 0 || offset as usize > content.len()) {
            return Err(Error::new(
                Kind::Corrupt,
                at as u64,
                "a repeat offset of a dictionary is outside its content",
            ));
        }
        let log = |field| counts[field as usize].log as u8;
        let logs = [
            log(SequenceField::LiteralLength),
            log(SequenceField::MatchLength),
            log(SequenceField::Offset),
            weights.log as u8,
        ];
        let digest = Digest { id, content: content_len(content)?, repeats, logs };
        Ok(Parsed { digest, weights, counts, content })
    }

    /// Builds the tables at the beginning of `region`.
    pub(super) fn build(&self, region: &mut [u8]) {
        let end = self.digest.tables_len();
        let (sequences, codes) = region[..end].split_at_mut(end - self.digest.codes_len());
        self.build_sequences(sequences);
        let kernels = KernelSet::detected();
        let mut tree = CanonicalTree::NONE;
        kernel::build::huffman(kernels, &self.weights, &mut tree, bytemuck::cast_slice_mut(codes));
    }

    /// Builds the tables at the beginning of `region`, and copies the content after them.
    pub(super) fn fill(&self, region: &mut [u8]) {
        self.build(region);
        region[self.digest.tables_len()..][..self.content.len()].copy_from_slice(self.content);
    }

    /// Builds the compact tables at the beginning of `region`.
    pub(super) fn build_compact(&self, region: &mut [u8]) {
        let (tree, sequences) = region[..self.digest.compact_len()].split_at_mut(CanonicalTree::LEN);
        if let Ok(tree) = tree.try_into() {
            kernel::build::canonical(KernelSet::detected(), &self.weights).write(tree);
        }
        self.build_sequences(sequences);
    }

    fn build_sequences(&self, region: &mut [u8]) {
        let kernels = KernelSet::detected();
        for field in [SequenceField::LiteralLength, SequenceField::MatchLength, SequenceField::Offset] {
            let (at, log) = self.digest.fse_table(field);
            let cells: &mut [Cell] = bytemuck::cast_slice_mut(&mut region[at..at + (4 << log)]);
            kernel::build::fse(kernels, &self.counts[field as usize], field.extra_bits(), cells);
        }
    }
}

fn content_len(content: &[u8]) -> Result<u32> {
    content.len().try_into().map_err(|_| Error::new(Kind::Limit, 0, "a dictionary has 4 GiB or more"))
}

pub(super) fn is_trained(bytes: &[u8]) -> bool {
    bytes.len() >= 8 && bytes.starts_with(&MAGIC.to_le_bytes())
}

pub(super) fn raw_digest(content: &[u8]) -> Result<Digest> {
    Ok(Digest { content: content_len(content)?, ..Digest::default() })
}
