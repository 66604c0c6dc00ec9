//! The fixed-size description of a digested dictionary, and the layout of its tables.

use crate::entropy::huffman::{self, CanonicalTree};
use crate::entropy::tables::{RepeatOffsets, SequenceField};

/// Readable bytes after the content, so that copies may read past it.
pub(crate) const SLACK: usize = 32;
/// Largest size of a dictionary's tables, in bytes: 9 KiB.
pub const MAX_TABLES: usize = 4
    * ((1 << SequenceField::LiteralLength.max_log())
        + (1 << SequenceField::MatchLength.max_log())
        + (1 << SequenceField::Offset.max_log()))
    + 2 * huffman::MAX_CELLS;
const _: () = assert!(MAX_TABLES <= 9 << 10);

/// Fixed-size description of a digested dictionary. An index over many dictionaries keeps these 24
/// bytes for each, and [`Dictionary::view`](crate::Dictionary::view) recreates the dictionary from
/// them and its region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest {
    pub(super) id: u32,
    pub(super) content: u32,
    pub(super) repeats: RepeatOffsets,
    /// Logarithms of the table sizes: literal lengths, match lengths, offsets, Huffman. The last is
    /// 0 for raw content.
    pub(super) logs: [u8; 4],
}

const _: () = assert!(size_of::<Digest>() == 24);

/// Describes empty raw content.
impl Default for Digest {
    fn default() -> Self {
        Digest { id: 0, content: 0, repeats: RepeatOffsets::INITIAL, logs: [0; 4] }
    }
}

impl Digest {
    /// Dictionary_ID; 0 for raw content.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Size of the content, in bytes.
    pub fn content_len(&self) -> usize {
        self.content as usize
    }

    /// Returns whether the dictionary is a trained one, with tables.
    pub fn is_trained(&self) -> bool {
        self.logs[3] != 0
    }

    /// Logarithms of the table sizes: literal lengths, match lengths, offsets, Huffman. All 0 for
    /// raw content.
    pub fn logs(&self) -> [u8; 4] {
        self.logs
    }

    /// Size of the tables, in bytes: at most [`MAX_TABLES`], and 0 for raw content.
    pub fn tables_len(&self) -> usize {
        if !self.is_trained() {
            return 0;
        }
        let [ll, ml, of, huffman] = self.logs;
        4 * ((1 << ll) + (1 << ml) + (1 << of)) + (2 << huffman)
    }

    /// Size of the compact tables, in bytes: at most 5400, and 0 for raw content.
    pub fn compact_len(&self) -> usize {
        if self.is_trained() { CanonicalTree::LEN + self.tables_len() - self.codes_len() } else { 0 }
    }

    /// Size of the Huffman table, in bytes.
    pub(super) fn codes_len(&self) -> usize {
        2 << self.logs[3]
    }

    /// Splits compact tables into the canonical Huffman tree and the tables of literal lengths,
    /// match lengths and offsets. `None` if `compact` is too short for them, as for raw content.
    pub(crate) fn parts<'a>(&self, compact: &'a [u8]) -> Option<[&'a [u8]; 4]> {
        let (tree, mut rest) = compact.split_at_checked(CanonicalTree::LEN)?;
        let mut parts = [tree; 4];
        for (part, log) in parts[1..].iter_mut().zip(self.logs) {
            (*part, rest) = rest.split_at_checked(4 << log)?;
        }
        Some(parts)
    }

    /// Size of the region that [`Dictionary::digest_into`](crate::Dictionary::digest_into) needs,
    /// in bytes: tables, content, slack.
    pub fn region_len(&self) -> usize {
        self.tables_len() + self.content_len() + SLACK
    }

    /// Offset of an FSE table in bytes, and the logarithm of its size.
    pub(super) fn fse_table(&self, field: SequenceField) -> (usize, u32) {
        let [ll, ml, of, _] = self.logs;
        match field {
            SequenceField::LiteralLength => (0, ll.into()),
            SequenceField::MatchLength => (4 << ll, ml.into()),
            SequenceField::Offset => ((4 << ll) + (4 << ml), of.into()),
        }
    }
}
