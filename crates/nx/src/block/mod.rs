//! One block: from its compressed bytes to its content.
//!
//! | module | content |
//! |---|---|
//! | [`decode`], `lz4` | decodes a block that is stored, a zstd frame or LZ4 |
//! | [`regions`] | the table of a filtered block: which regions, by which filter |
//! | [`cache`], [`lru`] | decoded blocks of one reader; values by key in the order of eviction |
//! | [`memory`] | buffers whose length an archive decides |

pub(crate) mod cache;
pub(crate) mod decode;
pub(crate) mod lru;
mod lz4;
pub(crate) mod memory;
pub(crate) mod regions;
