// A compression manager for RocksDB (10.4 or newer) that decodes zstd and zlib blocks by Linerate.
//
//   #include <linerate/rocksdb.h>
//   options.compression_manager = linerate::NewCompressionManager();
//
// or, once the library is loaded, the option string "compression_manager=Linerate".

#pragma once

#include <rocksdb/version.h>

#if ROCKSDB_MAJOR < 10 || (ROCKSDB_MAJOR == 10 && ROCKSDB_MINOR < 4)
#error "linerate/rocksdb.h needs RocksDB 10.4 or newer: older ones have no compression managers"
#endif

#include <rocksdb/advanced_compression.h>

#include <cstdint>
#include <memory>

namespace linerate {

// A manager that compresses as `base` does, by default RocksDB's built-in one. Its decompressors decode zstd and zlib blocks by
// Linerate, and all others as those of `base` do. Files are those that `base` writes; any RocksDB that reads those reads them.
// A `base` that is not compatible with the built-in manager ("BuiltinV2") is returned as it is. Any number of threads and
// databases may share one manager.
//
// Null, for which RocksDB takes its built-in manager, if the RocksDB of this process is of another version (major and minor)
// than the headers that the library was compiled with.
std::shared_ptr<rocksdb::CompressionManager> NewCompressionManager(
    std::shared_ptr<rocksdb::CompressionManager> base = nullptr);

// What all managers of the process have done so far.
struct Counters {
  uint64_t dictionaries;  // digested
  uint64_t zstd_blocks;   // decoded
  uint64_t zlib_blocks;   // decoded
  uint64_t refused;       // blocks and dictionaries that the built-in decompressor was asked about
};
Counters GetCounters();

}  // namespace linerate
