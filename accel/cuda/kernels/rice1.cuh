// Version 1: the code of a sample, the number of samples of a segment, and the check of a segment's end.
#pragma once

#include "common.cuh"

// The number of zero bits that begin an escape, and the length of an escape in bits. No code is longer.
constexpr u32 ESCAPE1 = 8;
constexpr u32 ESCAPE1_BITS = 25;

__device__ inline u32 zigzag16(u32 y) { return ((y << 1) ^ (u32)((i32)(i16)y >> 15)) & 0xffff; }
__device__ inline u32 unzigzag16(u32 z) { return (z >> 1) ^ (0u - (z & 1)); } // the low 16 bits count

struct Code {
  u32 z;
  u32 bits; // length
  bool is_valid;
};

// Reads the code that begins at the highest bit of `window`. More than eight zeros begin no code. Then nine bits are
// passed over, so that speculative decoders go on somewhere.
__device__ inline Code read_code(u32 window, u32 k) {
  u32 q = __clz((int)window);
  if (q < ESCAPE1) {
    // Two shifts to the right, since their sum, 32 - k bits, may be 32, which is too much for one.
    u32 low = (window << q << 1) >> 1 >> (31 - k);
    return {q << k | low, q + 1 + k, true};
  }
  if (q == ESCAPE1) return {(window >> 7) & 0xffff, ESCAPE1_BITS, true};
  return {0, 9, false};
}

// Returns the length in bits of the code of zigzag value `z`.
__device__ inline u32 code_bits(u32 z, u32 k) {
  u32 q = z >> k;
  return q < ESCAPE1 ? q + 1 + k : ESCAPE1_BITS;
}

// Returns the code of zigzag value `z` as a number, which leaves out its leading zeros.
__device__ inline u32 code_value(u32 z, u32 k) {
  return z >> k < ESCAPE1 ? 1u << k | (z & ((1u << k) - 1)) : 1u << 16 | z;
}

__device__ inline bool is_delta(const rice1_params &p) { return p.tap_count == 2 && p.taps[0] == 1 && p.taps[1] == -1; }
__device__ inline bool is_identity(const rice1_params &p) { return p.tap_count == 1 && p.taps[0] == 1; }

// Returns the samples per segment of a chunk of `samples` samples, at least 1.
__device__ inline u32 segment_of(const rice1_params &params, u32 samples) {
  u32 whole = samples > 0 ? samples : 1;
  return params.segment == 0 ? whole : min_u32(params.segment, whole);
}

// Checks the end of a segment whose payload has `bits` bits and whose last code ends at `bit`: only zeros may follow,
// and less than a word of them. `window` has the next 32 bits; `start` is the payload's offset in the chunk, in bytes.
__device__ inline void check_end(rice_result *result, u64 start, u64 bit, u64 bits, u32 window) {
  if (bits - bit >= 32) report(result, start + (bit + 31) / 32 * 4, RICE1_SEGMENT_GOES_ON);
  else if (bit < bits && window != 0) report(result, start + bit / 32 * 4, RICE1_PADDING);
}
