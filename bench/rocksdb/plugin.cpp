// Reads of a database by RocksDB itself, by libzstd with digested dictionaries, and by the plugin:
//
//   plugin [--NAME VALUE]... FOLDER
//
// The database is made in FOLDER/SHAPE, if it is not there. Each round does the same operations with every contender by turns.
// Prints a measurement per contender as JSON Lines (records/README.md); `time` is CPU time of the thread for an operation,
// `decompress` the share in DecompressBlock by RocksDB's own clock, in a round of its own.

#include <linerate/rocksdb.h>
#include <rocksdb/advanced_compression.h>
#include <rocksdb/cache.h>
#include <rocksdb/perf_context.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>

#include "../../bindings/rocksdb/tests/cpp/databases.h"

// libzstd, as RocksDB's library contains and exports it.
extern "C" {
void* ZSTD_createDDict_byReference(const void* bytes, size_t len);
size_t ZSTD_freeDDict(void* dictionary);
size_t ZSTD_sizeof_DDict(const void* dictionary);
void* ZSTD_createDCtx();
size_t ZSTD_decompress_usingDDict(void* context, void* dst, size_t room, const void* src, size_t len, const void* dictionary);
}

namespace {

using rocksdb::Slice;
using rocksdb::Status;

// libzstd with digested dictionaries, by the same interface as the plugin: the best way to use it from outside.
class Digested : public rocksdb::DecompressorWrapper {
 public:
  Digested(std::shared_ptr<rocksdb::Decompressor> base, void* digest, const Slice& dictionary)
      : DecompressorWrapper(std::move(base)), digest_(digest), dictionary_(dictionary) {}
  ~Digested() override { ZSTD_freeDDict(digest_); }
  const Slice& GetSerializedDict() const override { return dictionary_; }
  size_t ApproximateOwnedMemoryUsage() const override { return sizeof(*this) + ZSTD_sizeof_DDict(digest_); }
  Status MaybeCloneForDict(const Slice& dictionary, std::unique_ptr<Decompressor>* out) override {
    out->reset(new Digested(wrapped_, ZSTD_createDDict_byReference(dictionary.data(), dictionary.size()), dictionary));
    return Status::OK();
  }
  Status DecompressBlock(const Args& args, char* out) override {
    if (args.compression_type != rocksdb::kZSTD) return wrapped_->DecompressBlock(args, out);
    thread_local void* context = ZSTD_createDCtx();
    const size_t written = ZSTD_decompress_usingDDict(context, out, args.uncompressed_size, args.compressed_data.data(),
                                                      args.compressed_data.size(), digest_);
    return written == args.uncompressed_size ? Status::OK() : Status::Corruption("zstd block");
  }

 private:
  void* digest_;
  Slice dictionary_;
};

class DigestedManager : public rocksdb::CompressionManagerWrapper {
 public:
  using CompressionManagerWrapper::CompressionManagerWrapper;
  const char* Name() const override { return "Digested"; }
  std::shared_ptr<rocksdb::Decompressor> GetDecompressorForTypes(const rocksdb::CompressionType*,
                                                                 const rocksdb::CompressionType*) override {
    return std::make_shared<Digested>(wrapped_->GetDecompressor(), nullptr, Slice("", 0));
  }
};

double ThreadTime() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Contender {
  std::string name;
  std::unique_ptr<rocksdb::DB> database;
  std::shared_ptr<rocksdb::CompressionManager> manager;
  std::vector<double> rounds;
  double decompress = 0;
};

// Bytes that the decompressor for a dictionary of this database owns.
size_t DictionaryBytes(rocksdb::CompressionManager& manager, const Shape& shape) {
  if (!shape.dictionary) return 0;
  rocksdb::CompressionOptions options;
  options.max_dict_bytes = shape.dictionary, options.zstd_max_train_bytes = 100 * shape.dictionary;
  auto compressor = rocksdb::GetBuiltinV2CompressionManager()->GetCompressor(options, rocksdb::kZSTD);
  rocksdb::Compressor::DictSamples samples;
  for (unsigned row = 0; row < shape.rows; row++) {
    samples.sample_data += Row(shape, 0, row);
    samples.sample_lens.push_back(Row(shape, 0, row).size());
  }
  auto special = compressor->MaybeCloneSpecialized(rocksdb::CacheEntryRole::kDataBlock, std::move(samples));
  if (!special) return 0;
  const std::string dictionary = special->GetSerializedDict().ToString();
  const rocksdb::CompressionType type = rocksdb::kZSTD;
  std::unique_ptr<rocksdb::Decompressor> decompressor;
  Check(manager.GetDecompressorForTypes(&type, &type + 1)->MaybeCloneForDict(dictionary, &decompressor), "a dictionary");
  return decompressor->ApproximateOwnedMemoryUsage();
}

}  // namespace

int main(int argc, char** argv) {
  Shape shape;
  std::map<std::string, std::string> given = {{"compression", "kZSTD"}, {"kind", "json"},      {"files", "1500"},
                                              {"rows", "150"},          {"dictionary", "8192"}, {"block", "4096"},
                                              {"cache", "0"},           {"reads", "mapped"},    {"operation", "get"},
                                              {"operations", "4000"},   {"rounds", "7"}};
  std::string folder;
  for (int i = 1; i < argc; i++) {
    const std::string argument = argv[i];
    if (argument.starts_with("--") && i + 1 < argc && given.contains(argument.substr(2))) {
      given[argument.substr(2)] = argv[++i];
    } else if (argument.starts_with("--") || !folder.empty()) {
      return std::fprintf(stderr, "plugin: %s?\n", argv[i]), 2;
    } else {
      folder = argument;
    }
  }
  auto number = [&](const char* name) { return static_cast<unsigned>(std::stoul(given[name])); };
  shape.compression = given["compression"], shape.kind = given["kind"], shape.files = number("files");
  shape.rows = number("rows"), shape.dictionary = number("dictionary"), shape.block = number("block");
  folder += "/" + shape.compression + "-" + shape.kind + "-" + given["files"] + "-" + given["rows"] + "-" +
            given["dictionary"] + "-" + given["block"];
  if (!std::filesystem::exists(folder + "/CURRENT")) {
    std::filesystem::create_directories(folder);
    Make(shape, folder);
  }
  // Of the content: cached blocks are not compressed.
  size_t content = 0;
  for (unsigned row = 0; row < shape.rows; row++) content += Row(shape, 0, row).size() + 20;
  const size_t cache = content * shape.files / 100 * number("cache");

  std::vector<Contender> contenders;
  for (const char* name : {"builtin", "digested", "linerate"}) {
    Contender contender;
    contender.name = name;
    contender.manager = rocksdb::GetBuiltinV2CompressionManager();
    if (contender.name == "digested") contender.manager = std::make_shared<DigestedManager>(contender.manager);
    if (contender.name == "linerate") contender.manager = linerate::NewCompressionManager();
    rocksdb::BlockBasedTableOptions table;
    table.no_block_cache = cache == 0;
    if (cache) table.block_cache = rocksdb::NewLRUCache(cache);
    rocksdb::Options options = OptionsOf(shape, table);
    options.compression_manager = contender.manager;
    options.max_open_files = -1;
    options.allow_mmap_reads = given["reads"] == "mapped";
    options.use_direct_reads = given["reads"] == "direct";
    Check(rocksdb::DB::OpenForReadOnly(options, folder, &contender.database), folder.c_str());
    contenders.push_back(std::move(contender));
  }

  const unsigned operations = number("operations"), rounds = number("rounds");
  const std::string operation = given["operation"];
  auto run = [&](rocksdb::DB& database, unsigned seed) {
    std::mt19937 random(seed);
    size_t sum = 0;
    for (unsigned n = 0; n < operations; n++) {
      const unsigned file = random() % shape.files, row = random() % shape.rows;
      if (operation == "get") {
        rocksdb::PinnableSlice found;
        Check(database.Get({}, database.DefaultColumnFamily(), Key(file, row), &found), "get");
        sum += found.size();
      } else if (operation == "multiget") {
        std::vector<std::string> keys;
        for (int i = 0; i < 64; i++) keys.push_back(Key(random() % shape.files, random() % shape.rows));
        std::sort(keys.begin(), keys.end());
        std::vector<Slice> slices(keys.begin(), keys.end());
        std::vector<rocksdb::PinnableSlice> found(64);
        std::vector<Status> status(64);
        database.MultiGet({}, database.DefaultColumnFamily(), 64, slices.data(), found.data(), status.data(), true);
        for (int i = 0; i < 64; i++) Check(status[i], "multiget"), sum += found[i].size();
      } else {
        std::unique_ptr<rocksdb::Iterator> rows(database.NewIterator({}));
        rows->Seek(Key(file, row));
        for (int i = 0; i < 100 && rows->Valid(); i++, rows->Next()) sum += rows->value().size();
        Check(rows->status(), "iterator");
      }
    }
    return sum;
  };
  for (unsigned round = 0; round <= rounds + 1; round++) {
    size_t sums[3];
    for (unsigned turn = 0; turn < 3; turn++) {
      const unsigned which = (turn + round) % 3;
      Contender& contender = contenders[which];
      const bool timed = round > 0 && round <= rounds;  // the first warms up, the last looks where the time goes
      rocksdb::SetPerfLevel(round > rounds ? rocksdb::PerfLevel::kEnableTime : rocksdb::PerfLevel::kDisable);
      rocksdb::get_perf_context()->Reset();
      const double begin = ThreadTime();
      sums[which] = run(*contender.database, round);
      if (timed) contender.rounds.push_back((ThreadTime() - begin) / operations * 1e6);
      if (round > rounds) contender.decompress = rocksdb::get_perf_context()->block_decompress_time / 1e3 / operations;
    }
    if (sums[0] != sums[1] || sums[0] != sums[2]) return std::fprintf(stderr, "the contenders read different rows\n"), 1;
  }
  const std::map<std::string, std::string> operation_names = {
      {"get", "Get"}, {"multiget", "MultiGet of 64"}, {"iterate", "iterator, 100 rows"}};
  std::string compression = shape.compression.substr(1, shape.compression.size() - 12);  // without k and Compression
  if (shape.compression == "kZSTD") compression = "ZSTD";
  if (shape.compression == "kNoCompression") compression = "none";
  auto kib = [](unsigned bytes) { return std::to_string(bytes / 1024) + "K"; };
  std::string more = shape.dictionary ? ",\"dictionary\":\"" + kib(shape.dictionary) + "\"" : "";
  if (cache) more += ",\"cache\":\"" + given["cache"] + " %\"";
  for (Contender& contender : contenders) {
    std::sort(contender.rounds.begin(), contender.rounds.end());
    std::printf(
        "{\"shape\":\"rocksdb\",\"data\":\"%s\",\"contender\":\"%s\",\"params\":{\"operation\":\"%s\",\"compression\":\"%s\","
        "\"files\":%u,\"rows\":%u,\"block\":\"%s\",\"reads\":\"%s\"%s},\"metrics\":{\"time\":{\"median\":%.3f,\"low\":%.3f,"
        "\"high\":%.3f},\"decompress\":%.3f,\"beside\":%zu}}\n",
        shape.kind.c_str(), contender.name.c_str(), operation_names.at(operation).c_str(), compression.c_str(), shape.files,
        shape.rows, kib(shape.block).c_str(), given["reads"].c_str(), more.c_str(), contender.rounds[rounds / 2],
        contender.rounds.front(), contender.rounds.back(), contender.decompress, DictionaryBytes(*contender.manager, shape));
  }
}
