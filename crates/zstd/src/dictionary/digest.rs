//! The fixed-size description of a digested dictionary, and the layout of its tables.

use crate::entropy::huffman::{self, CanonicalTree};
use crate::entropy::tables::{RepeatOffsets, SequenceField};

/// Readable bytes after the content, for wild copies.
pub(crate) const SLACK: usize = 32;
/// Most bytes of the tables of a dictionary: 9 KiB.
pub const MAX_TABLES: usize = 4
    * ((1 << SequenceField::LiteralLength.max_log())
        + (1 << SequenceField::MatchLength.max_log())
        + (1 << SequenceField::Offset.max_log()))
    + 2 * huffman::MAX_CELLS;
const _: () = assert!(MAX_TABLES <= 9 << 10);

/// Fixed-size description of a digested dictionary: the 24 bytes that an index over many dictionaries
/// keeps for each, and from which [`Dictionary::view`](crate::Dictionary::view) recreates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest {
    pub(super) id: u32,
    pub(super) content: u32,
    pub(super) repeats: RepeatOffsets,
    /// Logarithms of the table sizes: literal lengths, match lengths, offsets, Huffman. The last is 0 for
    /// raw content.
    pub(super) logs: [u8; 4],
}

const _: () = assert!(size_of::<Digest>() == 24);

/// The digest of empty raw content.
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

    /// Bytes of the content.
    pub fn content_len(&self) -> usize {
        self.content as usize
    }

    /// Whether it is a trained dictionary, with tables.
    pub fn is_trained(&self) -> bool {
        self.logs[3] != 0
    }

    /// Logarithms of the table sizes: literal lengths, match lengths, offsets, Huffman. All 0 for raw content.
    pub fn logs(&self) -> [u8; 4] {
        self.logs
    }

    /// Bytes of the tables: at most [`MAX_TABLES`]; 0 for raw content.
    pub fn tables_len(&self) -> usize {
        if !self.is_trained() {
            return 0;
        }
        let [ll, ml, of, huffman] = self.logs;
        4 * ((1 << ll) + (1 << ml) + (1 << of)) + (2 << huffman)
    }

    /// Bytes of the compact tables: at most 5400; 0 for raw content.
    pub fn compact_len(&self) -> usize {
        if self.is_trained() { CanonicalTree::LEN + self.tables_len() - self.codes_len() } else { 0 }
    }

    /// Bytes of the Huffman table.
    pub(super) fn codes_len(&self) -> usize {
        2 << self.logs[3]
    }

    /// The parts of compact tables: canonical Huffman tree, literal lengths, match lengths, offsets. `None` for
    /// raw content.
    pub(crate) fn parts<'a>(&self, compact: &'a [u8]) -> Option<[&'a [u8]; 4]> {
        let (tree, mut rest) = compact.split_at_checked(CanonicalTree::LEN)?;
        let mut parts = [tree; 4];
        for (part, log) in parts[1..].iter_mut().zip(self.logs) {
            (*part, rest) = rest.split_at_checked(4 << log)?;
        }
        Some(parts)
    }

    /// Bytes that [`Dictionary::digest_into`](crate::Dictionary::digest_into) needs: tables, content, slack.
    pub fn region_len(&self) -> usize {
        self.tables_len() + self.content_len() + SLACK
    }

    /// Offset in bytes and size logarithm of an FSE table.
    pub(super) fn fse_table(&self, field: SequenceField) -> (usize, u32) {
        let [ll, ml, of, _] = self.logs;
        match field {
            SequenceField::LiteralLength => (0, ll.into()),
            SequenceField::MatchLength => (4 << ll, ml.into()),
            SequenceField::Offset => ((4 << ll) + (4 << ml), of.into()),
        }
    }
}
