/** RocksDB reads its zstd and zlib blocks through Linerate's decoders. */
package dev.linerate.rocksdb;
