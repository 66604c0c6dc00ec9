// The C++ half of the plugin: adapters between RocksDB's interfaces and the functions of
// ../src/functions.rs.

#include "linerate/rocksdb.h"

#include <rocksdb/options.h>
#include <rocksdb/status.h>
#include <rocksdb/utilities/object_registry.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

extern "C" {
struct linerate_rocksdb_dictionary;

struct linerate_rocksdb_verdict {
  const char* message;  // len bytes without a final zero; null if the block was decoded
  size_t len;
  uint64_t offset;
};

linerate_rocksdb_dictionary* linerate_rocksdb_dictionary_new(const char* bytes, size_t len);
void linerate_rocksdb_dictionary_free(linerate_rocksdb_dictionary* dictionary);
size_t linerate_rocksdb_dictionary_memory(const linerate_rocksdb_dictionary* dictionary);
void linerate_rocksdb_prefetch(const linerate_rocksdb_dictionary* dictionary);
linerate_rocksdb_verdict linerate_rocksdb_zstd(const linerate_rocksdb_dictionary* dictionary, const char* src,
                                               size_t src_len, char* dst, size_t dst_len);
linerate_rocksdb_verdict linerate_rocksdb_zlib(const char* dictionary, size_t dictionary_len, const char* src,
                                               size_t src_len, char* dst, size_t dst_len);
// Registers the manager with RocksDB, for option strings. linerate.mk names this function, and a
// RocksDB that was built with the plugin calls it. Returns the number of kinds of objects that were
// registered.
int linerate_rocksdb_register(rocksdb::ObjectLibrary& library, const std::string& argument);
}

namespace linerate {
namespace {

using rocksdb::CompressionManager;
using rocksdb::CompressionType;
using rocksdb::Decompressor;
using rocksdb::Slice;
using rocksdb::Status;

constexpr const char* kName = "Linerate";
constexpr const char* kBuiltin = "BuiltinV2";

// Threads add one to a counter for each block that they decode. Each counter has a cache line of
// its own, so that counting zstd blocks does not slow down counting zlib blocks.
struct alignas(64) Counter {
  std::atomic<uint64_t> value{0};
  void Add() { value.fetch_add(1, std::memory_order_relaxed); }
  uint64_t Get() const { return value.load(std::memory_order_relaxed); }
};
Counter dictionaries, zstd_blocks, zlib_blocks, refused;

bool Decodes(CompressionType type) { return type == rocksdb::kZSTD || type == rocksdb::kZlibCompression; }

class LinerateDecompressor : public rocksdb::DecompressorWrapper {
 public:
  using DecompressorWrapper::DecompressorWrapper;

  const char* Name() const override { return "LinerateDecompressor"; }

  // RocksDB keeps `dictionary` as long as the decompressor, beside it in the block cache.
  Status MaybeCloneForDict(const Slice& dictionary, std::unique_ptr<Decompressor>* out) override;

  // For zstd and zlib, does the same as the built-in decompressor without reading its memory, which
  // may not be in the CPU's caches.
  Status ExtractUncompressedSize(Args& args) override {
    return Decodes(args.compression_type) ? Decompressor::ExtractUncompressedSize(args)
                                          : wrapped_->ExtractUncompressedSize(args);
  }

  Status DecompressBlock(const Args& args, char* out) override {
    return Decompress(nullptr, Slice("", 0), args, out);
  }

 protected:
  Status Decompress(const linerate_rocksdb_dictionary* digest, const Slice& dictionary, const Args& args,
                    char* out) {
    const Slice& block = args.compressed_data;
    linerate_rocksdb_verdict verdict;
    Counter* decoded;
    switch (args.compression_type) {
      case rocksdb::kZSTD:
        verdict = linerate_rocksdb_zstd(digest, block.data(), block.size(), out, args.uncompressed_size);
        decoded = &zstd_blocks;
        break;
      case rocksdb::kZlibCompression:
        verdict = linerate_rocksdb_zlib(dictionary.data(), dictionary.size(), block.data(), block.size(), out,
                                        args.uncompressed_size);
        decoded = &zlib_blocks;
        break;
      default:
        return wrapped_->DecompressBlock(args, out);
    }
    if (!verdict.message) {
      decoded->Add();
      return Status::OK();
    }
    // Linerate could not decode the block. The built-in decompressor decides, so that every block
    // that it can decode is read.
    refused.Add();
    if (wrapped_->DecompressBlock(args, out).ok()) return Status::OK();
    return Status::Corruption("Linerate: " + std::string(verdict.message, verdict.len),
                              "at byte " + std::to_string(verdict.offset) + " of a compressed block");
  }
};

struct FreeDictionary {
  void operator()(linerate_rocksdb_dictionary* digest) const { linerate_rocksdb_dictionary_free(digest); }
};
using Digest = std::unique_ptr<linerate_rocksdb_dictionary, FreeDictionary>;

// Decompresses the blocks of a file with its dictionary. `wrapped_` is the built-in decompressor
// with the same dictionary.
class DictionaryDecompressor : public LinerateDecompressor {
 public:
  DictionaryDecompressor(std::shared_ptr<Decompressor> wrapped, Digest digest, const Slice& dictionary)
      : LinerateDecompressor(std::move(wrapped)), digest_(std::move(digest)), dictionary_(dictionary) {}

  const Slice& GetSerializedDict() const override { return dictionary_; }

  size_t ApproximateOwnedMemoryUsage() const override {
    return sizeof(*this) + linerate_rocksdb_dictionary_memory(digest_.get()) + wrapped_->ApproximateOwnedMemoryUsage();
  }

  // RocksDB calls this first for a block, and then allocates the output. The tables of the
  // dictionary can arrive in the CPU's caches meanwhile.
  Status ExtractUncompressedSize(Args& args) override {
    if (args.compression_type == rocksdb::kZSTD) linerate_rocksdb_prefetch(digest_.get());
    return LinerateDecompressor::ExtractUncompressedSize(args);
  }

  Status DecompressBlock(const Args& args, char* out) override {
    return Decompress(digest_.get(), dictionary_, args, out);
  }

 private:
  const Digest digest_;
  const Slice dictionary_;
};

Status LinerateDecompressor::MaybeCloneForDict(const Slice& dictionary, std::unique_ptr<Decompressor>* out) {
  std::unique_ptr<Decompressor> builtin;
  Status status = wrapped_->MaybeCloneForDict(dictionary, &builtin);
  if (!status.ok()) return status;
  Digest digest(linerate_rocksdb_dictionary_new(dictionary.data(), dictionary.size()));
  if (!digest) {
    refused.Add();
    *out = std::move(builtin);
    return status;
  }
  dictionaries.Add();
  *out = std::make_unique<DictionaryDecompressor>(std::move(builtin), std::move(digest), dictionary);
  return status;
}

class LinerateCompressionManager : public rocksdb::CompressionManagerWrapper {
 public:
  // Wraps the general decompressor of `base`. The decompressor of `base` for zstd may also digest
  // dictionaries with libzstd, and nothing would use these digests.
  explicit LinerateCompressionManager(std::shared_ptr<CompressionManager> base)
      : CompressionManagerWrapper(std::move(base)),
        decompressor_(std::make_shared<LinerateDecompressor>(wrapped_->GetDecompressor())) {}

  const char* Name() const override { return kName; }

  std::shared_ptr<Decompressor> GetDecompressor() override { return decompressor_; }

  std::shared_ptr<Decompressor> GetDecompressorOptimizeFor(CompressionType type) override {
    return Decodes(type) ? decompressor_ : wrapped_->GetDecompressorOptimizeFor(type);
  }

  std::shared_ptr<Decompressor> GetDecompressorForTypes(const CompressionType* begin,
                                                        const CompressionType* end) override {
    return std::any_of(begin, end, Decodes) ? decompressor_ : wrapped_->GetDecompressorForTypes(begin, end);
  }

 private:
  const std::shared_ptr<Decompressor> decompressor_;
};

// Returns whether the RocksDB of this process has the version of the headers that this file was
// compiled with. RocksDB's C++ classes have no stable layout.
bool IsRocksDbOfHeaders() {
  static const std::string headers = std::to_string(ROCKSDB_MAJOR) + '.' + std::to_string(ROCKSDB_MINOR) + '.';
  return rocksdb::GetRocksVersionAsString(true).compare(0, headers.size(), headers) == 0;
}

// Registers the manager when the library is loaded, after RocksDB.
const bool registered =
    IsRocksDbOfHeaders() && linerate_rocksdb_register(*rocksdb::ObjectLibrary::Default(), "") > 0;

}  // namespace

std::shared_ptr<CompressionManager> NewCompressionManager(std::shared_ptr<CompressionManager> base) {
  if (!IsRocksDbOfHeaders()) return nullptr;
  if (!base) base = rocksdb::GetBuiltinV2CompressionManager();
  if (Slice(base->CompatibilityName()) != kBuiltin) return base;
  return std::make_shared<LinerateCompressionManager>(std::move(base));
}

Counters GetCounters() {
  return {dictionaries.Get(), zstd_blocks.Get(), zlib_blocks.Get(), refused.Get()};
}

}  // namespace linerate

// Functions that RocksDB's build or the Java module finds by their names.
extern "C" {
int linerate_rocksdb_register(rocksdb::ObjectLibrary& library, const std::string&) {
  library.AddFactory<rocksdb::CompressionManager>(
      linerate::kName, [](const std::string&, std::unique_ptr<rocksdb::CompressionManager>* guard, std::string*) {
        *guard = std::make_unique<linerate::LinerateCompressionManager>(rocksdb::GetBuiltinV2CompressionManager());
        return guard->get();
      });
  return 1;
}

// Sets the manager in `options`. Returns false if RocksDB is of another version than the headers
// that this file was compiled with. It then does not touch `options`, whose layout is unknown.
bool linerate_rocksdb_use(rocksdb::ColumnFamilyOptions* options) {
  auto manager = linerate::NewCompressionManager();
  if (!manager) return false;
  options->compression_manager = std::move(manager);
  return true;
}

linerate::Counters linerate_rocksdb_counters() { return linerate::GetCounters(); }
}
