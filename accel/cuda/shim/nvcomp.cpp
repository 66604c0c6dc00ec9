// A test double of NVIDIA's library nvCOMP, for programs that run on the double of the driver. A
// "compressed" chunk is the number of bytes as a 64-bit number, followed by the bytes themselves.
// The double has the entry points that examples/gpu/nvcomp.rs calls, and checks the options that
// are passed to them.
//
// With -DNVCOMP_HEADER the declarations are NVIDIA's, from the wheel in ../requirements.txt. The
// file then compiles only if NVIDIA's functions have the prototypes that are defined here, if all
// fields and constants that are named here exist, and if options have 64 bytes. Values of constants
// and the order of fields are not compared.
#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef NVCOMP_HEADER
#include <nvcomp.h>
#define ENTRY extern "C"
#else
#define ENTRY extern "C" __attribute__((visibility("default")))
typedef struct CUstream_st *cudaStream_t;
enum nvcompStatus_t { nvcompSuccess = 0, nvcompErrorInvalidValue = 10, nvcompErrorCannotDecompress = 12 };
enum nvcompType_t { NVCOMP_TYPE_CHAR = 0, NVCOMP_TYPE_SHORT = 2, NVCOMP_TYPE_BITS = 0xff };
enum nvcompDecompressBackend_t { NVCOMP_DECOMPRESS_BACKEND_DEFAULT = 0, NVCOMP_DECOMPRESS_BACKEND_CUDA = 2 };
enum nvcompCascadedMode_t { NVCOMP_CASCADED_MODE_ASYMMETRIC = 1 };
enum nvcompANSType_t { nvcomp_rANS };
enum bitcompMode_t { BITCOMP_LOSSLESS = 0, BITCOMP_LOSSY_FP_TO_SIGNED };
constexpr uint64_t NVCOMP_CASCADED_TERMINAL_CODEC_CASCADED_BITPACK = 1;
constexpr uint64_t NVCOMP_CASCADED_FINE_GRAINED_ENCODING_ALL = 7;
struct nvcompProperties_t {
  uint32_t version, cudart_version;
};
struct nvcompAlignmentRequirements_t {
  size_t input, output, temp;
};
struct nvcompCascadedCommonOpts_t {
  nvcompType_t data_type;
  nvcompCascadedMode_t mode;
  uint64_t terminal_codec_flags, coarse_grained_encoding_flags;
};
struct nvcompBatchedCascadedCompressOpts_t {
  nvcompCascadedCommonOpts_t common_opts;
  uint64_t fine_grained_encoding_flags;
  uint8_t compression_level;
  char reserved[31];
};
struct nvcompBatchedCascadedDecompressOpts_t {
  nvcompDecompressBackend_t backend;
  nvcompCascadedCommonOpts_t common_opts;
  char reserved[32];
};
struct nvcompBatchedBitcompCompressOpts_t {
  int algorithm;
  nvcompType_t data_type;
  double delta;
  bitcompMode_t mode;
  char reserved[44];
};
struct nvcompBatchedBitcompDecompressOpts_t {
  nvcompDecompressBackend_t backend;
  char reserved[60];
};
struct nvcompBatchedANSCompressOpts_t {
  nvcompANSType_t type;
  nvcompType_t data_type;
  uint8_t max_sub_chunk_count, states_per_lane, histogram_reduction_log2;
  char reserved[53];
};
struct nvcompBatchedANSDecompressOpts_t {
  nvcompDecompressBackend_t backend;
  nvcompType_t data_type;
  uint8_t max_sub_chunk_count, states_per_lane, skip_validate;
  char reserved[53];
};
#endif

namespace {

bool zeros(const char *reserved, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (reserved[i] != 0) return false;
  return true;
}
template <class Options> bool no_reserved(const Options &o) { return zeros(o.reserved, sizeof o.reserved); }

bool are_common(const nvcompCascadedCommonOpts_t &o) {
  return o.data_type == NVCOMP_TYPE_SHORT && o.mode == NVCOMP_CASCADED_MODE_ASYMMETRIC &&
         o.terminal_codec_flags == NVCOMP_CASCADED_TERMINAL_CODEC_CASCADED_BITPACK &&
         o.coarse_grained_encoding_flags == 0;
}

// Whether the options are those that examples/gpu/nvcomp.rs passes for 16-bit samples.
bool expected(const nvcompBatchedCascadedCompressOpts_t &o) {
  return are_common(o.common_opts) && o.fine_grained_encoding_flags == NVCOMP_CASCADED_FINE_GRAINED_ENCODING_ALL &&
         o.compression_level == 7 && no_reserved(o);
}
bool expected(const nvcompBatchedCascadedDecompressOpts_t &o) {
  return o.backend == NVCOMP_DECOMPRESS_BACKEND_DEFAULT && are_common(o.common_opts) && no_reserved(o);
}
bool expected(const nvcompBatchedBitcompCompressOpts_t &o) {
  return o.algorithm == 0 && o.data_type == NVCOMP_TYPE_SHORT && o.delta == 0 && o.mode == BITCOMP_LOSSLESS &&
         no_reserved(o);
}
bool expected(const nvcompBatchedBitcompDecompressOpts_t &o) {
  return o.backend == NVCOMP_DECOMPRESS_BACKEND_DEFAULT && no_reserved(o);
}
bool expected(const nvcompBatchedANSCompressOpts_t &o) {
  return o.type == nvcomp_rANS && o.data_type == NVCOMP_TYPE_CHAR && o.max_sub_chunk_count == 0 &&
         o.states_per_lane == 0 && o.histogram_reduction_log2 == 0 && no_reserved(o);
}
bool expected(const nvcompBatchedANSDecompressOpts_t &o) {
  return o.backend == NVCOMP_DECOMPRESS_BACKEND_DEFAULT && o.data_type == NVCOMP_TYPE_CHAR &&
         o.max_sub_chunk_count == 0 && o.states_per_lane == 0 && o.skip_validate == 0 && no_reserved(o);
}
template <class Options> constexpr bool is_64_bytes = sizeof(Options) == 64 && alignof(Options) <= 8;

constexpr size_t HEAD = 8, TEMP = 24;

// Whether the scratch has at least the size that GetTempSize asks for. If so, overwrites the
// scratch, as nvCOMP may.
bool has_temp(void *temp, size_t bytes) {
  if (bytes < TEMP || temp == nullptr) return false;
  std::memset(temp, 0xa5, bytes);
  return true;
}

nvcompStatus_t compress(const void *const *plain, const size_t *sizes, size_t most, size_t count, void *const *packed,
                        size_t *packed_sizes, nvcompStatus_t *statuses) {
  for (size_t i = 0; i < count; i++) {
    if (sizes[i] > most || sizes[i] % 2 != 0) return nvcompErrorInvalidValue;
    std::memcpy(packed[i], &sizes[i], HEAD);
    std::memcpy(static_cast<char *>(packed[i]) + HEAD, plain[i], sizes[i]);
    packed_sizes[i] = HEAD + sizes[i];
    statuses[i] = nvcompSuccess;
  }
  return nvcompSuccess;
}

nvcompStatus_t decompress(const void *const *packed, const size_t *packed_sizes, const size_t *capacities,
                          size_t *sizes, size_t count, void *const *plain, nvcompStatus_t *statuses) {
  for (size_t i = 0; i < count; i++) {
    std::memcpy(&sizes[i], packed[i], HEAD);
    statuses[i] = nvcompErrorCannotDecompress;
    if (sizes[i] > capacities[i] || packed_sizes[i] != HEAD + sizes[i]) continue;
    std::memcpy(plain[i], static_cast<const char *>(packed[i]) + HEAD, sizes[i]);
    statuses[i] = nvcompSuccess;
  }
  return nvcompSuccess;
}

} // namespace

ENTRY nvcompStatus_t nvcompGetProperties(nvcompProperties_t *properties) {
  *properties = {6000, 12090};
  return nvcompSuccess;
}

#define ALGORITHM(NAME)                                                                                               \
  static_assert(is_64_bytes<nvcompBatched##NAME##CompressOpts_t> && is_64_bytes<nvcompBatched##NAME##DecompressOpts_t>); \
  ENTRY nvcompStatus_t nvcompBatched##NAME##CompressGetRequiredAlignments(                                            \
      nvcompBatched##NAME##CompressOpts_t options, nvcompAlignmentRequirements_t *out) {                              \
    *out = {8, 16, 8};                                                                                                \
    return expected(options) ? nvcompSuccess : nvcompErrorInvalidValue;                                               \
  }                                                                                                                   \
  ENTRY nvcompStatus_t nvcompBatched##NAME##DecompressGetRequiredAlignments(                                          \
      nvcompBatched##NAME##DecompressOpts_t options, nvcompAlignmentRequirements_t *out) {                            \
    *out = {16, 8, 8};                                                                                                \
    return expected(options) ? nvcompSuccess : nvcompErrorInvalidValue;                                               \
  }                                                                                                                   \
  ENTRY nvcompStatus_t nvcompBatched##NAME##CompressGetTempSize(                                                      \
      size_t count, size_t most, nvcompBatched##NAME##CompressOpts_t options, size_t *out, size_t total,              \
      cudaStream_t) {                                                                                                 \
    *out = TEMP;                                                                                                      \
    return expected(options) && total <= count * most ? nvcompSuccess : nvcompErrorInvalidValue;                      \
  }                                                                                                                   \
  ENTRY nvcompStatus_t nvcompBatched##NAME##DecompressGetTempSize(                                                    \
      size_t count, size_t most, nvcompBatched##NAME##DecompressOpts_t options, size_t *out, size_t total,            \
      cudaStream_t) {                                                                                                 \
    *out = TEMP;                                                                                                      \
    return expected(options) && total <= count * most ? nvcompSuccess : nvcompErrorInvalidValue;                      \
  }                                                                                                                   \
  ENTRY nvcompStatus_t nvcompBatched##NAME##CompressGetMaxOutputChunkSize(                                            \
      size_t most, nvcompBatched##NAME##CompressOpts_t options, size_t *out) {                                        \
    *out = HEAD + most;                                                                                               \
    return expected(options) ? nvcompSuccess : nvcompErrorInvalidValue;                                               \
  }                                                                                                                   \
  ENTRY nvcompStatus_t nvcompBatched##NAME##CompressAsync(                                                            \
      const void *const *plain, const size_t *sizes, size_t most, size_t count, void *temp, size_t temp_bytes,        \
      void *const *packed, size_t *packed_sizes, nvcompBatched##NAME##CompressOpts_t options,                         \
      nvcompStatus_t *statuses, cudaStream_t) {                                                                       \
    if (!expected(options) || !has_temp(temp, temp_bytes)) return nvcompErrorInvalidValue;                            \
    return compress(plain, sizes, most, count, packed, packed_sizes, statuses);                                       \
  }                                                                                                                   \
  ENTRY nvcompStatus_t nvcompBatched##NAME##DecompressAsync(                                                          \
      const void *const *packed, const size_t *packed_sizes, const size_t *capacities, size_t *sizes, size_t count,   \
      void *temp, size_t temp_bytes, void *const *plain, nvcompBatched##NAME##DecompressOpts_t options,               \
      nvcompStatus_t *statuses, cudaStream_t) {                                                                       \
    if (!expected(options) || !has_temp(temp, temp_bytes)) return nvcompErrorInvalidValue;                            \
    return decompress(packed, packed_sizes, capacities, sizes, count, plain, statuses);                               \
  }

ALGORITHM(Cascaded)
ALGORITHM(Bitcomp)
ALGORITHM(ANS)
