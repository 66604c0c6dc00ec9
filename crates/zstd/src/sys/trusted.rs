//! Dictionaries whose tables are known to be sound.

use crate::dictionary::{Dictionary, Digest, ExpandedHuffman};

impl<'a> Dictionary<'a> {
    /// The dictionary of a digest, with compact tables, codes and content where they stand. Nothing is
    /// read: who has very many dictionaries makes this for each block. The codes must have been laid
    /// out for it, or blocks that need them decode to something else; none are needed by a block of which
    /// [`RequiredParts`](crate::RequiredParts) says so.
    ///
    /// # Safety
    /// `tables` are those that [`compact_into`](Self::compact_into) made for a dictionary of this
    /// digest, unchanged, and at an address of the same alignment.
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
