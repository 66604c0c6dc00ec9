// Writes version 2 streams as planned: header, table and shape record, then the segments.
#pragma once

#include "rice2_index.cuh"
#include "rice2_plan.cuh"

constexpr u32 OFFSETS2_THREADS = 256;

struct Offsets2Shared {
  u64 scratch[OFFSETS2_THREADS / WARP];
  u32 header[8];
};

// Parallel: streams, one block each, and 256 segments of a stream at once: a prefix sum of their sizes.
extern "C" __global__ void __launch_bounds__(256)
    rice2_offsets(const rice2_stream *streams, rice_u32 stream_count, rice_u32 element, rice2_plan *plans,
                  rice_result *results) {
  SHARED(Offsets2Shared, shared);
  u32 index = blockIdx.x, thread = threadIdx.x;
  if (index >= stream_count) return;
  const rice2_stream stream = streams[index];
  rice_result *result = results + index;
  bool has_shape = stream.axis_count != RICE2_NO_SHAPE;
  u64 segments = stream.sample_count / stream.segment + (stream.sample_count % stream.segment != 0);
  u64 start = HEADER2 + 4 * (segments + has_shape), record = has_shape ? 4 + 8ull * stream.axis_count : 0;
  if (thread == 0) {
    result->status = RICE_OK;
    result->size = 0;
  }
  __syncthreads();
  if (segments > stream.segments) {
    if (thread == 0) report(result, 0, RICE2_SLOTS, RICE_LIMIT);
    return;
  }
  u32 *out = (u32 *)stream.data, *table = out + HEADER2 / 4;
  bool has_table = start <= stream.bytes, has_record = has_table && start + record <= stream.bytes;
  if (thread == 0) {
    if (!has_table) report(result, 0, RICE2_CAPACITY, RICE_OUTPUT_TOO_SMALL);
    else if (!has_record) report(result, start, RICE2_CAPACITY, RICE_OUTPUT_TOO_SMALL);
    u32 *header = shared.header;
    header[0] = MAGIC2;
    header[1] = 2 | element << 8 | (u32)has_shape << 16;
    header[2] = (u32)stream.sample_count;
    header[3] = (u32)(stream.sample_count >> 32);
    header[4] = stream.segment;
    header[5] = stream.row;
    header[6] = (u32)xxh3_short((const u8 *)header, 24);
    for (u32 i = 0; has_table && i < HEADER2 / 4; i++) out[i] = header[i];
    if (has_table && has_shape) table[0] = (u32)(record / 4);
  }
  if (has_shape && has_record && thread < WARP) {
    const u32 *axes = (const u32 *)stream.axes; // the low and the high word of each size
    u32 *to = out + start / 4;
    for (u32 i = thread; i < 2 * stream.axis_count; i += WARP) to[1 + i] = axes[i];
    __syncwarp();
    u32 sum = (u32)xxh3_warp((const u8 *)(to + 1), record - 4);
    if (thread == 0) to[0] = sum;
  }

  u64 position = start + record;
  for (u64 group = 0; group < segments; group += OFFSETS2_THREADS) {
    u64 i = group + thread, total;
    rice2_plan *plan = plans + stream.first_segment + i;
    u64 bytes = i < segments ? plan->bytes : 0;
    u64 at = position + block_exclusive_sum<OFFSETS2_THREADS / WARP>(bytes, total, shared.scratch);
    if (i < segments) {
      plan->start = at;
      u64 end = (at + bytes - start) / 4; // of the segment, in words after the table
      if (has_table) table[has_shape + i] = (u32)end;
      if (end > 0xffffffffu) report(result, 0, RICE2_TOO_LARGE, RICE_BAD_ARGUMENT);
      if (at + bytes > stream.bytes) report(result, at, RICE2_CAPACITY, RICE_OUTPUT_TOO_SMALL);
    }
    position += total;
  }
  if (thread == 0) result->size = position;
}

constexpr u32 PACK2_THREADS = 128;
constexpr u32 PACK2_WARPS = PACK2_THREADS / WARP;
// The unary code of a sample takes at most 16 bits: half a word for each sample of 128 blocks. One word is for up to
// 31 bits of earlier blocks, which precede them, and one is spare.
constexpr u32 UNARY_WORDS = PACK2_THREADS * BLOCK2 / 2 + 2;

template <class T> struct Pack2Shared {
  u32 scratch[PACK2_WARPS];
  u8 fixed[PACK2_THREADS * BLOCK2 * sizeof(T)];
  u32 unary[UNARY_WORDS];
};

// Writes numbers byte by byte: the head of a segment, and escapes.
struct ByteWriter {
  u8 *to;
  __device__ void put(u32 value, u32 bytes) {
    for (u32 i = 0; i < bytes; i++) *to++ = (u8)(value >> (8 * i));
  }
};

template <class T> __device__ inline u32 write_head(const rice2_plan &plan, u8 *out) {
  constexpr u32 W = sizeof(T);
  ByteWriter writer = {out};
  writer.put(plan.sum, 4);
  writer.put(plan.kind, 1);
  writer.put(plan.low, 1);
  writer.put(plan.width | plan.order << 3, 1);
  writer.put(plan.centre, W);
  if (plan.kind & STEP) writer.put(plan.step, W);
  if (plan.kind & ESCAPES) writer.put(plan.escapes - 1, 2);
  if ((plan.kind & 0xf) == LINEAR) {
    writer.put(plan.shift, 1);
    for (u32 i = 0; i < plan.order; i++) writer.put((u16)plan.taps[i], 2);
  }
  return (u32)(writer.to - out);
}

template <class T> __device__ inline u32 head_bytes(const rice2_plan &plan) {
  constexpr u32 W = sizeof(T);
  return 7 + W + (plan.kind & STEP ? W : 0) + (plan.kind & ESCAPES ? 2 : 0) + ((plan.kind & 0xf) == LINEAR ? 1 + 2 * plan.order : 0);
}

// Returns byte `i` of the packed modes of `blocks` blocks.
__device__ inline u8 packed_modes(const rice2_plan &plan, const u8 *modes, u32 blocks, u32 i) {
  u32 bits = 0;
  for (u32 block = 8 * i / plan.width; block < blocks && block * plan.width < 8 * i + 8; block++) {
    u32 mode = modes[block] - plan.low, at = block * plan.width;
    bits |= at >= 8 * i ? mode << (at - 8 * i) : mode >> (8 * i - at);
  }
  return (u8)bits;
}

// Writes a segment that is not raw. Parallel: its blocks of 32 samples, 128 at a time: prefix sums over the bytes of
// fixed bits, the bits of unary codes and the escapes give each block its places. Fixed bits and unary codes are staged
// in shared memory, the codes by an atomic OR, and stored as consecutive bytes.
template <class T>
__device__ inline void write_coded(Pack2Shared<T> &shared, const Scaled<T> &scaled, u32 n, const rice2_plan &plan,
                                   const u8 *modes, u8 *out) {
  u32 thread = threadIdx.x, blocks = div_ceil(n, BLOCK2);
  u32 packed = (blocks * plan.width + 7) / 8;
  u32 fixed_at = head_bytes<T>(plan) + packed, escapes_at = fixed_at + plan.fixed;
  u32 unary_at = escapes_at + plan.escapes * (u32)sizeof(T), unary_end = plan.bytes - unary_at;
  if (thread == 0) write_head<T>(plan, out);
  for (u32 i = thread; i < packed; i += PACK2_THREADS) out[fixed_at - packed + i] = packed_modes(plan, modes, blocks, i);
  for (u32 i = thread; i < UNARY_WORDS; i += PACK2_THREADS) shared.unary[i] = 0;
  __syncthreads();

  Predictor2 predictor = {plan.kind & 0xf, plan.order, plan.shift, {}};
  for (u32 i = 0; i < MAX_ORDER; i++) predictor.taps[i] = plan.taps[i];
  u32 fixed = 0, escapes = 0; // bytes of fixed bits, and escapes, before this group of 128 blocks
  u32 stored = 0, bit = 0;    // words of unary codes that are stored; bits that are staged after them
  for (u32 group = 0; group < blocks; group += PACK2_THREADS) {
    u32 block = group + thread, size = 0, mode = 0, z[BLOCK2] = {};
    if (block < blocks) {
      size = min_u32(n - block * BLOCK2, BLOCK2);
      mode = modes[block];
      block_residuals(scaled, predictor, block * BLOCK2, size, z);
    }
    Cost cost = cost_of<T>(z, size, mode);
    u32 fixed_total, unary_total, escape_total;
    u32 fixed_before = block_exclusive_sum<PACK2_WARPS>(cost.fixed, fixed_total, shared.scratch);
    u32 at = bit + block_exclusive_sum<PACK2_WARPS>(cost.unary, unary_total, shared.scratch);
    u32 escape = escapes + block_exclusive_sum<PACK2_WARPS>(cost.escapes, escape_total, shared.scratch);
    u32 k = mode == 0 ? 0 : mode - 1;
    bool coded = has_unary<T>(mode);
    u64 low = 0;
    u32 have = 0;
    u8 *to = shared.fixed + fixed_before;
#pragma unroll
    for (u32 i = 0; i < BLOCK2; i++) {
      if (i < size) {
        low |= (z[i] & ((1ull << k) - 1)) << have;
        for (have += k; have >= 8; have -= 8) {
          *to++ = (u8)low;
          low >>= 8;
        }
        if (coded) {
          u32 quotient = z[i] >> k, q = min_u32(quotient, ESCAPE2);
          at += q;
          atomicOr(&shared.unary[at / 32], 1u << at % 32);
          at++;
          if (q == ESCAPE2) {
            ByteWriter writer = {out + escapes_at + escape * (u32)sizeof(T)};
            writer.put(quotient, sizeof(T));
            escape++;
          }
        }
      }
    }
    if (have > 0) *to = (u8)low;
    __syncthreads();
    for (u32 i = thread; i < fixed_total; i += PACK2_THREADS) out[fixed_at + fixed + i] = shared.fixed[i];
    bit += unary_total;
    u32 whole = bit / 32, rest = shared.unary[whole];
    for (u32 i = thread; i < 4 * whole; i += PACK2_THREADS) {
      out[unary_at + 4 * stored + i] = (u8)(shared.unary[i / 4] >> (8 * (i % 4)));
    }
    __syncthreads();
    // The last staged word may be incomplete: the next group goes on with it, as the first one.
    for (u32 i = thread; i <= whole; i += PACK2_THREADS) shared.unary[i] = i == 0 ? rest : 0;
    __syncthreads();
    stored += whole;
    bit %= 32;
    fixed += fixed_total;
    escapes += escape_total;
  }
  // The bits that are still staged, and zeros up to the end of the segment.
  for (u32 i = 4 * stored + thread; i < unary_end; i += PACK2_THREADS) {
    u32 byte = i - 4 * stored;
    out[unary_at + i] = byte < 4 ? (u8)(shared.unary[0] >> (8 * byte)) : (u8)0;
  }
}

template <class T>
__device__ inline void pack_segment(const rice2_stream *streams, u32 stream_count, const rice2_plan *plans, const u8 *modes,
                                    u32 mode_stride) {
  SHARED(Pack2Shared<T>, shared);
  u32 slot = blockIdx.x, thread = threadIdx.x;
  EncodeSegment segment = find_segment(streams, stream_count, slot);
  if (segment.samples == 0) return; // the whole block
  const rice2_stream &stream = streams[segment.stream];
  const rice2_plan plan = plans[slot];
  u64 slots_needed = stream.sample_count / stream.segment + (stream.sample_count % stream.segment != 0);
  if (slots_needed > stream.segments || plan.start + plan.bytes > stream.bytes) return; // reported by rice2_offsets
  const T *samples = (const T *)stream.samples + segment.first;
  u8 *out = (u8 *)stream.data + plan.start;
  if (plan.kind == RAW) {
    u32 raw = segment.samples * (u32)sizeof(T);
    for (u32 i = thread; i < plan.bytes; i += PACK2_THREADS) {
      u32 at = i - RAW_HEAD;
      out[i] = i < 4 ? (u8)(plan.sum >> (8 * i)) : i == 4 ? (u8)RAW : at < raw ? (u8)(samples[at / sizeof(T)] >> (8 * (at % sizeof(T)))) : (u8)0;
    }
    return;
  }
  Scaled<T> scaled = {samples, plan.centre, plan.step, plan.is_unsigned == 0};
  write_coded<T>(shared, scaled, segment.samples, plan, modes + (u64)slot * mode_stride, out);
}

extern "C" __global__ void __launch_bounds__(128)
    rice2_pack_16(const rice2_stream *streams, rice_u32 stream_count, const rice2_plan *plans, const unsigned char *modes,
                  rice_u32 mode_stride) {
  pack_segment<u16>(streams, stream_count, plans, modes, mode_stride);
}

extern "C" __global__ void __launch_bounds__(128)
    rice2_pack_32(const rice2_stream *streams, rice_u32 stream_count, const rice2_plan *plans, const unsigned char *modes,
                  rice_u32 mode_stride) {
  pack_segment<u32>(streams, stream_count, plans, modes, mode_stride);
}
