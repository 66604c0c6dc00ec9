// Device memory and kernel launches for the tests, through the shim's double of the driver API.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../kernels/kernels.h"

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void **, int);
int cuCtxPushCurrent_v2(void *);
int cuModuleLoadData(void **, const void *);
int cuModuleGetFunction(void **, void *, const char *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
int cuMemAlloc_v2(unsigned long long *, size_t);
int cuMemFree_v2(unsigned long long);
int cuMemcpyHtoD_v2(unsigned long long, const void *, size_t);
int cuMemcpyDtoH_v2(void *, unsigned long long, size_t);
int cuMemsetD32_v2(unsigned long long, unsigned, size_t);
}

inline void check(int status, const char *what) {
  if (status == 0) return;
  fprintf(stderr, "%s: CUDA error %d\n", what, status);
  abort();
}

// Device memory of exact size, which this object owns. Its address is 0 if the size is 0.
class Memory {
public:
  explicit Memory(size_t bytes) : bytes_(bytes) {
    if (bytes > 0) check(cuMemAlloc_v2(&at_, bytes), "cuMemAlloc");
  }
  template <class T> explicit Memory(const std::vector<T> &data) : Memory(data.size() * sizeof(T)) {
    if (bytes_ > 0) check(cuMemcpyHtoD_v2(at_, data.data(), bytes_), "cuMemcpyHtoD");
  }
  Memory(Memory &&other) noexcept : at_(std::exchange(other.at_, 0)), bytes_(other.bytes_) {}
  Memory(const Memory &) = delete;
  ~Memory() {
    if (at_ != 0) check(cuMemFree_v2(at_), "cuMemFree");
  }
  unsigned long long at() const { return at_; }
  template <class T> std::vector<T> read() const {
    std::vector<T> data(bytes_ / sizeof(T));
    if (!data.empty()) check(cuMemcpyDtoH_v2(data.data(), at_, data.size() * sizeof(T)), "cuMemcpyDtoH");
    return data;
  }

private:
  unsigned long long at_ = 0;
  size_t bytes_;
};

class Device {
public:
  Device() {
    void *context;
    check(cuInit(0), "cuInit");
    check(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
    check(cuCtxPushCurrent_v2(context), "cuCtxPushCurrent");
    check(cuModuleLoadData(&module_, ".version 8.4\n.target sm_70\n"), "cuModuleLoadData");
  }

  // Launches a kernel, unless the grid has no blocks. The arguments must have exactly the types of
  // the kernel's parameters, with addresses as 64-bit numbers.
  template <class... A> void launch(const char *name, unsigned block, unsigned grid, A... arguments) {
    if (grid == 0) return;
    void *function, *pointers[] = {&arguments...};
    check(cuModuleGetFunction(&function, module_, name), name);
    check(cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, nullptr, pointers, nullptr), name);
  }

private:
  void *module_;
};

inline unsigned blocks(size_t items, size_t each) { return static_cast<unsigned>((items + each - 1) / each); }

struct Status {
  int kind = 0; // 0 without an error
  uint64_t offset = 0;
  int problem = 0;

  static Status of(uint64_t word) {
    if (word == RICE_OK) return {};
    return {static_cast<int>(word & 255), word >> 16, static_cast<int>(word >> 8 & 255)};
  }
  bool operator==(const Status &) const = default;
};

inline std::string to_string(const Status &s) {
  return s.kind == 0 ? "ok" : "kind " + std::to_string(s.kind) + ", problem " + std::to_string(s.problem) + " at " + std::to_string(s.offset);
}

// Prints a message and ends the program with status 1 if `ok` is false.
#define EXPECT(ok, ...)                                                                                     \
  do {                                                                                                      \
    if (!(ok)) {                                                                                            \
      fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #ok);                                              \
      fprintf(stderr, __VA_ARGS__);                                                                         \
      fprintf(stderr, "\n");                                                                                \
      exit(1);                                                                                              \
    }                                                                                                       \
  } while (0)
