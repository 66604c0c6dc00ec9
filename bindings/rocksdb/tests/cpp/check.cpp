// Tests the plugin in a RocksDB: check TEST FOLDER, with an empty folder for databases. Exits with
// status 0 and, for some tests, lines of figures, or with status 1 and a sentence.

#include <linerate/rocksdb.h>
#include <rocksdb/cache.h>
#include <rocksdb/utilities/options_util.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "databases.h"

using rocksdb::DB;
using rocksdb::Options;
using rocksdb::Slice;
using rocksdb::Status;

namespace {

[[noreturn]] void Fail(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

void Want(bool truth, const std::string& what) {
  if (!truth) Fail(what);
}

std::unique_ptr<DB> Open(Options options, const std::string& folder, bool ours) {
  if (ours) options.compression_manager = linerate::NewCompressionManager();
  std::unique_ptr<DB> database;
  Check(DB::OpenForReadOnly(options, folder, &database), "open");
  return database;
}

// Reads every row by Get and by an iterator, and every third row by MultiGet.
void ReadAll(DB& database, const Shape& shape) {
  std::unique_ptr<rocksdb::Iterator> rows(database.NewIterator({}));
  rows->SeekToFirst();
  for (unsigned file = 0; file < shape.files; file++) {
    for (unsigned row = 0; row < shape.rows; row++, rows->Next()) {
      const std::string key = Key(file, row), wanted = Row(shape, file, row);
      std::string found;
      Check(database.Get({}, key, &found), "get");
      Want(found == wanted, "Get of " + key);
      Want(rows->Valid() && rows->key() == key && rows->value() == wanted, "the iterator at " + key);
    }
    std::vector<std::string> keys, found;
    for (unsigned row = 0; row < shape.rows; row += 3) keys.push_back(Key(file, row));
    std::vector<Slice> slices(keys.begin(), keys.end());
    for (const Status& status : database.MultiGet({}, slices, &found)) Check(status, "multiget");
    for (size_t i = 0; i < keys.size(); i++) Want(found[i] == Row(shape, file, 3 * i), "MultiGet of " + keys[i]);
  }
  Want(!rows->Valid() && rows->status().ok(), "the iterator's end");
}

// Tests zstd, zlib, LZ4, Snappy and uncompressed blocks, with and without a dictionary: which
// decoder decodes the blocks, and whether all rows are right.
void Formats(const std::string& folder) {
  struct Case {
    const char* compression;
    unsigned dictionary;
    bool trained;
    char by;  // decoded by: z Linerate's zstd, d Linerate's deflate, b the built-in decompressor
  };
  const Case cases[] = {
      {"kZSTD", 8192, true, 'z'},          {"kZSTD", 8192, false, 'z'}, {"kZSTD", 65536, true, 'z'}, {"kZSTD", 0, true, 'z'},
      {"kZlibCompression", 0, true, 'd'},  {"kZlibCompression", 8192, false, 'd'},
      {"kLZ4Compression", 0, true, 'b'},   {"kLZ4Compression", 8192, false, 'b'},
      {"kSnappyCompression", 0, true, 'b'}, {"kNoCompression", 0, true, 'b'},
  };
  for (const Case& c : cases) {
    for (const char* kind : {"json", "text", "tuples"}) {
      Shape shape;
      shape.compression = c.compression, shape.dictionary = c.dictionary, shape.trained = c.trained, shape.kind = kind;
      const std::string name = std::string(c.compression) + std::to_string(c.dictionary) + c.by + (c.trained ? "t" : "r") + kind;
      Make(shape, folder + "/" + name);
      const linerate::Counters before = linerate::GetCounters();
      ReadAll(*Open(OptionsOf(shape), folder + "/" + name, true), shape);
      const linerate::Counters after = linerate::GetCounters();
      Want((after.zstd_blocks > before.zstd_blocks) == (c.by == 'z'), name + ": zstd blocks");
      Want((after.zlib_blocks > before.zlib_blocks) == (c.by == 'd'), name + ": zlib blocks");
      if (after.dictionaries > before.dictionaries) {
        Want(c.by != 'b' && c.dictionary > 0, name + ": a dictionary");
      } else {
        Want(c.by == 'b' || c.dictionary == 0 || shape.kind == "tuples", name + ": no dictionary");  // too few tuples to train
      }
      Want(after.refused == before.refused, name + ": something was refused");
    }
  }
}

// Flips bits in data blocks, which RocksDB's checksums detect. Without checksums, RocksDB itself
// reads outside damaged blocks that decode. `DamageWithoutChecksums` tests damaged blocks without
// checksums, at the interface of decompressors.
void Damage(const std::string& folder) {
  unsigned refused = 0, alike = 0;
  for (const char* compression : {"kZSTD", "kZlibCompression"}) {
    Shape shape;
    shape.compression = compression, shape.files = 1;
    const std::string database = folder + "/" + compression;
    Make(shape, database);
    std::string table;
    for (const auto& file : std::filesystem::directory_iterator(database)) {
      if (file.path().extension() == ".sst") table = file.path();
    }
    std::ifstream in(table, std::ios::binary);
    const std::string intact((std::istreambuf_iterator<char>(in)), {});
    rocksdb::BlockBasedTableOptions table_options;
    table_options.no_block_cache = true;
    const Options options = OptionsOf(shape, table_options);
    std::mt19937 random(5);
    for (int round = 0; round < 120; round++) {
      // The blocks of rows precede the dictionary, the index and the properties.
      std::string damaged = intact;
      for (int flips = 0; flips < 20; flips++) damaged[random() % (intact.size() / 2)] ^= 1 << random() % 8;
      std::ofstream(table, std::ios::binary) << damaged;
      auto builtin = Open(options, database, false), ours = Open(options, database, true);
      for (unsigned row = 0; row < shape.rows; row += 7) {
        std::string one, other;
        const Status a = builtin->Get({}, Key(0, row), &one), b = ours->Get({}, Key(0, row), &other);
        Want(!a.ok() || one == other, "a row differs");
        Want(a.ToString() == b.ToString(), "built-in: " + a.ToString() + ", Linerate: " + b.ToString());
        (a.ok() ? alike : refused)++;
      }
    }
    std::ofstream(table, std::ios::binary) << intact;
    ReadAll(*Open(options, database, true), shape);
  }
  Want(refused > 100 && alike > 100, "the damage was not seen");
  std::printf("%u rows refused by both, %u alike\n", refused, alike);
}

// Compresses the first ten rows of a file as one block, with a dictionary from 1000 of its rows.
// Adds both to the vectors, and the rows to `content`.
void Compress(rocksdb::CompressionManager& manager, rocksdb::CompressionType wanted, unsigned file, std::string& content,
              std::vector<std::string>& dictionaries, std::vector<std::string>& blocks) {
  rocksdb::CompressionOptions options;
  options.max_dict_bytes = 8192, options.zstd_max_train_bytes = 819200;
  rocksdb::Compressor::DictSamples samples;
  Shape shape;
  for (unsigned row = 0; row < 1000; row++) {
    const std::string sample = Row(shape, file, row);
    samples.sample_data += sample;
    samples.sample_lens.push_back(sample.size());
    if (row < 10) content += sample;
  }
  auto compressor = manager.GetCompressor(options, wanted)
                        ->MaybeCloneSpecialized(rocksdb::CacheEntryRole::kDataBlock, std::move(samples));
  Want(compressor != nullptr, "a compressor with a dictionary");
  dictionaries.push_back(compressor->GetSerializedDict().ToString());
  std::string block(content.size(), 0);
  size_t size = block.size();
  rocksdb::CompressionType type = wanted;
  Check(compressor->CompressBlock(content, block.data(), &size, &type, nullptr), "compress");
  Want(type == wanted, "a compressed block");
  blocks.push_back(block.substr(0, size));
}

// Tests damaged blocks, blocks with another file's dictionary or a wrong size, and damaged
// dictionaries, directly at the interface.
void DamageWithoutChecksums(rocksdb::CompressionType type) {
  auto manager = linerate::NewCompressionManager();
  std::vector<std::string> serialized, blocks;
  std::string content[2];
  for (unsigned file : {0, 1}) Compress(*manager, type, file, content[file], serialized, blocks);
  // Appends the results of both decompressors for a block, the built-in one first, a line each.
  // `reason` becomes the status of the second.
  std::string reason;
  auto decode = [&](const std::string& dictionary, const std::string& block, std::string& out) {
    for (const auto& m : {rocksdb::GetBuiltinV2CompressionManager(), manager}) {
      std::unique_ptr<rocksdb::Decompressor> decompressor;
      Status status = m->GetDecompressorOptimizeFor(type)->MaybeCloneForDict(dictionary, &decompressor);
      std::string here;
      if (status.ok()) {
        rocksdb::Decompressor::Args args;
        args.compression_type = type, args.compressed_data = block;
        status = decompressor->ExtractUncompressedSize(args);
        if (status.ok() && args.uncompressed_size > 1 << 20) status = Status::Corruption("size");
        if (status.ok()) {
          here.resize(args.uncompressed_size);
          status = decompressor->DecompressBlock(args, here.data());
        }
        if (m == manager) {
          const size_t owned = decompressor->ApproximateOwnedMemoryUsage();
          Want(owned <= 6 << 10, std::to_string(owned) + " bytes of a dictionary beside its content");
        }
      }
      reason = status.ToString();
      out += status.ok() ? "ok " + here : "refused";
      out += '\n';
    }
  };
  for (unsigned file : {0, 1}) {
    std::string right;
    decode(serialized[file], blocks[file], right);
    Want(right == "ok " + content[file] + "\nok " + content[file] + "\n", "a block with its dictionary");
  }
  std::mt19937 random(7);
  unsigned refused = 0, named = 0;
  for (int round = 0; round < 4000; round++) {
    std::string dictionary = serialized[round % 2], block = blocks[round % 17 ? round % 2 : (round + 1) % 2];
    if (round % 5 < 2) dictionary[random() % (round % 3 ? 120 : dictionary.size())] ^= 1 << random() % 8;
    if (round % 7 == 0) dictionary.resize(1 + random() % dictionary.size());
    if (round % 11 == 0) block.resize(random() % block.size());
    if (round % 13 < 4 && !block.empty()) block[random() % block.size()] ^= 1 << random() % 8;
    if (round % 19 == 0 && !block.empty()) block[0] ^= 1 << random() % 7;  // the size of the content begins here
    std::string both;
    decode(dictionary, block, both);
    const size_t half = both.size() / 2;
    Want(both.substr(0, half) == both.substr(half), "built-in and Linerate differ in round " + std::to_string(round));
    refused += both == "refused\nrefused\n";
    named += reason.find("Corruption: Linerate: ") == 0 && reason.find("at byte ") != std::string::npos;
  }
  Want(refused > 100 && refused < 3900 && named > 100, "the damage was not seen");
  std::printf("%u of 4000 refused by both\n", refused);
}

void Dictionaries(const std::string&) {
  for (auto type : {rocksdb::kZSTD, rocksdb::kZlibCompression}) DamageWithoutChecksums(type);
}

// Runs only decompressors, without a database, for helgrind. Threads share decompressors, and each
// makes some of its own.
void Shared(const std::string&) {
  constexpr unsigned kFiles = 3;
  auto manager = linerate::NewCompressionManager();
  std::vector<std::string> dictionaries, blocks;
  std::string content[kFiles];
  for (unsigned file = 0; file < kFiles; file++) Compress(*manager, rocksdb::kZSTD, file, content[file], dictionaries, blocks);
  auto decompressor = [&](unsigned file) {
    std::unique_ptr<rocksdb::Decompressor> made;
    Check(manager->GetDecompressorOptimizeFor(rocksdb::kZSTD)->MaybeCloneForDict(dictionaries[file], &made), "a dictionary");
    return made;
  };
  std::vector<std::unique_ptr<rocksdb::Decompressor>> shared;
  for (unsigned file = 0; file < kFiles; file++) shared.push_back(decompressor(file));
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 4; thread++) {
    threads.emplace_back([&, thread] {
      for (unsigned round = 0; round < 100; round++) {
        const unsigned file = (round * (thread + 1)) % kFiles;
        const auto own = round % 10 ? nullptr : decompressor(file);
        rocksdb::Decompressor& used = own ? *own : *shared[file];
        rocksdb::Decompressor::Args args;
        args.compression_type = rocksdb::kZSTD, args.compressed_data = blocks[file];
        Check(used.ExtractUncompressedSize(args), "the size");
        std::string out(args.uncompressed_size, 0);
        Check(used.DecompressBlock(args, out.data()), "decompress");
        Want(out == content[file], "the content");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Tests the option string, an OPTIONS file, a manager around another, and one that is not
// compatible.
void Registered(const std::string& folder) {
  Shape shape;
  Make(shape, folder + "/db");
  Options options = OptionsOf(shape);
  Check(rocksdb::GetOptionsFromString(rocksdb::ConfigOptions(), options, "compression_manager=Linerate", &options), "options");
  Want(options.compression_manager->Name() == std::string("Linerate"), "the name");
  Want(options.compression_manager->CompatibilityName() == std::string("BuiltinV2"), "the compatibility name");
  {
    std::unique_ptr<DB> database;
    Check(DB::Open(options, folder + "/db", &database), "open");
    ReadAll(*database, shape);
    Check(database->Put({}, "written", "with it"), "put");
    Check(database->Flush({}), "flush");
  }
  Options plain = OptionsOf(shape);
  {
    // The manager can be set while the database is open, for files that are opened afterwards.
    std::unique_ptr<DB> database;
    Check(DB::Open(plain, folder + "/db", &database), "open");
    Check(database->SetOptions({{"compression_manager", "Linerate"}}), "SetOptions");
    Want(database->GetOptions().compression_manager->Name() == std::string("Linerate"), "the name after SetOptions");
  }
  std::string found;
  Check(Open(plain, folder + "/db", false)->Get({}, "written", &found), "get without the plugin");
  Want(found == "with it", "the row written with the plugin");
  rocksdb::DBOptions of_database;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  Check(rocksdb::LoadLatestOptions(rocksdb::ConfigOptions(), folder + "/db", &of_database, &families), "OPTIONS file");
  Want(families[0].options.compression_manager->Name() == std::string("Linerate"), "the name in the OPTIONS file");
  auto around = linerate::NewCompressionManager(rocksdb::CreateAutoSkipCompressionManager());
  Want(around->Name() == std::string("Linerate"), "a manager around another");

  struct Other : rocksdb::CompressionManagerWrapper {
    using CompressionManagerWrapper::CompressionManagerWrapper;
    const char* Name() const override { return "Other"; }
    const char* CompatibilityName() const override { return "Other"; }
  };
  std::shared_ptr<rocksdb::CompressionManager> other = std::make_shared<Other>(rocksdb::GetBuiltinV2CompressionManager());
  Want(linerate::NewCompressionManager(other) == other, "a manager that is not compatible");
}

// Eight threads do Gets, MultiGets and iterate while files are rewritten, compacted away and
// evicted from a small cache.
void Threads(const std::string& folder) {
  Shape shape;
  shape.files = 24, shape.rows = 60;
  Make(shape, folder + "/db");
  rocksdb::BlockBasedTableOptions table;
  table.cache_index_and_filter_blocks = true;
  table.block_cache = rocksdb::NewLRUCache(256 << 10);
  Options options = OptionsOf(shape, table);
  options.compression_manager = linerate::NewCompressionManager();
  std::unique_ptr<DB> database;
  Check(DB::Open(options, folder + "/db", &database), "open");
  std::atomic<bool> end{false};
  std::vector<std::thread> readers;
  for (unsigned thread = 0; thread < 8; thread++) {
    readers.emplace_back([&, thread] {
      std::mt19937 random(thread);
      do {
        for (int n = 0; n < 50; n++) {
          const unsigned file = random() % shape.files, row = random() % shape.rows;
          if (thread % 3 == 0) {
            std::unique_ptr<rocksdb::Iterator> rows(database->NewIterator({}));
            rows->Seek(Key(file, row));
            for (unsigned r = row; r < shape.rows && r < row + 20; r++, rows->Next()) {
              Want(rows->Valid() && rows->value() == Row(shape, file, r), "the iterator at " + Key(file, r));
            }
          } else if (thread % 3 == 1) {
            std::vector<std::string> keys, found;
            for (unsigned i = 0; i < 16; i++) keys.push_back(Key((file + i) % shape.files, row));
            for (const Status& s : database->MultiGet({}, std::vector<Slice>(keys.begin(), keys.end()), &found)) Check(s, "multiget");
            for (unsigned i = 0; i < 16; i++) Want(found[i] == Row(shape, (file + i) % shape.files, row), "MultiGet");
          } else {
            std::string found;
            Check(database->Get({}, Key(file, row), &found), "get");
            Want(found == Row(shape, file, row), "Get of " + Key(file, row));
          }
        }
      } while (!end);
    });
  }
  for (unsigned round = 0; round < 2; round++) {
    for (unsigned file = 0; file < shape.files; file++) {
      for (unsigned row = 0; row < shape.rows; row += 2) Check(database->Put({}, Key(file, row), Row(shape, file, row)), "put");
      if (file % 8 == 7) Check(database->Flush({}), "flush");
    }
    rocksdb::CompactRangeOptions whole;
    whole.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    Check(database->CompactRange(whole, nullptr, nullptr), "compact");
  }
  end = true;
  for (std::thread& reader : readers) reader.join();
  Want(linerate::GetCounters().refused == 0, "something was refused");
  std::printf("%lu blocks\n", static_cast<unsigned long>(linerate::GetCounters().zstd_blocks));
}

// Writes every other row again, and compacts all files into new ones.
void Rewrite(const Shape& shape, const Options& options, const std::string& folder) {
  std::unique_ptr<DB> database;
  Check(DB::Open(options, folder, &database), "open");
  for (unsigned file = 0; file < shape.files; file++) {
    for (unsigned row = 0; row < shape.rows; row += 2) Check(database->Put({}, Key(file, row), Row(shape, file, row)), "put");
  }
  Check(database->Flush({}), "flush");
  rocksdb::CompactRangeOptions whole;
  whole.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  Check(database->CompactRange(whole, nullptr, nullptr), "compact");
  ReadAll(*database, shape);
}

// Files are written with the plugin and compacted without it, and the other way round. Both read
// the result.
void Rewritten(const std::string& folder) {
  for (const char* compression : {"kZSTD", "kZlibCompression", "kLZ4Compression"}) {
    for (uint32_t version : {5u, 7u}) {
      for (bool ours_first : {true, false}) {
        Shape shape;
        shape.compression = compression;
        rocksdb::BlockBasedTableOptions table;
        table.format_version = version;
        Options ours = OptionsOf(shape, table), stock = ours;
        ours.compression_manager = linerate::NewCompressionManager();
        const std::string name = folder + "/" + compression + std::to_string(version) + (ours_first ? "ours" : "stock");
        Make(shape, name, ours_first ? ours : stock);
        Rewrite(shape, ours_first ? stock : ours, name);
        ReadAll(*Open(stock, name, false), shape);
        ReadAll(*Open(stock, name, true), shape);
      }
    }
  }
  Want(linerate::GetCounters().refused == 0, "something was refused");
}

// Values in blob files are written and collected with the plugin or without, and read by both. With
// all files open (max_open_files = -1), OpenForReadOnly takes RocksDB's path for databases that are
// compacted into one level. That path finds no row whose value is in a blob file, with the plugin
// or without.
void Blobs(const std::string& folder) {
  for (auto compression : {rocksdb::kZSTD, rocksdb::kZlibCompression, rocksdb::kLZ4Compression, rocksdb::kNoCompression}) {
    for (bool ours_first : {true, false}) {
      Shape shape;
      shape.files = 3;
      Options ours = OptionsOf(shape);
      ours.max_open_files = 100;
      ours.enable_blob_files = true, ours.blob_compression_type = compression;
      ours.enable_blob_garbage_collection = true, ours.blob_garbage_collection_age_cutoff = 1.0;
      Options stock = ours;
      ours.compression_manager = linerate::NewCompressionManager();
      stock.compression_manager = nullptr;
      const std::string name = folder + "/" + std::to_string(compression) + (ours_first ? "ours" : "stock");
      for (bool first : {true, false}) {
        std::unique_ptr<DB> database;
        Check(DB::Open(first == ours_first ? ours : stock, name, &database), "open");
        for (unsigned file = 0; file < shape.files; file++) {
          for (unsigned row = 0; row < shape.rows; row += first ? 1 : 2) {
            Check(database->Put({}, Key(file, row), Row(shape, file, row)), "put");
          }
          Check(database->Flush({}), "flush");
        }
        ReadAll(*database, shape);
        if (first) continue;
        rocksdb::CompactRangeOptions whole;
        whole.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
        Check(database->CompactRange(whole, nullptr, nullptr), "compact");
        ReadAll(*database, shape);
      }
      unsigned blobs = 0;
      for (const auto& file : std::filesystem::directory_iterator(name)) blobs += file.path().extension() == ".blob";
      Want(blobs > 0, "blob files");
      ReadAll(*Open(stock, name, false), shape);
      ReadAll(*Open(stock, name, true), shape);
    }
  }
  Want(linerate::GetCounters().refused == 0, "something was refused");
}

// Options of a database in files that RocksDB 7 reads, written with the plugin, for other programs
// to rewrite.
Options OldOptions() {
  rocksdb::BlockBasedTableOptions table;
  table.format_version = 5;
  return OptionsOf(Shape(), table);
}

void MakeOld(const std::string& folder) {
  Options options = OldOptions();
  options.compression_manager = linerate::NewCompressionManager();
  Make(Shape(), folder, options);
}

void ReadOld(const std::string& folder) {
  for (bool ours : {true, false}) ReadAll(*Open(OldOptions(), folder, ours), Shape());
}

}  // namespace

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)(const std::string&);
  } tests[] = {{"formats", Formats}, {"damage", Damage}, {"dictionaries", Dictionaries}, {"registered", Registered}, {"shared", Shared}, {"threads", Threads},
               {"rewritten", Rewritten}, {"blobs", Blobs}, {"make-old", MakeOld}, {"read-old", ReadOld}};
  for (const auto& test : tests) {
    if (argc == 3 && argv[1] == std::string(test.name)) return test.run(argv[2]), 0;
  }
  if (argc == 3 && argv[1] == std::string("make")) return Make(Shape(), argv[2]), 0;
  Fail("check TEST FOLDER");
}
