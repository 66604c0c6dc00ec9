//! Decodes one block: from its compressed bytes to its content.
//!
//! | module | content |
//! |---|---|
//! | [`decode`], `lz4` | decodes a block that is stored, a zstd frame or LZ4 |
//! | [`regions`] | the table of a filtered block: its regions and their filters |
//! | [`cache`], [`lru`] | the decoded blocks of one reader; an LRU list with classes |
//! | [`memory`] | allocates buffers whose length comes from an archive |

pub(crate) mod cache;
pub(crate) mod decode;
pub(crate) mod lru;
mod lz4;
pub(crate) mod memory;
pub(crate) mod regions;
