// A test double of the CUDA driver library that runs on the CPU. It has the functions that the
// crate linerate-cuda and the tests call, and a few more. LINERATE_CUDA_DRIVER names it to be
// loaded in place of libcuda.so.1. Work on streams is done at once, in the order of the calls.
//
// Accesses to device memory are checked. With AddressSanitizer, an allocation is a heap block of
// exact size. Without it, an allocation ends within 256 bytes of a page that cannot be accessed,
// and freeing it checks that the bytes between were not written. Copies must lie within one
// allocation. New device memory is filled with 0xa5.
#include "grid.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#else
#define WITH_ASAN 0
#endif

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

// Values of CUresult, with the numbers of the driver API's reference.
enum Status {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  INVALID_CONTEXT = 201,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  LAUNCH_FAILED = 719,
};

using Pointer = unsigned long long;

struct Allocation {
  size_t bytes;
  void *mapping; // start of the pages of an allocation, without AddressSanitizer
  size_t mapped;
};

std::recursive_mutex lock;
std::map<Pointer, Allocation> allocations; // by address
std::map<void *, size_t> pinned;
constexpr size_t ALIGNMENT = 256; // bytes, as with cuMemAlloc
constexpr size_t MEMORY = size_t(8) << 30; // bytes that the device claims to have
constexpr unsigned char FILL = 0xa5;
size_t allocated;
int context_object, module_count;
thread_local void *contexts[16];
thread_local int depth;

bool is_current() { return depth > 0 && contexts[depth - 1] == &context_object; }

#define NEEDS_CONTEXT                                                                                       \
  std::lock_guard guard(lock);                                                                              \
  if (!is_current()) return INVALID_CONTEXT

// Whether `bytes` bytes from `at` on lie in one allocation.
bool is_valid(Pointer at, size_t bytes) {
  auto after = allocations.upper_bound(at);
  if (after == allocations.begin()) return false;
  auto &[start, allocation] = *--after;
  return at - start <= allocation.bytes && bytes <= allocation.bytes - (at - start);
}

void *memory(Pointer at) { return reinterpret_cast<void *>(at); }

// Whether the driver function `function` must report that a kernel has failed: tests name that
// function in LINERATE_SHIM_FAILS.
bool fails(const char *function) {
  const char *wanted = getenv("LINERATE_SHIM_FAILS");
  return wanted != nullptr && strcmp(wanted, function) == 0;
}

struct Event {
  std::chrono::steady_clock::time_point time;
  bool is_recorded = false;
};

struct Copy2D {
  size_t src_x, src_y;
  unsigned src_kind;
  const void *src_host;
  Pointer src_device;
  void *src_array;
  size_t src_pitch;
  size_t dst_x, dst_y;
  unsigned dst_kind;
  void *dst_host;
  Pointer dst_device;
  void *dst_array;
  size_t dst_pitch, width, height;
};

} // namespace

EXPORT int cuInit(unsigned flags) { return flags == 0 ? SUCCESS : INVALID_VALUE; }

EXPORT int cuDriverGetVersion(int *version) {
  *version = 12040;
  return SUCCESS;
}

EXPORT int cuGetErrorName(int status, const char **name) {
  switch (status) {
  case SUCCESS: *name = "CUDA_SUCCESS"; break;
  case INVALID_VALUE: *name = "CUDA_ERROR_INVALID_VALUE"; break;
  case OUT_OF_MEMORY: *name = "CUDA_ERROR_OUT_OF_MEMORY"; break;
  case INVALID_DEVICE: *name = "CUDA_ERROR_INVALID_DEVICE"; break;
  case INVALID_IMAGE: *name = "CUDA_ERROR_INVALID_IMAGE"; break;
  case INVALID_CONTEXT: *name = "CUDA_ERROR_INVALID_CONTEXT"; break;
  case INVALID_HANDLE: *name = "CUDA_ERROR_INVALID_HANDLE"; break;
  case NOT_FOUND: *name = "CUDA_ERROR_NOT_FOUND"; break;
  case LAUNCH_FAILED: *name = "CUDA_ERROR_LAUNCH_FAILED"; break;
  default: *name = nullptr; return INVALID_VALUE;
  }
  return SUCCESS;
}

EXPORT int cuGetErrorString(int status, const char **text) { return cuGetErrorName(status, text); }

EXPORT int cuDeviceGetCount(int *count) {
  const char *wanted = getenv("LINERATE_SHIM_DEVICES"); // tests set 0: a machine without a device
  *count = wanted != nullptr ? atoi(wanted) : 1;
  return SUCCESS;
}

EXPORT int cuDeviceGet(int *device, int ordinal) {
  int count;
  cuDeviceGetCount(&count);
  if (ordinal < 0 || ordinal >= count) return INVALID_DEVICE;
  *device = ordinal;
  return SUCCESS;
}

EXPORT int cuDeviceGetName(char *name, int length, int) {
  snprintf(name, static_cast<size_t>(length), "CPU shim of linerate-cuda");
  return SUCCESS;
}

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int) {
  *bytes = MEMORY;
  return SUCCESS;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int) {
  switch (attribute) {
  case 1: *value = 1024; break;       // threads per block
  case 8: *value = 48 << 10; break;   // shared memory per block, in bytes
  case 10: *value = 32; break;        // warp size
  case 12: *value = 65536; break;     // registers per block
  case 13: *value = 1000000; break;   // clock rate, in kHz
  case 16: *value = 2; break;         // multiprocessors
  case 36: *value = 1000000; break;   // memory clock rate, in kHz
  case 37: *value = 64; break;        // bits of the memory bus
  case 38: *value = 1 << 20; break;   // bytes of L2 cache
  case 39: *value = 2048; break;      // threads per multiprocessor
  case 75: *value = 8; break;         // compute capability, major
  case 76: *value = 0; break;         // minor
  case 81: *value = 164 << 10; break; // shared memory per multiprocessor
  case 115: *value = 1; break;        // memory pools
  default: *value = 0;
  }
  return SUCCESS;
}

EXPORT int cuDevicePrimaryCtxRetain(void **context, int) {
  *context = &context_object;
  return SUCCESS;
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int) { return SUCCESS; }

EXPORT int cuCtxPushCurrent_v2(void *context) {
  if (depth == 16) return INVALID_VALUE;
  contexts[depth++] = context;
  return SUCCESS;
}

EXPORT int cuCtxPopCurrent_v2(void **context) {
  if (depth == 0) return INVALID_CONTEXT;
  depth--;
  if (context != nullptr) *context = contexts[depth];
  return SUCCESS;
}

EXPORT int cuCtxSetCurrent(void *context) {
  if (depth == 0) depth = 1;
  contexts[depth - 1] = context;
  return SUCCESS;
}

EXPORT int cuCtxGetCurrent(void **context) {
  *context = depth > 0 ? contexts[depth - 1] : nullptr;
  return SUCCESS;
}

EXPORT int cuCtxGetDevice(int *device) {
  NEEDS_CONTEXT;
  *device = 0;
  return SUCCESS;
}

EXPORT int cuCtxSynchronize() { return SUCCESS; }

// ---- Modules

EXPORT int cuModuleLoadData(void **module, const void *image) {
  NEEDS_CONTEXT;
  const char *text = static_cast<const char *>(image);
  // The image must look like PTX, but is not used: the kernels are those that were compiled into
  // this library.
  if (strstr(text, ".version") == nullptr || strstr(text, ".target") == nullptr) return INVALID_IMAGE;
  module_count++;
  *module = &module_count;
  return SUCCESS;
}

EXPORT int cuModuleLoadDataEx(void **module, const void *image, unsigned, int *, void **) {
  return cuModuleLoadData(module, image);
}

EXPORT int cuModuleUnload(void *module) {
  NEEDS_CONTEXT;
  return module == &module_count && module_count-- > 0 ? SUCCESS : INVALID_HANDLE;
}

EXPORT int cuModuleGetFunction(void **function, void *module, const char *name) {
  NEEDS_CONTEXT;
  if (module != &module_count) return INVALID_HANDLE;
  for (const shim::Kernel *kernel = shim::kernels; kernel->name != nullptr; kernel++) {
    if (strcmp(kernel->name, name) == 0) {
      *function = const_cast<shim::Kernel *>(kernel);
      return SUCCESS;
    }
  }
  return NOT_FOUND;
}

EXPORT int cuFuncGetAttribute(int *value, int attribute, void *function) {
  *value = attribute == 0 ? static_cast<int>(static_cast<shim::Kernel *>(function)->block) : 0; // threads per block
  return SUCCESS;
}

EXPORT int cuFuncSetAttribute(void *, int, int) { return SUCCESS; }

EXPORT int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                          unsigned block_y, unsigned block_z, unsigned shared, void *, void **arguments, void **extra) {
  NEEDS_CONTEXT;
  const shim::Kernel *kernel = static_cast<shim::Kernel *>(function);
  bool is_1d = grid_y == 1 && grid_z == 1 && block_y == 1 && block_z == 1;
  if (!is_1d || grid_x == 0 || grid_x > 0x7fffffff || block_x != kernel->block || shared != 0 || extra != nullptr) {
    fprintf(stderr, "shim: launch of %s: a grid or block that it is not written for\n", kernel->name);
    return INVALID_VALUE;
  }
  shim::run(*kernel, grid_x, arguments);
  return SUCCESS;
}

// ---- Memory

EXPORT int cuMemAlloc_v2(Pointer *at, size_t bytes) {
  NEEDS_CONTEXT;
  if (bytes == 0) return INVALID_VALUE;
  if (bytes > MEMORY - allocated) return OUT_OF_MEMORY;
  Allocation allocation{bytes, nullptr, 0};
#if WITH_ASAN
  void *start;
  if (posix_memalign(&start, ALIGNMENT, bytes) != 0) return OUT_OF_MEMORY;
  memset(start, FILL, bytes);
#else
  size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  size_t readable = (rounded + page - 1) / page * page;
  allocation.mapped = readable + page;
  allocation.mapping = mmap(nullptr, allocation.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (allocation.mapping == MAP_FAILED) return OUT_OF_MEMORY;
  mprotect(static_cast<char *>(allocation.mapping) + readable, page, PROT_NONE);
  char *start = static_cast<char *>(allocation.mapping) + readable - rounded;
  memset(start, FILL, rounded);
#endif
  allocated += bytes;
  *at = reinterpret_cast<Pointer>(start);
  allocations[*at] = allocation;
  return SUCCESS;
}

EXPORT int cuMemFree_v2(Pointer at) {
  NEEDS_CONTEXT;
  auto found = allocations.find(at);
  if (found == allocations.end()) return at == 0 ? SUCCESS : INVALID_VALUE;
  Allocation allocation = found->second;
  allocations.erase(found);
  allocated -= allocation.bytes;
#if WITH_ASAN
  free(memory(at));
#else
  const unsigned char *bytes = static_cast<unsigned char *>(memory(at));
  for (size_t i = allocation.bytes; i % ALIGNMENT != 0; i++) {
    if (bytes[i] != FILL) {
      fprintf(stderr, "shim: a kernel wrote %zu bytes past an allocation of %zu\n", i - allocation.bytes + 1, allocation.bytes);
      abort();
    }
  }
  munmap(allocation.mapping, allocation.mapped);
#endif
  return SUCCESS;
}

EXPORT int cuMemAllocAsync(Pointer *at, size_t bytes, void *) { return cuMemAlloc_v2(at, bytes); }
EXPORT int cuMemFreeAsync(Pointer at, void *) { return cuMemFree_v2(at); }

EXPORT int cuMemAllocHost_v2(void **at, size_t bytes) {
  NEEDS_CONTEXT;
  *at = malloc(bytes);
  if (*at == nullptr) return OUT_OF_MEMORY;
  pinned[*at] = bytes;
  return SUCCESS;
}

EXPORT int cuMemHostAlloc(void **at, size_t bytes, unsigned) { return cuMemAllocHost_v2(at, bytes); }

EXPORT int cuMemFreeHost(void *at) {
  NEEDS_CONTEXT;
  if (pinned.erase(at) == 0) return INVALID_VALUE;
  free(at);
  return SUCCESS;
}

EXPORT int cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
  NEEDS_CONTEXT;
  *free_bytes = MEMORY - allocated;
  *total = MEMORY;
  return SUCCESS;
}

EXPORT int cuMemcpyHtoD_v2(Pointer to, const void *from, size_t bytes) {
  NEEDS_CONTEXT;
  if (!is_valid(to, bytes)) return INVALID_VALUE;
  memcpy(memory(to), from, bytes);
  return SUCCESS;
}

EXPORT int cuMemcpyDtoH_v2(void *to, Pointer from, size_t bytes) {
  NEEDS_CONTEXT;
  if (!is_valid(from, bytes)) return INVALID_VALUE;
  memcpy(to, memory(from), bytes);
  return SUCCESS;
}

EXPORT int cuMemcpyDtoD_v2(Pointer to, Pointer from, size_t bytes) {
  NEEDS_CONTEXT;
  if (!is_valid(to, bytes) || !is_valid(from, bytes)) return INVALID_VALUE;
  memmove(memory(to), memory(from), bytes);
  return SUCCESS;
}

EXPORT int cuMemcpyHtoDAsync_v2(Pointer to, const void *from, size_t bytes, void *) { return cuMemcpyHtoD_v2(to, from, bytes); }
EXPORT int cuMemcpyDtoHAsync_v2(void *to, Pointer from, size_t bytes, void *) { return cuMemcpyDtoH_v2(to, from, bytes); }
EXPORT int cuMemcpyDtoDAsync_v2(Pointer to, Pointer from, size_t bytes, void *) { return cuMemcpyDtoD_v2(to, from, bytes); }

EXPORT int cuMemcpy2DAsync_v2(const Copy2D *copy, void *) {
  NEEDS_CONTEXT;
  constexpr unsigned HOST = 1, DEVICE = 2; // CUmemorytype
  for (size_t row = 0; row < copy->height; row++) {
    size_t from = (copy->src_y + row) * copy->src_pitch + copy->src_x, to = (copy->dst_y + row) * copy->dst_pitch + copy->dst_x;
    bool from_device = copy->src_kind == DEVICE, to_device = copy->dst_kind == DEVICE;
    if ((!from_device && copy->src_kind != HOST) || (!to_device && copy->dst_kind != HOST)) return INVALID_VALUE;
    if (from_device && !is_valid(copy->src_device + from, copy->width)) return INVALID_VALUE;
    if (to_device && !is_valid(copy->dst_device + to, copy->width)) return INVALID_VALUE;
    const void *source = from_device ? memory(copy->src_device + from) : static_cast<const char *>(copy->src_host) + from;
    memmove(to_device ? memory(copy->dst_device + to) : static_cast<char *>(copy->dst_host) + to, source, copy->width);
  }
  return SUCCESS;
}

EXPORT int cuMemsetD8_v2(Pointer at, unsigned char value, size_t bytes) {
  NEEDS_CONTEXT;
  if (!is_valid(at, bytes)) return INVALID_VALUE;
  memset(memory(at), value, bytes);
  return SUCCESS;
}

EXPORT int cuMemsetD32_v2(Pointer at, unsigned value, size_t words) {
  NEEDS_CONTEXT;
  if (at % 4 != 0 || words > MEMORY / 4 || !is_valid(at, 4 * words)) return INVALID_VALUE;
  for (size_t i = 0; i < words; i++) static_cast<unsigned *>(memory(at))[i] = value;
  return SUCCESS;
}

EXPORT int cuMemsetD8Async(Pointer at, unsigned char value, size_t bytes, void *) { return cuMemsetD8_v2(at, value, bytes); }
EXPORT int cuMemsetD32Async(Pointer at, unsigned value, size_t words, void *) { return cuMemsetD32_v2(at, value, words); }

// ---- Streams and events

EXPORT int cuStreamCreate(void **stream, unsigned) {
  NEEDS_CONTEXT;
  *stream = malloc(1);
  return SUCCESS;
}

EXPORT int cuStreamDestroy_v2(void *stream) {
  free(stream);
  return SUCCESS;
}

EXPORT int cuStreamSynchronize(void *) { return SUCCESS; }
EXPORT int cuStreamQuery(void *) { return SUCCESS; }
EXPORT int cuStreamWaitEvent(void *, void *, unsigned) { return SUCCESS; }

EXPORT int cuEventCreate(void **event, unsigned) {
  NEEDS_CONTEXT;
  *event = new Event;
  return SUCCESS;
}

EXPORT int cuEventDestroy_v2(void *event) {
  delete static_cast<Event *>(event);
  return SUCCESS;
}

EXPORT int cuEventRecord(void *event, void *) {
  if (fails("cuEventRecord")) return LAUNCH_FAILED;
  *static_cast<Event *>(event) = {std::chrono::steady_clock::now(), true};
  return SUCCESS;
}

EXPORT int cuEventQuery(void *) { return SUCCESS; }
EXPORT int cuEventSynchronize(void *) { return fails("cuEventSynchronize") ? LAUNCH_FAILED : SUCCESS; }

EXPORT int cuEventElapsedTime(float *milliseconds, void *from, void *to) {
  Event *start = static_cast<Event *>(from), *end = static_cast<Event *>(to);
  if (!start->is_recorded || !end->is_recorded) return INVALID_HANDLE;
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
  return SUCCESS;
}
