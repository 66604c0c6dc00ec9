//! Dictionaries with tables that are known to be valid.

use crate::dictionary::{Dictionary, Digest, ExpandedHuffman};

impl<'a> Dictionary<'a> {
    /// Makes a dictionary from its digest, compact tables, Huffman table and content, all borrowed.
    /// It reads no memory, so it can be made again for each block. `codes` must have been expanded
    /// from the same tables, or blocks that use them decode to wrong bytes;
    /// [`RequiredParts`](crate::RequiredParts) tells whether a block does.
    ///
    /// # Safety
    /// `tables` must be those that [`compact_into`](Self::compact_into) made for a dictionary of
    /// this digest, unchanged, and at an address of the same alignment.
    pub unsafe fn trusted(
        digest: Digest,
        tables: &'a [u8],
        codes: &'a ExpandedHuffman,
        content: &'a [u8],
    ) -> Self {
        assert!(tables.len() >= digest.compact_len() && content.len() == digest.content_len());
        Self::compact(digest, tables, codes, content)
    }
}
