// What all kernels share: integers, error reports, searches in descriptors, scans over a warp and a block.
#pragma once

#include "kernels.h"

typedef unsigned char u8;
typedef unsigned short u16;
typedef rice_u32 u32;
typedef rice_u64 u64;
typedef short i16;
typedef int i32;
typedef long long i64;

#ifdef __CUDACC__
// Declares a variable in shared memory. The shim defines this macro by itself, with a heap block in which
// AddressSanitizer sees accesses outside of the variable.
#define SHARED(type, name) __shared__ type name
#endif

constexpr u32 WARP = 32;
constexpr u32 ALL_LANES = 0xffffffffu;
constexpr u32 NONE = 0xffffffffu;

// Lowers a result's status to this error, unless it is lower already. Segments of a chunk cover rising byte ranges, so
// the lowest offset is that of the first damaged segment, in whatever order they are decoded.
__device__ inline void report(rice_result *result, u64 offset, u32 problem, u32 kind = RICE_CORRUPT) {
  atomicMin(&result->status, offset << 16 | problem << 8 | kind);
}

__device__ inline u32 div_ceil(u32 a, u32 b) { return a / b + (a % b != 0); }
__device__ inline u32 min_u32(u32 a, u32 b) { return a < b ? a : b; }

// Returns the index of the last of `count` descriptors, at least one, whose first slot is not after `slot`. Reads about
// log2(count) descriptors; the lanes of a warp, which have the same `slot`, read the same ones.
template <class T, u32 T::*FIRST> __device__ inline u32 owner_of(const T *descriptors, u32 count, u32 slot) {
  u32 low = 0, high = count;
  while (high - low > 1) {
    u32 middle = low + (high - low) / 2;
    if (descriptors[middle].*FIRST <= slot) low = middle;
    else high = middle;
  }
  return low;
}

// Returns the sum of the values of the lanes up to and including this one. Calls the shuffle five times.
template <class T> __device__ inline T warp_inclusive_sum(T value) {
  u32 lane = threadIdx.x % WARP;
#pragma unroll
  for (u32 delta = 1; delta < WARP; delta *= 2) {
    T below = __shfl_up_sync(ALL_LANES, value, delta);
    if (lane >= delta) value += below;
  }
  return value;
}

template <class T> __device__ inline T warp_sum(T value) {
#pragma unroll
  for (u32 delta = WARP / 2; delta > 0; delta /= 2) value += __shfl_xor_sync(ALL_LANES, value, delta);
  return value;
}

// Returns the sum of the values of the threads before this one in a block of `WARPS` warps, and sets `total` to the sum
// of all values. `scratch` is in shared memory, and has an element per warp. Two barriers; the scratch may be used again
// right away.
template <u32 WARPS, class T> __device__ inline T block_exclusive_sum(T value, T &total, T (&scratch)[WARPS]) {
  u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  T inclusive = warp_inclusive_sum(value);
  if (lane == WARP - 1) scratch[warp] = inclusive;
  __syncthreads();
  T before = 0;
  total = 0;
#pragma unroll
  for (u32 w = 0; w < WARPS; w++) {
    if (w == warp) before = total;
    total += scratch[w];
  }
  __syncthreads();
  return before + inclusive - value;
}
