// Reads random rows of a database through the plugin, and compares them with those that RocksDB reads itself.
#include <linerate/rocksdb.h>
#include <rocksdb/db.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: random_rows DATABASE ROWS\n"), 2;
  rocksdb::Options builtin, ours;
  ours.compression_manager = linerate::NewCompressionManager();
  std::unique_ptr<rocksdb::DB> databases[2];
  for (int i : {0, 1}) {
    rocksdb::Status opened = rocksdb::DB::OpenForReadOnly(i ? ours : builtin, argv[1], &databases[i]);
    if (!opened.ok()) return std::fprintf(stderr, "%s: %s\n", argv[1], opened.ToString().c_str()), 1;
  }
  std::vector<std::string> keys;
  std::unique_ptr<rocksdb::Iterator> all(databases[0]->NewIterator({}));
  for (all->SeekToFirst(); all->Valid(); all->Next()) keys.push_back(all->key().ToString());
  if (keys.empty()) return std::fprintf(stderr, "%s: the database has no rows\n", argv[1]), 1;
  std::mt19937_64 random(1);
  long rows = std::atol(argv[2]);
  for (long n = 0; n < rows; n++) {
    const std::string& key = keys[random() % keys.size()];
    std::string wanted, found;
    rocksdb::Status read = databases[0]->Get({}, key, &wanted), again = databases[1]->Get({}, key, &found);
    if (read.code() != again.code() || wanted != found) return std::printf("%s differs\n", key.c_str()), 1;
  }
  std::printf("%ld rows alike, %lu blocks by Linerate\n", rows, linerate::GetCounters().zstd_blocks);
}
