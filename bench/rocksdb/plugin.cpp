// Measures reads from databases whose SST files each have their own dictionary: with RocksDB
// itself, with libzstd and digested dictionaries, and with Linerate's plugin. Also measures the
// same rows in as many files without dictionaries.
//
//   plugin [--NAME VALUE]... FOLDER
//
// Files are made in FOLDER and kept. Each contender has its own process, because by default Linux
// lets a process map only 65,530 files. In each round all contenders do the same operations, one
// after the other.
// Prints a measurement for each contender and operation as JSON Lines (records/README.md): `time`
// is the CPU time of a thread for an operation in microseconds, and `decompress` the time in
// DecompressBlock by RocksDB's own clock, from a separate round. Versions before RocksDB 10.4 have
// no compression managers, so only RocksDB itself is measured.

#include <fcntl.h>
#include <rocksdb/cache.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/perf_context.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "../../bindings/rocksdb/tests/cpp/databases.h"

#define HAS_MANAGERS (ROCKSDB_MAJOR > 10 || (ROCKSDB_MAJOR == 10 && ROCKSDB_MINOR >= 4))
#if HAS_MANAGERS
#include <linerate/rocksdb.h>

// The libzstd that RocksDB's library contains and exports.
extern "C" {
void* ZSTD_createDDict_byReference(const void* bytes, size_t len);
size_t ZSTD_freeDDict(void* dictionary);
size_t ZSTD_sizeof_DDict(const void* dictionary);
void* ZSTD_createDCtx();
size_t ZSTD_decompress_usingDDict(void* context, void* dst, size_t room, const void* src, size_t len, const void* dictionary);
}
#endif

namespace {

using rocksdb::Slice;
using rocksdb::Status;

#if HAS_MANAGERS
// libzstd with digested dictionaries, through the same interface of RocksDB as the plugin. That is
// the best way to use libzstd without changes to RocksDB.
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

std::shared_ptr<rocksdb::CompressionManager> Manager(const std::string& contender) {
  if (contender == "linerate") return linerate::NewCompressionManager();
  auto builtin = rocksdb::GetBuiltinV2CompressionManager();
  if (contender == "digested") return std::make_shared<DigestedManager>(builtin);
  return builtin;
}

// Bytes that the decompressor for a dictionary trained on these rows owns; 0 if RocksDB makes no
// dictionary of them.
size_t DictionaryBytes(rocksdb::CompressionManager& manager, const rocksdb::CompressionOptions& options,
                       const std::vector<std::string>& rows) {
  rocksdb::Compressor::DictSamples samples;
  const size_t most = options.zstd_max_train_bytes ? options.zstd_max_train_bytes : options.max_dict_bytes;
  for (const std::string& row : rows) {
    if (samples.sample_data.size() + row.size() > most) break;
    samples.sample_data += row;
    samples.sample_lens.push_back(row.size());
  }
  auto special = rocksdb::GetBuiltinV2CompressionManager()
                     ->GetCompressor(options, rocksdb::kZSTD)
                     ->MaybeCloneSpecialized(rocksdb::CacheEntryRole::kDataBlock, std::move(samples));
  if (!special) return 0;
  const std::string dictionary = special->GetSerializedDict().ToString();
  const rocksdb::CompressionType type = rocksdb::kZSTD;
  std::unique_ptr<rocksdb::Decompressor> decompressor;
  Check(manager.GetDecompressorForTypes(&type, &type + 1)->MaybeCloneForDict(dictionary, &decompressor), "a dictionary");
  return decompressor->ApproximateOwnedMemoryUsage();
}
#endif

// A mapped file whose descriptor is closed, because many systems do not allow 30,000 open files.
class MappedFile : public rocksdb::FSRandomAccessFile {
 public:
  MappedFile(const char* start, size_t len) : start_(start), len_(len) {}
  ~MappedFile() override { munmap(const_cast<char*>(start_), len_); }
  rocksdb::IOStatus Read(uint64_t offset, size_t n, const rocksdb::IOOptions&, Slice* result, char*,
                         rocksdb::IODebugContext*) const override {
    const size_t from = std::min<size_t>(offset, len_);
    *result = Slice(start_ + from, std::min(n, len_ - from));
    return rocksdb::IOStatus::OK();
  }

 private:
  const char* start_;
  size_t len_;
};

class MappedFiles : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "MappedFiles"; }
  rocksdb::IOStatus NewRandomAccessFile(const std::string& name, const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                        rocksdb::IODebugContext* context) override {
    if (!options.use_mmap_reads) return target()->NewRandomAccessFile(name, options, file, context);
    const int descriptor = open(name.c_str(), O_RDONLY | O_CLOEXEC);
    const off_t len = descriptor < 0 ? -1 : lseek(descriptor, 0, SEEK_END);
    void* start = len <= 0 ? MAP_FAILED : mmap(nullptr, len, PROT_READ, MAP_SHARED, descriptor, 0);
    if (descriptor >= 0) close(descriptor);
    if (start == MAP_FAILED) return rocksdb::IOStatus::IOError(name);
    file->reset(new MappedFile(static_cast<const char*>(start), len));
    return rocksdb::IOStatus::OK();
  }
};

double Seconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::map<std::string, std::string> given = {
    {"compression", "kZSTD"}, {"data", "json"}, {"files", "1500"}, {"rows", "150"},      {"dictionaries", "8K"}, {"block", "4K"},
    {"cache", "0"},           {"reads", "mapped"}, {"operations", "get"}, {"count", "6000"}, {"rounds", "21"},  {"none", "yes"}};

unsigned Number(const std::string& name) { return static_cast<unsigned>(std::stoul(given[name])); }

unsigned Bytes(const std::string& kib) { return static_cast<unsigned>(std::stoul(kib)) * 1024; }

std::vector<std::string> List(const std::string& text) {
  std::vector<std::string> parts;
  std::string part;
  std::istringstream in(text);
  while (std::getline(in, part, ',')) parts.push_back(part);
  return parts;
}

// The rows, if --data names a file of lines; empty if rows are generated.
std::vector<std::string> lines;

std::string RowOf(const Shape& shape, unsigned file, unsigned row) {
  if (lines.empty()) return Row(shape, file, row);
  // The rows of a file are consecutive lines, from a pseudo-random place on.
  return lines[(file * size_t{2654435761} + row) % lines.size()];
}

// A way to read a database (RocksDB alone, libzstd, the plugin), and the database.
struct Contender {
  std::string name;
  std::string dictionary;  // "8K", "raw 8K", or "" for none
  Shape shape;
  std::string database;
  pid_t process = 0;
  int socket = -1;
};

// Parts of an operation that RocksDB's own clocks measure, and the rest.
const char* const kParts[] = {"read", "checksum", "decompress", "search in blocks", "rest"};

// A contender process's answer to a request: its measurements of one operation.
struct Answer {
  double time, elapsed;              // CPU seconds and elapsed seconds for an operation
  double parts[std::size(kParts)];
  uint64_t sum;                      // number of bytes read, which is the same for all contenders
};

// What opening a database took.
struct Opened {
  double cpu, elapsed;        // seconds
  uint64_t resident, beside;  // bytes for each file: resident, and of a decompressor with a dictionary
};

rocksdb::Options OptionsFor(const Contender& contender) {
  rocksdb::BlockBasedTableOptions table;
  // --cache is a percentage of the content, because cached blocks are not compressed.
  size_t content = 0;
  for (unsigned row = 0; row < contender.shape.rows; row++) content += RowOf(contender.shape, 0, row).size() + 20;
  const size_t cache = content * contender.shape.files / 100 * Number("cache");
  table.no_block_cache = cache == 0;
  if (cache) table.block_cache = rocksdb::NewLRUCache(cache);
  return OptionsOf(contender.shape, table);
}

// Makes the missing SST files with two threads, and a database of the wanted number of them.
void Provide(Contender& contender, const std::string& folder) {
  const Shape& shape = contender.shape;
  const std::string name = shape.compression + "-" + given["data"] + "-" + given["rows"] + "-" +
                           (contender.dictionary.empty() ? "none" : contender.dictionary) + "-" + given["block"];
  const std::string tables = folder + "/" + name + "-tables";
  contender.database = folder + "/" + name + "-" + given["files"];
  if (std::filesystem::exists(contender.database + "/made")) return;
  std::filesystem::remove_all(contender.database);
  std::filesystem::create_directories(contender.database);
  std::filesystem::create_directories(tables);
  rocksdb::Options options = OptionsFor(contender);
  options.max_open_files = 1000;
  std::vector<std::string> names(shape.files);
  std::atomic<unsigned> next{0};
  auto make = [&] {
    for (unsigned file; (file = next++) < shape.files;) {
      const std::string table = tables + "/" + std::to_string(file) + ".sst";
      if (!std::filesystem::exists(table)) {
        WriteFile(shape, options, file, table + ".new", [&](unsigned f, unsigned n) { return RowOf(shape, f, n); });
        std::filesystem::rename(table + ".new", table);
      }
      names[file] = contender.database + "/new" + std::to_string(file) + ".sst";
      std::filesystem::create_hard_link(table, names[file]);
    }
  };
  std::thread other(make);
  make();
  other.join();
  Ingest(options, contender.database, names);
  std::ofstream(contender.database + "/made");
}

// Runs the operations of one thread. Returns the number of bytes read.
uint64_t Read(rocksdb::DB& database, const Shape& shape, const std::string& operation, unsigned count, unsigned seed) {
  std::mt19937 random(seed);
  uint64_t sum = 0;
  for (unsigned n = 0; n < count; n++) {
    const unsigned file = random() % shape.files, row = random() % shape.rows;
    if (operation == "get") {
      rocksdb::PinnableSlice found;
      Check(database.Get({}, database.DefaultColumnFamily(), Key(file, row), &found), "get");
      sum += found.size();
    } else if (operation.starts_with("multiget")) {
      std::vector<std::string> keys;
      for (int i = 0; i < 64; i++) keys.push_back(Key(random() % shape.files, random() % shape.rows));
      std::sort(keys.begin(), keys.end());
      std::vector<Slice> slices(keys.begin(), keys.end());
      std::vector<rocksdb::PinnableSlice> found(64);
      std::vector<Status> status(64);
      rocksdb::ReadOptions options;
      options.async_io = operation == "multiget-async";
      database.MultiGet(options, database.DefaultColumnFamily(), 64, slices.data(), found.data(), status.data(), true);
      for (int i = 0; i < 64; i++) Check(status[i], "multiget"), sum += found[i].size();
    } else {
      std::unique_ptr<rocksdb::Iterator> rows(database.NewIterator({}));
      rows->Seek(Key(file, row));
      for (int i = 0; i < 100 && rows->Valid(); i++, rows->Next()) sum += rows->value().size();
      Check(rows->status(), "iterator");
    }
  }
  return sum;
}

struct Operation {
  const char* name;
  const char* title;
  unsigned reads;  // how many times as long as a Get it takes, about: --count is divided by it
  unsigned threads;
};
const Operation kOperations[] = {{"get", "Get", 1, 1},
                                 {"get2", "Get", 1, 2},
                                 {"multiget", "MultiGet of 64", 64, 1},
                                 {"multiget-async", "MultiGet of 64, async", 64, 1},
                                 {"iterate", "iterator, 100 rows", 20, 1}};

const Operation& OperationOf(const std::string& name) {
  for (const Operation& operation : kOperations) {
    if (name == operation.name) return operation;
  }
  std::fprintf(stderr, "plugin: no operation is named %s\n", name.c_str());
  std::exit(2);
}

Answer Measure(rocksdb::DB& database, const Shape& shape, const std::string& name, unsigned round, bool clocks) {
  const Operation& operation = OperationOf(name);
  const unsigned count = std::max(50u, Number("count") / operation.reads / operation.threads);
  std::vector<Answer> answers(operation.threads);
  auto run = [&](unsigned thread) {
    rocksdb::SetPerfLevel(clocks ? rocksdb::PerfLevel::kEnableTime : rocksdb::PerfLevel::kDisable);
    rocksdb::get_perf_context()->Reset();
    Answer& answer = answers[thread];
    const double cpu = Seconds(CLOCK_THREAD_CPUTIME_ID), start = Seconds(CLOCK_MONOTONIC);
    answer.sum = Read(database, shape, operation.threads > 1 ? "get" : name, count, round * 2 + thread);
    answer.time = (Seconds(CLOCK_THREAD_CPUTIME_ID) - cpu) / count;
    answer.elapsed = (Seconds(CLOCK_MONOTONIC) - start) / count;
    const rocksdb::PerfContext& context = *rocksdb::get_perf_context();
    const uint64_t parts[] = {context.block_read_time, context.block_checksum_time,
                              context.block_decompress_time, context.block_seek_nanos};
    double rest = answer.elapsed;
    for (size_t part = 0; part < std::size(parts); part++) {
      answer.parts[part] = static_cast<double>(parts[part]) * 1e-9 / count;
      rest -= answer.parts[part];
    }
    answer.parts[std::size(parts)] = rest;
  };
  std::vector<std::thread> others;
  for (unsigned thread = 1; thread < operation.threads; thread++) others.emplace_back(run, thread);
  run(0);
  for (std::thread& other : others) other.join();
  Answer mean = answers[0];
  for (unsigned thread = 1; thread < operation.threads; thread++) {
    mean.time += answers[thread].time, mean.elapsed += answers[thread].elapsed;
    mean.sum += answers[thread].sum;
  }
  mean.time /= operation.threads, mean.elapsed /= operation.threads;
  return mean;
}

// Resident anonymous memory of this process, in bytes.
uint64_t Resident() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    uint64_t kib = 0;
    if (word == "RssAnon:" && status >> kib) return kib * 1024;
  }
  return 0;
}

struct Request {
  char operation[16];
  unsigned round;
  bool clocks;
};

// The process of a contender: opens the database, then measures the requested operations.
[[noreturn]] void Serve(const Contender& contender, int socket) {
  rocksdb::Options options = OptionsFor(contender);
  Opened opened = {};
#if HAS_MANAGERS
  options.compression_manager = Manager(contender.name);
  std::vector<std::string> rows;
  for (unsigned row = 0; row < contender.shape.rows; row++) rows.push_back(RowOf(contender.shape, 0, row));
  if (!contender.dictionary.empty()) opened.beside = DictionaryBytes(*options.compression_manager, options.compression_opts, rows);
#endif
  options.max_open_files = -1;
  options.allow_mmap_reads = given["reads"] == "mapped";
  const std::unique_ptr<rocksdb::Env> env =
      rocksdb::NewCompositeEnv(std::make_shared<MappedFiles>(rocksdb::FileSystem::Default()));
  options.env = env.get();
  options.use_direct_reads = given["reads"] == "direct";
  const uint64_t before = Resident();
  const double cpu = Seconds(CLOCK_PROCESS_CPUTIME_ID), start = Seconds(CLOCK_MONOTONIC);
#if ROCKSDB_MAJOR < 11
  rocksdb::DB* database = nullptr;
#else
  std::unique_ptr<rocksdb::DB> database;
#endif
  Check(rocksdb::DB::OpenForReadOnly(options, contender.database, &database), contender.database.c_str());
  opened.cpu = Seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu, opened.elapsed = Seconds(CLOCK_MONOTONIC) - start;
  // A block of each file is read first, so that memory that is allocated when a dictionary is first
  // used also counts.
  std::unique_ptr<rocksdb::Iterator> first(database->NewIterator({}));
  for (unsigned file = 0; file < contender.shape.files; file++) first->Seek(Key(file, 0));
  first.reset();
  const uint64_t after = Resident();
  opened.resident = after > before ? (after - before) / contender.shape.files : 0;
  if (write(socket, &opened, sizeof opened) < 0) std::exit(1);
  for (Request request; read(socket, &request, sizeof request) == sizeof request;) {
    const Answer answer = Measure(*database, contender.shape, request.operation, request.round, request.clocks);
    if (write(socket, &answer, sizeof answer) < 0) std::exit(1);
  }
  std::_Exit(0);
}

template <typename T>
T Receive(const Contender& contender) {
  T answer;
  if (read(contender.socket, &answer, sizeof answer) == sizeof answer) return answer;
  std::fprintf(stderr, "the process of %s, %s, ended\n", contender.name.c_str(), contender.database.c_str());
  std::exit(1);
}

// Prints the beginning of a line, up to its metrics. `part` is the step of the operation that the
// line is about, if any, and `base` the contender that it compares with, if any.
void Begin(const Contender& contender, const std::string& operation, unsigned threads, const char* part = nullptr,
           const char* base = nullptr) {
  std::string compression = contender.shape.compression.substr(1, contender.shape.compression.size() - 12);
  if (contender.shape.compression == "kZSTD") compression = "ZSTD";
  if (contender.shape.compression == "kNoCompression") compression = "none";
  std::printf("{\"shape\":\"%s\",\"data\":\"%s\",\"contender\":\"%s\",\"params\":{\"operation\":\"%s\",\"threads\":%u,"
              "\"compression\":\"%s\",\"files\":%u,\"rows\":%u,\"block\":\"%s\",\"reads\":\"%s\"",
              part ? "rocksdb-parts" : "rocksdb", std::filesystem::path(given["data"]).stem().c_str(), contender.name.c_str(), operation.c_str(), threads,
              compression.c_str(), contender.shape.files, contender.shape.rows, given["block"].c_str(), given["reads"].c_str());
  if (!contender.dictionary.empty()) std::printf(",\"dictionary\":\"%s\"", contender.dictionary.c_str());
  if (given["cache"] != "0") std::printf(",\"cache\":\"%s %%\"", given["cache"].c_str());
  if (part) std::printf(",\"step\":\"%s\"", part);
  if (base) std::printf(",\"base\":\"%s\"", base);
  std::printf("},\"metrics\":{");
}

void Print(const char* metric, std::vector<double> rounds, const char* end = ",") {
  std::sort(rounds.begin(), rounds.end());
  std::printf("\"%s\":{\"median\":%.3f,\"low\":%.3f,\"high\":%.3f}%s", metric, rounds[rounds.size() / 2], rounds.front(), rounds.back(),
              end);
}

// Prints the plugin's speed relative to each other contender with the same dictionary or with none,
// one on each line. The quotients are taken within a round, in which the machine is as fast for
// both.
void PrintQuotients(const std::vector<Contender>& contenders, const std::vector<std::vector<double>>& times, const Operation& operation) {
  for (size_t which = 0; which < contenders.size(); which++) {
    const Contender& ours = contenders[which];
    if (ours.name != "linerate") continue;
    for (size_t other = 0; other < contenders.size(); other++) {
      const Contender& base = contenders[other];
      if (base.name == "linerate" || (base.dictionary != ours.dictionary && !base.dictionary.empty())) continue;
      std::vector<double> quotients;
      for (size_t round = 0; round < times[which].size(); round++) quotients.push_back(times[other][round] / times[which][round]);
      const bool none = base.dictionary != ours.dictionary;
      Begin(ours, operation.title, operation.threads, nullptr, none ? "no dictionary" : base.name.c_str());
      Print("speed_by_base", quotients, "}}\n");
    }
  }
}

void Compare(std::vector<Contender>& contenders, const std::string& name) {
  const unsigned rounds = Number("rounds");
  std::vector<std::vector<double>> times(contenders.size()), elapsed(contenders.size());
  std::vector<Answer> last(contenders.size());
  // The first round warms up and does not count; an additional last one measures the parts of the
  // time by RocksDB's clocks.
  for (unsigned round = 0; round <= rounds + 1; round++) {
    uint64_t sum = 0;
    for (size_t turn = 0; turn < contenders.size(); turn++) {
      const size_t which = (turn + round) % contenders.size();
      Request request = {"", round, round > rounds};
      std::snprintf(request.operation, sizeof request.operation, "%s", name.c_str());
      if (write(contenders[which].socket, &request, sizeof request) < 0) std::exit(1);
      const Answer answer = Receive<Answer>(contenders[which]);
      if (turn > 0 && answer.sum != sum) std::fprintf(stderr, "the contenders read different rows\n"), std::exit(1);
      sum = answer.sum;
      last[which] = answer;
      if (round == 0 || round > rounds) continue;
      times[which].push_back(answer.time * 1e6), elapsed[which].push_back(answer.elapsed * 1e6);
    }
  }
  const Operation& operation = OperationOf(name);
  for (size_t which = 0; which < contenders.size(); which++) {
    Begin(contenders[which], operation.title, operation.threads);
    Print("time", times[which]);
    if (operation.threads > 1) Print("elapsed_time", elapsed[which]);
    std::printf("\"decompress\":%.3f}}\n", last[which].parts[2] * 1e6);
    if (operation.reads > 1 || operation.threads > 1) continue;
    for (size_t part = 0; part < std::size(kParts); part++) {
      Begin(contenders[which], operation.title, 1, kParts[part]);
      std::printf("\"time\":%.3f}}\n", last[which].parts[part] * 1e6);
    }
  }
  PrintQuotients(contenders, times, operation);
}

}  // namespace

int main(int argc, char** argv) {
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
  Shape shape;
  shape.compression = given["compression"], shape.files = Number("files"), shape.rows = Number("rows");
  shape.block = Bytes(given["block"]), shape.kind = given["data"];
  if (std::filesystem::is_regular_file(given["data"])) {
    std::ifstream in(given["data"]);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    shape.kind = given["data"] = std::filesystem::path(given["data"]).stem();
  }
  std::vector<Contender> contenders;
  auto add = [&](const char* name, const std::string& dictionary) {
    Contender contender = {name, dictionary, shape, {}};
    contender.shape.trained = !dictionary.starts_with("raw ");
    contender.shape.dictionary = dictionary.empty() ? 0 : Bytes(dictionary.substr(contender.shape.trained ? 0 : 4));
    Provide(contender, folder);
    contenders.push_back(std::move(contender));
  };
#if HAS_MANAGERS
  for (const std::string& dictionary : List(given["dictionaries"])) {
    for (const char* name : {"builtin", "digested", "linerate"}) add(name, dictionary);
  }
  if (given["none"] == "yes") add("builtin", ""), add("linerate", "");
#else
  const std::string name = "RocksDB " + rocksdb::GetRocksVersionAsString(true);
  for (const std::string& dictionary : List(given["dictionaries"])) add(name.c_str(), dictionary);
  if (given["none"] == "yes") add(name.c_str(), "");
#endif
  for (Contender& contender : contenders) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return std::perror("socketpair"), 1;
    contender.process = fork();
    if (contender.process == 0) close(pair[0]), Serve(contender, pair[1]);
    close(pair[1]);
    contender.socket = pair[0];
    // Waits, so that contenders open their databases one after the other.
    const Opened opened = Receive<Opened>(contender);
    uint64_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(contender.database)) {
      if (file.path().extension() == ".sst") bytes += file.file_size();
    }
    Begin(contender, "open", 1);
    std::printf("\"elapsed\":%.3f,\"cpu\":%.3f,\"per_file\":%lu,\"output\":%lu,", opened.elapsed, opened.cpu,
                static_cast<unsigned long>(opened.resident), static_cast<unsigned long>(bytes / shape.files));
    std::printf("\"beside\":%lu}}\n", static_cast<unsigned long>(opened.beside));
  }
  for (const std::string& operation : List(given["operations"])) Compare(contenders, operation);
  // Other processes have copies of the sockets, so closing them would not end the processes.
  for (Contender& contender : contenders) shutdown(contender.socket, SHUT_RDWR), waitpid(contender.process, nullptr, 0);
}
