// A compression manager for RocksDB (10.4 or newer) that decodes zstd and zlib blocks by Linerate.
//
//   #include <linerate/rocksdb.h>
//   options.compression_manager = linerate::NewCompressionManager();
//
// When the library is loaded, the option string "compression_manager=Linerate" does the same.

#pragma once

#include <rocksdb/version.h>

#if ROCKSDB_MAJOR < 10 || (ROCKSDB_MAJOR == 10 && ROCKSDB_MINOR < 4)
#error "linerate/rocksdb.h needs RocksDB 10.4 or newer: older ones have no compression managers"
#endif

#include <rocksdb/advanced_compression.h>

#include <cstdint>
#include <memory>

namespace linerate {

// Makes a manager that compresses like `base`, which is RocksDB's built-in manager by default. Its
// decompressors decode zstd and zlib blocks by Linerate, and all others like those of `base`. A
// block or dictionary that Linerate cannot decode is also left to those of `base`. With the manager
// RocksDB writes the same SST files as with `base`, so any RocksDB that reads those reads them. If
// the compatibility name of `base` is not that of the built-in manager ("BuiltinV2"), returns
// `base` itself. Any number of threads and databases may share one manager.
//
// Returns null, for which RocksDB takes its built-in manager, if the version (major and minor) of
// the RocksDB in this process is not that of the headers that the library was compiled with.
std::shared_ptr<rocksdb::CompressionManager> NewCompressionManager(
    std::shared_ptr<rocksdb::CompressionManager> base = nullptr);

// Counts of all managers of the process so far. Blocks of compressions other than zstd and zlib,
// which are left to the decompressors of `base`, are not counted.
struct Counters {
  uint64_t dictionaries;  // dictionaries digested (made into decoding tables) by Linerate
  uint64_t zstd_blocks;   // zstd blocks decoded by Linerate
  uint64_t zlib_blocks;   // zlib blocks decoded by Linerate
  uint64_t refused;       // zstd and zlib blocks, and dictionaries, that Linerate could not decode
};
Counters GetCounters();

}  // namespace linerate
