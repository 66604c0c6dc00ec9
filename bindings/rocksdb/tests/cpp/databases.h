// RocksDB databases of small SST files, for tests and measurements. Each file has its own rows, and
// may have a dictionary of its own.

#pragma once

#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

struct Shape {
  std::string compression = "kZSTD";  // as in option strings
  unsigned files = 8;
  unsigned rows = 200;  // in each file
  unsigned dictionary = 8192;  // largest size of a file's dictionary in bytes, 0 for none
  bool trained = true;         // whether dictionaries are trained, else raw content
  unsigned block = 4096;       // size of a block in bytes
  std::string kind = "json";   // content of rows: json, text or tuples
};

inline void Check(const rocksdb::Status& status, const char* what) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s: %s\n", what, status.ToString().c_str());
  std::exit(1);
}

inline std::string Key(unsigned file, unsigned row) {
  char key[32];
  std::snprintf(key, sizeof key, "%06u/%06u", file, row);
  return key;
}

// Returns a row. The same numbers always give the same row.
inline std::string Row(const Shape& shape, unsigned file, unsigned row) {
  static const char* const kWords[] = {"timeout", "accepted", "session", "retry",  "queue",  "disk",  "index",  "flush",
                                       "commit",  "replica",  "leader",  "shard",  "cache",  "worker", "socket", "tenant",
                                       "upload",  "report",   "batch",   "quota",  "window", "policy", "backup", "export",
                                       "rotate",  "verify",   "select",  "cursor", "stream", "digest", "the",    "of"};
  uint64_t state = (uint64_t{file} << 32 | row) * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
  auto below = [&](unsigned n) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return static_cast<unsigned>((state >> 11) % n);
  };
  auto word = [&] { return std::string(kWords[below(32)]); };
  auto number = [&](unsigned n) { return std::to_string(below(n)); };
  std::string service = kWords[file % 32];
  if (shape.kind == "tuples") {
    std::string tuple;
    for (int column = 0; column < 6; column++) {
      uint32_t value = column < 4 ? file * 31 + below(200) : below(1u << 24);
      tuple.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    return tuple;
  }
  std::string text;
  if (shape.kind == "text") {
    while (text.size() < 300) text += word() + (below(9) ? " " : ". ") + (below(4) ? "" : word() + number(1000) + " ");
    return text;
  }
  return "{\"time\":\"2026-03-" + std::to_string(10 + below(20)) + "T" + number(24) + ":" + number(60) + "\",\"service\":\"" +
         service + "-" + std::to_string(file % 7) + "\",\"host\":\"node-" + number(40) + "." + service +
         ".example\",\"level\":\"" + (below(5) ? "info" : "error") + "\",\"trace\":\"" + std::to_string(state) +
         "\",\"request\":{\"method\":\"" + (below(3) ? "GET" : "POST") + "\",\"path\":\"/v1/" + service + "/" + word() + "/" +
         number(100000) + "\",\"status\":" + (below(8) ? "200" : "503") + ",\"bytes\":" + number(60000) + ",\"ms\":" +
         number(900) + "},\"user\":{\"id\":" + number(1000000) + ",\"name\":\"" + word() + "." + word() + "\"},\"message\":\"" +
         word() + " " + word() + " after " + word() + "\"}";
}

inline rocksdb::Options OptionsOf(const Shape& shape, rocksdb::BlockBasedTableOptions table = {}) {
  rocksdb::Options options;
  Check(rocksdb::GetOptionsFromString(rocksdb::ConfigOptions(), options, "compression=" + shape.compression, &options),
        "options");
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  options.compression_opts.level = 3;
  options.compression_opts.max_dict_bytes = shape.dictionary;
  if (shape.trained) options.compression_opts.zstd_max_train_bytes = 100 * shape.dictionary;
  table.block_size = shape.block;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

// Writes an SST file, `name`, of `shape.rows` rows. `row(file, n)` returns the n-th row.
template <typename RowOf>
void WriteFile(const Shape& shape, const rocksdb::Options& options, unsigned file, const std::string& name, RowOf row) {
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  Check(writer.Open(name), "write");
  for (unsigned n = 0; n < shape.rows; n++) Check(writer.Put(Key(file, n), row(file, n)), "write");
  Check(writer.Finish(), "write");
}

// Makes a database of existing SST files, which are moved into it.
inline void Ingest(const rocksdb::Options& options, const std::string& folder, const std::vector<std::string>& names) {
#if ROCKSDB_MAJOR < 11
  rocksdb::DB* opened = nullptr;
  Check(rocksdb::DB::Open(options, folder, &opened), "open");
  std::unique_ptr<rocksdb::DB> database(opened);
#else
  std::unique_ptr<rocksdb::DB> database;
  Check(rocksdb::DB::Open(options, folder, &database), "open");
#endif
  rocksdb::IngestExternalFileOptions ingest;
  ingest.move_files = true;
  Check(database->IngestExternalFile(names, ingest), "ingest");
}

inline void Make(const Shape& shape, const std::string& folder, const rocksdb::Options& options) {
  std::filesystem::create_directories(folder);
  std::vector<std::string> names;
  for (unsigned file = 0; file < shape.files; file++) {
    names.push_back(folder + "/new" + std::to_string(file) + ".sst");
    WriteFile(shape, options, file, names.back(), [&](unsigned f, unsigned n) { return Row(shape, f, n); });
  }
  Ingest(options, folder, names);
}

inline void Make(const Shape& shape, const std::string& folder) { Make(shape, folder, OptionsOf(shape)); }
