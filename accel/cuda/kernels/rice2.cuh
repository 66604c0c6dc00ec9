// Version 2: the layout of a segment.
#pragma once

#include "common.cuh"

constexpr u32 BLOCK2 = 32;   // samples of a block, which have one Rice parameter
constexpr u32 ESCAPE2 = 15;  // the quotient of an escape
constexpr u32 MAX_ORDER = 8; // highest order of a linear prediction: the number of samples before each one that it uses
// The byte that tells the kind of a segment: a predictor (0, 1, 2 or LINEAR) and flags, or RAW.
constexpr u32 LINEAR = 3, RAW = 4, STEP = 0x10, ESCAPES = 0x20, REFERENCES = 0x40;
constexpr u32 RAW_HEAD = 5;  // bytes before the samples of a raw segment
constexpr u32 HEADER2 = 28;  // bytes of a stream's header, before the table

// Arithmetic for samples of type T is modulo 2^32, and the low BITS bits of its results count. Sums of linear predictions
// are of type Sum: modulo 2^32 for samples of 16 bits, and modulo 2^64 for samples of 32 bits. STRIDE is the distance of
// staged rows of 32 samples in shared memory, in samples: an odd number of banks.
template <class T> struct Word;
template <> struct Word<u16> {
  static constexpr u32 BITS = 16, MASK = 0xffff, STRIDE = BLOCK2 + 2;
  typedef u32 Sum;
  static __device__ Sum wide(u32 x) { return (u32)(i32)(i16)x; }
  static __device__ u32 shifted(Sum sum, u32 shift) { return (u32)((i32)sum >> shift); }
};
template <> struct Word<u32> {
  static constexpr u32 BITS = 32, MASK = 0xffffffff, STRIDE = BLOCK2 + 1;
  typedef u64 Sum;
  static __device__ Sum wide(u32 x) { return (u64)(i64)(i32)x; }
  static __device__ u32 shifted(Sum sum, u32 shift) { return (u32)((i64)sum >> shift); }
};

__device__ inline u32 unzigzag(u32 z) { return (z >> 1) ^ (0u - (z & 1)); }

// Returns how many bytes the fixed bits of a block of `n` samples take.
__device__ inline u32 fixed_bytes(u32 mode, u32 n) { return mode == 0 ? 0 : (n * (mode - 1) + 7) / 8; }
// Whether the samples of a block have unary codes: its mode is not 0 and not that of verbatim values.
template <class T> __device__ inline bool has_unary(u32 mode) { return mode != 0 && mode != Word<T>::BITS + 1; }

struct Head2 {
  u32 problem; // 0, or what is wrong with the head; then other fields may be unset
  u32 offset;  // where `problem` is. This and the other offsets are in bytes of the segment
  u32 kind;    // 0 to 2 or LINEAR, a predictor; or RAW
  u32 low, width;
  u32 centre, step;
  u32 escapes;
  u32 order, shift;
  i16 taps[MAX_ORDER];
  u8 distances[2]; // number of the part's channel minus that of each channel it refers to; 0 for no reference
  u8 reference_shift;
  i16 weights[2];
  u32 modes; // offset of the packed modes
  u32 body;  // offset of what follows the modes
};

// Returns where the samples of a segment are decoded to: the output, or for a part of a segment the memory for parts.
template <class T> __device__ inline T *samples_of(const rice2_stream &stream, const rice2_segment &segment) {
  return (T *)(segment.channels > 1 ? stream.parts : stream.samples) + segment.first;
}

// Reads the head of a segment of `size` bytes, at least 4, that has `samples` samples of channel `channel`.
template <class T> __device__ inline Head2 read_head(const u8 *bytes, u64 size, u32 samples, u32 channel) {
  constexpr u32 W = sizeof(T);
  Head2 head = {};
  u32 at = 4;
  auto fail = [&](u32 problem) {
    if (head.problem == 0) {
      head.problem = problem;
      head.offset = at;
    }
  };
  // Returns the next `n` bytes, at most four, as a number, or zero after an error.
  auto take = [&](u32 n) {
    u32 value = 0;
    if (head.problem != 0) return value;
    if (at + (u64)n > size) {
      fail(RICE2_SEGMENT_TOO_SHORT);
      return value;
    }
    for (u32 i = 0; i < n; i++) value |= (u32)bytes[at + i] << (8 * i);
    at += n;
    return value;
  };
  u32 kind = take(1);
  if (head.problem == 0 && kind == RAW) {
    head.kind = RAW;
    u64 end = at + (u64)samples * W;
    if (end > size) {
      fail(RICE2_SEGMENT_TOO_SHORT);
      return head;
    }
    at = (u32)end;
    bool ends = size - end < 4;
    for (u64 i = end; ends && i < size; i++) ends = bytes[i] == 0;
    if (!ends) fail(RICE2_RAW_END);
    return head;
  }
  if ((kind & ~(STEP | ESCAPES | REFERENCES)) > LINEAR) fail(RICE2_UNKNOWN_KIND);
  head.kind = kind & 0xf;
  head.low = take(1);
  u32 widths = take(1);
  head.width = widths & 7;
  head.order = widths >> 3;
  if (head.low > Word<T>::BITS + 1 || head.width > 6) fail(RICE2_MODES);
  head.centre = take(W);
  head.step = kind & STEP ? take(W) : 1;
  head.escapes = kind & ESCAPES ? take(2) + 1 : 0;
  if (head.kind == LINEAR && head.order >= 1 && head.order <= MAX_ORDER) {
    head.shift = take(1);
    if (head.problem == 0 && at + 2ull * head.order > size) fail(RICE2_SEGMENT_TOO_SHORT);
    for (u32 i = 0; i < MAX_ORDER; i++) head.taps[i] = i < head.order ? (i16)take(2) : (i16)0;
    if (head.shift > 15) fail(RICE2_SHIFT);
  } else if (head.kind == LINEAR || head.order != 0) {
    fail(RICE2_ORDER);
  }
  if (kind & REFERENCES) {
    u32 counts = take(1), count = counts & 0xf;
    if (head.problem == 0 && at + 3ull * count > size) fail(RICE2_SEGMENT_TOO_SHORT);
    bool exist = count == 1 || count == 2;
    if (exist) {
#pragma unroll
      for (u32 i = 0; i < 2; i++) {
        u32 distance = i < count ? take(1) : 0;
        exist = exist && (i >= count || (distance >= 1 && distance <= channel));
        head.distances[i] = (u8)distance;
      }
#pragma unroll
      for (u32 i = 0; i < 2; i++) head.weights[i] = i < count ? (i16)take(2) : (i16)0;
    } else if (head.problem == 0) {
      at += 3 * count;
    }
    head.reference_shift = (u8)(counts >> 4);
    if (!exist) fail(RICE2_REFERENCE);
  }
  head.modes = at;
  u32 blocks = div_ceil(samples, BLOCK2), packed = (blocks * head.width + 7) / 8;
  if (head.problem == 0 && at + (u64)packed > size) fail(RICE2_SEGMENT_TOO_SHORT);
  head.body = at + packed;
  return head;
}

// Returns the mode of a block of a segment whose head is intact.
__device__ inline u32 mode_of(const Head2 &head, const u8 *bytes, u32 block) {
  u32 bit = block * head.width, at = head.modes + bit / 8, shift = bit % 8;
  if (head.width == 0) return head.low;
  u32 bits = bytes[at];
  if (shift + head.width > 8) bits |= (u32)bytes[at + 1] << 8;
  return head.low + (bits >> shift & ((1u << head.width) - 1));
}

// Reads bits of a segment in order, least significant bit of each byte first; zeros follow its end.
struct BitReader {
  const u32 *words; // of the segment
  u32 next, end;    // index of the next word to load; number of words
  u64 bits;         // the next bits, the first one lowest
  u32 have;         // number of these bits

  // Begins `bit` bits after byte `byte`.
  __device__ BitReader(const u32 *words, u32 end, u32 byte, u32 bit) : words(words), end(end), bits(0), have(0) {
    u64 first = 8ull * byte + bit;
    next = (u32)(first / 32);
    refill();
    bits >>= first % 32;
    have -= (u32)(first % 32);
  }
  __device__ void refill() {
    bits |= (u64)(next < end ? __ldg(words + next) : 0) << have;
    next++;
    have += 32;
  }
  // Returns the next `n` bits, at most 32, and passes them.
  __device__ u32 take(u32 n) {
    if (have < n) refill();
    u32 value = (u32)(bits & ((1ull << n) - 1));
    bits >>= n;
    have -= n;
    return value;
  }
  // Returns the number of 0 bits before the next 1 bit, and passes these bits and the 1. If the next 32 bits are all 0,
  // returns 32 and passes nothing.
  __device__ u32 unary() {
    if (have < 32) refill();
    u32 low = (u32)bits;
    if (low == 0) return 32;
    u32 q = (u32)__ffs((int)low) - 1;
    bits >>= q + 1;
    have -= q + 1;
    return q;
  }
};
