// The parts of the CUDA language that the kernels use, for an ordinary C++ compiler. Include this
// file before a kernel's source.
//
// Threads of a block are fibers on one thread of the CPU. A fiber runs until it waits for its warp
// or its block, so results do not depend on timing. LINERATE_SHIM_ORDER=reverse runs blocks, the
// warps of each block, and the lanes of each warp in descending order, which can reveal a missing
// barrier. The shim is stricter than a GPU: a warp-wide operation that not all 32 lanes reach, and a
// barrier that not all threads reach, end the program with a message. Each variable in shared memory
// is a heap block of exact size, so that sanitizers see accesses outside of it; it is filled with
// 0xa5 before each block of the grid.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#define __global__
#define __device__
#define __constant__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __restrict__ __restrict
#define __launch_bounds__(...)

namespace shim {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

// A thread of the running block.
struct Thread {
  Index index;
  unsigned warp = 0, lane = 0;
  unsigned parity = 0; // 1 if the number of the thread's warp-wide operations so far is odd, else 0
};

// The running thread, the index and size of its block, and the size of the grid.
extern Thread *thread;
extern Index block, block_size, grid_size;

// The values that the lanes of each warp pass to a warp-wide operation. Even and odd operations
// have rows of their own, so that a fast lane does not overwrite what slow lanes still read.
extern uint64_t (*exchange)[2][32];

// Waits until all lanes of the warp have called this function. `what` names the operation, which
// must be the same for all of them.
void wait_warp(const char *what);
// Waits until all threads of the block have called this function.
void wait_block();
// Returns the memory of the shared variable that `key` identifies, which has `bytes` bytes.
void *shared_memory(const void *key, size_t bytes);

inline uint64_t (&gather(uint64_t value, const char *what))[32] {
  unsigned warp = thread->warp, parity = thread->parity;
  thread->parity ^= 1;
  exchange[warp][parity][thread->lane] = value;
  wait_warp(what);
  return exchange[warp][parity];
}

template <class T> T shuffle(T value, unsigned from, const char *what) {
  static_assert(sizeof(T) <= 8);
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = gather(bits, what)[from & 31];
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

} // namespace shim

#define threadIdx (shim::thread->index)
#define blockIdx (shim::block)
#define blockDim (shim::block_size)
#define gridDim (shim::grid_size)

// Declares a variable of this type and name in the shared memory of the block.
#define SHARED(type, name)                                                                                  \
  static const char name##_key = 0;                                                                         \
  type &name = *static_cast<type *>(shim::shared_memory(&name##_key, sizeof(type)))

inline void __syncthreads() { shim::wait_block(); }
inline void __syncwarp() { shim::gather(0, "__syncwarp"); }

template <class T> T __shfl_sync(unsigned, T value, int from) { return shim::shuffle(value, from, "__shfl_sync"); }
template <class T> T __shfl_up_sync(unsigned, T value, unsigned delta) {
  unsigned lane = shim::thread->lane;
  return shim::shuffle(value, lane < delta ? lane : lane - delta, "__shfl_up_sync");
}
template <class T> T __shfl_down_sync(unsigned, T value, unsigned delta) {
  unsigned lane = shim::thread->lane;
  return shim::shuffle(value, lane + delta > 31 ? lane : lane + delta, "__shfl_down_sync");
}
template <class T> T __shfl_xor_sync(unsigned, T value, unsigned mask) {
  return shim::shuffle(value, shim::thread->lane ^ mask, "__shfl_xor_sync");
}
inline unsigned __ballot_sync(unsigned, int predicate) {
  unsigned bits = 0;
  uint64_t(&all)[32] = shim::gather(predicate != 0, "__ballot_sync");
  for (int lane = 0; lane < 32; lane++) bits |= static_cast<unsigned>(all[lane]) << lane;
  return bits;
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) == ~0u; }

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
// Shift the 64-bit number high:low by the low five bits of `shift`: to the left, returning the high
// word, and to the right, returning the low word.
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) >> (shift & 31));
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }
template <class T> T __ldg(const T *at) { return *at; }

// One fiber runs at a time and none is interrupted, so plain reads and writes are atomic.
template <class T, class U> T atomicAdd(T *at, U value) {
  T before = *at;
  *at = static_cast<T>(before + value);
  return before;
}
template <class T, class U> T atomicMin(T *at, U value) {
  T before = *at;
  if (static_cast<T>(value) < before) *at = static_cast<T>(value);
  return before;
}
template <class T, class U> T atomicMax(T *at, U value) {
  T before = *at;
  if (static_cast<T>(value) > before) *at = static_cast<T>(value);
  return before;
}
template <class T, class U> T atomicOr(T *at, U value) {
  T before = *at;
  *at = before | static_cast<T>(value);
  return before;
}
