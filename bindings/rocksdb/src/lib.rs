//! The Rust half of a plugin for RocksDB. The C++ half, in `plugin/`, is a compression manager. It
//! decodes the zstd and zlib blocks of SST files by [`linerate_zstd`] and [`linerate_inflate`],
//! with digested dictionaries in RocksDB's block cache.
//!
//! | file | contents |
//! |---|---|
//! | `dictionary` | [`SstDictionary`]: the dictionary of an SST file, digested into compact tables |
//! | `working_memory` | the memory that a thread keeps between blocks, and the decoding of one |
//! | `functions` | the C functions that the C++ half calls |

mod dictionary;
mod functions;
mod working_memory;

pub use dictionary::SstDictionary;
pub use functions::*;
