//! The Rust half of a plugin for RocksDB, whose C++ half in `plugin/` is a compression manager: the blocks of SST files that
//! zstd or zlib compressed are decoded by [`linerate_zstd`] and [`linerate_inflate`], with digested dictionaries in
//! RocksDB's block cache.
//!
//! | file | contents |
//! |---|---|
//! | `dictionary` | [`SstDictionary`]: the dictionary of an SST file, digested into compact tables |
//! | `working_memory` | what a thread keeps between blocks, and the decoding of one |
//! | `functions` | the C functions that the C++ half calls |

mod dictionary;
mod functions;
mod working_memory;

pub use dictionary::SstDictionary;
pub use functions::*;
