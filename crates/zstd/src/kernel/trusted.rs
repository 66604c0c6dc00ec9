//! Dictionaries whose tables are known to be sound.

use crate::dictionary::{Dictionary, Digest};

impl<'a> Dictionary<'a> {
    /// The dictionary of a digest, with tables and content where they stand. Nothing is read: who has
    /// very many dictionaries makes this for each block.
    ///
    /// # Safety
    /// `tables` are those that [`tables_into`](Self::tables_into) or another function of this type made
    /// for a dictionary of this digest, unchanged, and at an address of the same alignment. `content`
    /// has as many bytes as the digest says.
    pub unsafe fn trusted(digest: Digest, tables: &'a [u8], content: &'a [u8]) -> Self {
        debug_assert!(tables.len() >= digest.tables_len() && content.len() == digest.content_len());
        Self::apart(digest, tables, content)
    }
}
