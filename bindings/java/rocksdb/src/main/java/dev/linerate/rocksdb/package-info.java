/** Makes RocksDB decode its zstd and zlib blocks with Linerate. */
package dev.linerate.rocksdb;
