// Decodes version 2 segments.
//
// Parallel: segments, one block of 128 threads each, and within a segment its blocks of 32 samples, one per thread:
//   a prefix sum over the modes tells where a block's fixed bits are; ranks of the 1 bits in the unary part tell where
//   its codes are, since each block with such codes, but the last, has 32 of these bits (the thread whose word has the
//   bit of rank 32 i - 1, counted from 0, knows where the codes of the block with number i begin); predictors of order
//   1 and 2 are undone in registers, and joined by prefix sums over the blocks. A linear prediction has no such form:
//   rice2_linear turns its residuals into samples.
// Loads: neighbouring threads read neighbouring bytes; each 128-byte line is loaded once and used from the L1 cache.
// Stores: 4,096 consecutive samples at a time, staged in shared memory.
// Bank conflicts: staged rows are an odd number of banks apart, so that threads at the same sample are in 32 banks.
// Cost: about 25 instructions per sample; 128 blocks are in flight per segment, so 2,000 segments fill a device.
#pragma once

#include "rice2.cuh"
#include "xxh3.cuh"

constexpr u32 DECODE2_THREADS = 128;

template <class T> struct Decode2Shared {
  Head2 head;
  u32 scratch[DECODE2_THREADS / WARP];
  u32 bad_mode, bad_codes;
  u32 last_one;                     // number of bits of the unary part up to the last 1 bit, which is counted
  u32 starts[RICE2_MAX_BLOCKS + 2]; // where the codes of each block that has unary codes begin, in bits of the unary part
  T staged[DECODE2_THREADS * Word<T>::STRIDE];
};

__device__ inline u32 block_sum(u32 value, u32 &total, u32 (&scratch)[DECODE2_THREADS / WARP]) {
  return block_exclusive_sum<DECODE2_THREADS / WARP>(value, total, scratch);
}

// Finds where the unary codes of each block begin. Returns false unless there are exactly `codes` 1 bits in the `bytes`
// bytes from byte `start` of the segment on, and fewer than 32 zeros after them.
template <class T>
__device__ inline bool find_codes(Decode2Shared<T> &shared, const u32 *words, u32 size, u32 start, u32 bytes, u32 codes) {
  u32 thread = threadIdx.x, ones = 0;
  // No unary code has more than 16 bits.
  if (bytes > 2 * codes + 4) return false;
  if (thread == 0) {
    shared.starts[0] = 0;
    shared.last_one = 0;
  }
  __syncthreads();
  u32 count = div_ceil(bytes, 4), shift = start % 4 * 8;
  for (u32 group = 0; group < count && ones <= codes; group += DECODE2_THREADS) {
    u32 i = group + thread, word = 0;
    if (i < count) {
      u32 at = start / 4 + i;
      word = __funnelshift_r(words[at], shift != 0 && at + 1 < size ? words[at + 1] : 0, shift);
    }
    u32 total, here = (u32)__popc(word);
    u32 rank = ones + block_sum(here, total, shared.scratch);
    u32 block = rank / BLOCK2 + 1; // its codes begin after the 1 bit of rank 32 * block - 1, which may be in `word`
    if (rank + here >= block * BLOCK2 && block <= RICE2_MAX_BLOCKS) {
      u32 rest = word;
      for (u32 skip = block * BLOCK2 - 1 - rank; skip > 0; skip--) rest &= rest - 1;
      shared.starts[block] = 32 * i + (u32)__ffs((int)rest);
    }
    if (word != 0) atomicMax(&shared.last_one, 32 * i + 32 - (u32)__clz((int)word));
    ones += total;
  }
  __syncthreads();
  return ones == codes && 8 * bytes - shared.last_one < 32;
}

// Stores `count` samples, which are staged in rows of 32, at `to`.
template <class T> __device__ inline void store_rows(const T *staged, T *to, u32 count) {
  auto sample = [&](u32 i) { return staged[i / BLOCK2 * Word<T>::STRIDE + i % BLOCK2]; };
  if (sizeof(T) == 2 && (u64)to % 4 == 0) {
    for (u32 i = 2 * threadIdx.x; i < count; i += 2 * DECODE2_THREADS) {
      if (i + 1 < count) *(u32 *)(to + i) = (u32)sample(i) | (u32)sample(i + 1) << 16;
      else to[i] = sample(i);
    }
    return;
  }
  for (u32 i = threadIdx.x; i < count; i += DECODE2_THREADS) to[i] = sample(i);
}

// Decodes the blocks of a segment to samples, or to residuals of a linear prediction. Returns false if the codes of this
// thread's blocks are wrong, or the number of escapes of all blocks.
template <class T>
__device__ inline bool decode_blocks(Decode2Shared<T> &shared, const u32 *words, u32 size, u32 samples, u32 fixed_total, T *out) {
  typedef Word<T> W;
  const Head2 &head = shared.head;
  const u8 *bytes = (const u8 *)words;
  u32 thread = threadIdx.x, blocks = div_ceil(samples, BLOCK2);
  u32 escapes_at = head.body + fixed_total, unary_at = escapes_at + head.escapes * (u32)sizeof(T);
  // Before this group of 128 blocks: bytes of fixed bits, blocks with unary codes, escapes.
  u32 fixed = 0, unary = 0, escapes = 0;
  u32 last = 0, slope = 0; // the last sample before this group, and its difference to the one before
  bool good = true;
  for (u32 group = 0; group < blocks; group += DECODE2_THREADS) {
    u32 block = group + thread, n = 0, mode = 0;
    if (block < blocks) {
      n = min_u32(samples - block * BLOCK2, BLOCK2);
      mode = mode_of(head, bytes, block);
    }
    u32 k = mode == 0 ? 0 : mode - 1;
    bool coded = has_unary<T>(mode);
    // At most 128 bytes and one block with unary codes for each thread: one sum has room for both.
    u32 all, before = block_sum(fixed_bytes(mode, n) << 8 | (u32)coded, all, shared.scratch);
    BitReader low(words, size, head.body + fixed + (before >> 8), 0);
    BitReader codes(words, size, unary_at, coded ? shared.starts[unary + (before & 255)] : 0);
    u32 escape = escapes;
    if (head.escapes > 0) {
      u32 mine = 0, total;
      BitReader ahead = codes;
      for (u32 i = 0; coded && i < n; i++) mine += ahead.unary() == ESCAPE2;
      escape += block_sum(mine, total, shared.scratch);
      escapes += total;
    }
    fixed += all >> 8;
    unary += all & 255;

    u32 sample[BLOCK2];
#pragma unroll
    for (u32 i = 0; i < BLOCK2; i++) {
      u32 z = 0;
      if (i < n) {
        z = low.take(k);
        if (coded) {
          u32 q = codes.unary();
          if (q > ESCAPE2) {
            good = false;
            q = 0;
          } else if (q == ESCAPE2) {
            good = good && escape < head.escapes;
            q = 0;
            for (u32 j = 0; good && j < sizeof(T); j++) q |= (u32)bytes[escapes_at + escape * (u32)sizeof(T) + j] << (8 * j);
            escape++;
          }
          z = (z | q << k) & W::MASK;
        }
      }
      sample[i] = unzigzag(z);
    }

    if (head.kind == 1 || head.kind == 2) {
      // Samples as if zeros came before this block: sums of the residuals, or for order 2 sums of these sums.
      u32 sum = 0, sum_of_sums = 0;
#pragma unroll
      for (u32 i = 0; i < BLOCK2; i++) {
        sum += sample[i];
        sum_of_sums += sum;
        sample[i] = head.kind == 1 ? sum : sum_of_sums;
      }
      u32 sums, before_sum = block_sum(sum, sums, shared.scratch);
      if (head.kind == 1) {
        u32 offset = last + before_sum;
#pragma unroll
        for (u32 i = 0; i < BLOCK2; i++) sample[i] += offset;
        last += sums;
      } else {
        // The sum of a block's residuals raises the slope of all later blocks, so it is added at each of the 32 samples
        // of every block between that block and this one.
        u32 totals, weighted_total;
        u32 before_totals = block_sum(sum_of_sums, totals, shared.scratch);
        u32 before_weighted = block_sum(thread * sum, weighted_total, shared.scratch);
        u32 offset = last + BLOCK2 * thread * slope + before_totals + BLOCK2 * ((thread - 1) * before_sum - before_weighted);
        u32 rise = slope + before_sum;
#pragma unroll
        for (u32 i = 0; i < BLOCK2; i++) sample[i] += offset + (i + 1) * rise;
        last += BLOCK2 * DECODE2_THREADS * slope + totals + BLOCK2 * ((DECODE2_THREADS - 1) * sums - weighted_total);
        slope += sums;
      }
    }
    bool is_final = head.kind != LINEAR;
#pragma unroll
    for (u32 i = 0; i < BLOCK2; i++) {
      u32 x = is_final ? sample[i] * head.step + head.centre : sample[i];
      shared.staged[thread * W::STRIDE + i] = (T)x;
    }
    __syncthreads();
    u32 first = group * BLOCK2;
    store_rows(shared.staged, out + first, min_u32(samples - first, DECODE2_THREADS * BLOCK2));
    __syncthreads();
  }
  return good && escapes == head.escapes;
}

// At least this many blocks run on a multiprocessor, so that a thread gets 96 registers. Without a minimum, ptxas takes
// fewer registers for one architecture, and spills.
constexpr u32 DECODE2_BLOCKS = 5;

template <class T>
__device__ inline void decode_segment(const rice2_stream *streams, rice2_segment *segments, u32 *linear, rice_result *results) {
  SHARED(Decode2Shared<T>, shared);
  u32 slot = blockIdx.x, thread = threadIdx.x;
  const rice2_segment segment = segments[slot];
  if (segment.samples == 0) return; // the whole block
  const rice2_stream &stream = streams[segment.stream];
  rice_result *result = results + segment.stream;
  const u32 *words = (const u32 *)(stream.data + segment.start);
  const u8 *bytes = (const u8 *)words;
  T *out = samples_of<T>(stream, segment);
  u64 size = 4ull * segment.words;
  // One thread reports. rice2_linear and rice2_verify skip a damaged segment.
  auto error = [&](u64 offset, u32 problem) {
    if (thread == 0) {
      report(result, segment.start + offset, problem);
      segments[slot].samples = 0;
    }
  };
  if (size < 4) return error(0, RICE2_SEGMENT_TOO_SHORT);
  if (thread == 0) {
    shared.head = read_head<T>(bytes, size, segment.samples, segment.channel);
    shared.bad_mode = shared.bad_codes = 0;
  }
  __syncthreads();
  const Head2 &head = shared.head;
  if (head.problem != 0) return error(head.offset, head.problem);
  if (thread < 2) {
    segments[slot].distances[thread] = head.distances[thread];
    segments[slot].weights[thread] = head.weights[thread];
    segments[slot].shift = head.reference_shift;
  }
  if (head.kind == RAW) {
    for (u32 i = thread; i < segment.samples; i += DECODE2_THREADS) {
      u32 value = 0;
      for (u32 j = 0; j < sizeof(T); j++) value |= (u32)bytes[RAW_HEAD + i * sizeof(T) + j] << (8 * j);
      out[i] = (T)value;
    }
    return;
  }

  u32 blocks = div_ceil(segment.samples, BLOCK2), fixed = 0, codes = 0;
  bool bad = false;
  for (u32 block = thread; block < blocks; block += DECODE2_THREADS) {
    u32 n = min_u32(segment.samples - block * BLOCK2, BLOCK2), mode = mode_of(head, bytes, block);
    bad |= mode > Word<T>::BITS + 1;
    fixed += fixed_bytes(mode, n);
    codes += has_unary<T>(mode) ? n : 0;
  }
  // The bits after the last mode must be zeros.
  u32 used = blocks * head.width % 8;
  if (used != 0) bad |= bytes[head.body - 1] >> used != 0;
  if (bad) shared.bad_mode = 1;
  u32 fixed_total, code_total;
  block_sum(fixed, fixed_total, shared.scratch);
  block_sum(codes, code_total, shared.scratch);
  if (shared.bad_mode != 0) return error(head.body, RICE2_BLOCK_MODE);
  u64 left = size - head.body;
  if (fixed_total > left) return error(head.body, RICE2_SEGMENT_TOO_SHORT);
  left -= fixed_total;
  u32 escape_bytes = head.escapes * (u32)sizeof(T);
  if (escape_bytes > left) return error(head.body + fixed_total, RICE2_SEGMENT_TOO_SHORT);
  left -= escape_bytes;
  u32 unary_at = head.body + fixed_total + escape_bytes;
  u32 unary_bytes = left < 0x80000000u ? (u32)left : 0x80000000u; // 2^31 are too many for any segment
  bool good = find_codes(shared, words, segment.words, unary_at, unary_bytes, code_total) &&
              decode_blocks(shared, words, segment.words, segment.samples, fixed_total, out);
  if (!good) shared.bad_codes = 1;
  __syncthreads();
  if (shared.bad_codes != 0) return error(head.body, RICE2_CODES);
  if (head.kind == LINEAR && thread == 0) linear[1 + atomicAdd(&linear[0], 1u)] = slot;
}

extern "C" __global__ void __launch_bounds__(128, DECODE2_BLOCKS)
    rice2_decode_16(const rice2_stream *streams, rice2_segment *segments, rice_u32 *linear, rice_result *results) {
  decode_segment<u16>(streams, segments, linear, results);
}

extern "C" __global__ void __launch_bounds__(128, DECODE2_BLOCKS)
    rice2_decode_32(const rice2_stream *streams, rice2_segment *segments, rice_u32 *linear, rice_result *results) {
  decode_segment<u32>(streams, segments, linear, results);
}

// ---- Linear prediction
//
// Parallel: segments, one per lane: each sample depends on the one before it, with a latency of about 25 cycles. The
// products of older samples do not add to that. Residuals are read, and samples stored, 32 at a time: a warp's load or
// store is consecutive samples of one segment, staged in rows that are an odd number of banks apart.

template <class T> struct LinearShared {
  T staged[WARP * Word<T>::STRIDE];
  u64 out[WARP];
  u32 samples[WARP];
};

template <class T>
__device__ inline void undo_linear(const rice2_stream *streams, const rice2_segment *segments, const u32 *linear) {
  typedef Word<T> W;
  SHARED(LinearShared<T>, shared);
  u32 lane = threadIdx.x;
  u64 entry = (u64)blockIdx.x * WARP + lane;
  if ((u64)blockIdx.x * WARP >= linear[0]) return; // the whole warp
  shared.out[lane] = 0;
  shared.samples[lane] = 0;
  typename W::Sum taps[MAX_ORDER] = {}, history[MAX_ORDER] = {};
  u32 shift = 0, centre = 0, step = 1;
  if (entry < linear[0]) {
    const rice2_segment segment = segments[linear[1 + entry]];
    const rice2_stream &stream = streams[segment.stream];
    const u8 *bytes = (const u8 *)(stream.data + segment.start);
    Head2 head = read_head<T>(bytes, 4ull * segment.words, segment.samples, segment.channel);
    shared.out[lane] = (u64)samples_of<T>(stream, segment);
    shared.samples[lane] = segment.samples;
#pragma unroll
    for (u32 i = 0; i < MAX_ORDER; i++) taps[i] = (typename W::Sum)(i64)head.taps[i];
    shift = head.shift;
    centre = head.centre;
    step = head.step;
  }
  __syncwarp();
  u32 longest = shared.samples[lane];
  for (u32 delta = WARP / 2; delta > 0; delta /= 2) {
    u32 other = __shfl_xor_sync(ALL_LANES, longest, delta);
    longest = other > longest ? other : longest;
  }
  typename W::Sum half = (typename W::Sum)1 << shift >> 1;
  T ahead[WARP]; // for each segment, this lane's residual of the next turn: it is loaded while this turn computes
  auto load = [&](u32 done) {
#pragma unroll
    for (u32 row = 0; row < WARP; row++) {
      ahead[row] = done + lane < shared.samples[row] ? ((const T *)shared.out[row])[done + lane] : 0;
    }
  };
  load(0);
  for (u32 done = 0; done < longest; done += BLOCK2) {
#pragma unroll
    for (u32 row = 0; row < WARP; row++) shared.staged[row * W::STRIDE + lane] = ahead[row];
    __syncwarp();
    load(done + BLOCK2);
    T *mine = shared.staged + lane * W::STRIDE;
    if (done < shared.samples[lane]) {
      // What is computed after the last sample is arbitrary, and is not stored.
      for (u32 i = 0; i < BLOCK2; i += MAX_ORDER) {
#pragma unroll
        for (u32 j = 0; j < MAX_ORDER; j++) {
          typename W::Sum sum = half;
          // The product of the latest sample is added last, since that sample is ready last.
#pragma unroll
          for (u32 tap = MAX_ORDER; tap-- > 0;) sum += taps[tap] * history[(j + MAX_ORDER - 1 - tap) % MAX_ORDER];
          u32 word = (u32)mine[i + j] + W::shifted(sum, shift);
          history[j] = W::wide(word);
          mine[i + j] = (T)(word * step + centre);
        }
      }
    }
    __syncwarp();
#pragma unroll 8
    for (u32 row = 0; row < WARP; row++) {
      if (done + lane < shared.samples[row]) {
        ((T *)shared.out[row])[done + lane] = shared.staged[row * W::STRIDE + lane];
      }
    }
    __syncwarp();
  }
}

extern "C" __global__ void __launch_bounds__(32)
    rice2_linear_16(const rice2_stream *streams, const rice2_segment *segments, const rice_u32 *linear) {
  undo_linear<u16>(streams, segments, linear);
}

extern "C" __global__ void __launch_bounds__(32)
    rice2_linear_32(const rice2_stream *streams, const rice2_segment *segments, const rice_u32 *linear) {
  undo_linear<u32>(streams, segments, linear);
}

// ---- Channels
//
// Parallel: frames, since a sample is predicted from other channels' samples of the same frame. There is a block of
// threads for each part of a segment; these blocks divide the frames of the segment among them, 128 at a time. A thread
// goes through the channels of a frame in order, since each may need those before it.
// Loads and stores: consecutive samples of a channel; then, to interleave, consecutive samples of the output, whose loads
// come from the L1 cache, as the block has just touched them.

template <class T>
__device__ inline void join_channels(const rice2_stream *streams, u32 element, const rice2_segment *segments) {
  typedef Word<T> W;
  u32 slot = blockIdx.x, thread = threadIdx.x;
  const rice2_segment segment = segments[slot];
  u32 channels = segment.channels, frames = segment.frames;
  if (channels < 2) return; // the whole block
  const rice2_stream &stream = streams[segment.stream];
  const rice2_segment *parts = segments + slot - segment.channel;
  u64 first = segment.first - (u64)segment.channel * frames; // index of the segment's first sample
  T *apart = (T *)stream.parts + first, *out = (T *)stream.samples + first;
  u32 sign = element % 2 == 0 ? 0 : 1u << (W::BITS - 1); // unsigned samples count from the middle of their range
  for (u32 tile = segment.channel * DECODE2_THREADS; tile < frames; tile += channels * DECODE2_THREADS) {
    u32 count = min_u32(frames - tile, DECODE2_THREADS);
    if (thread < count) {
      for (u32 channel = 0; channel < channels; channel++) {
        const rice2_segment &part = parts[channel];
        if (part.distances[0] == 0) continue;
        T *at = apart + (u64)channel * frames + tile + thread;
        typename W::Sum sum = (typename W::Sum)1 << part.shift >> 1;
        for (u32 i = 0; i < 2; i++) {
          u32 other = *(at - (u64)part.distances[i] * frames) ^ sign;
          sum += (typename W::Sum)(i64)part.weights[i] * W::wide(other);
        }
        *at = (T)(*at + W::shifted(sum, part.shift));
      }
    }
    __syncthreads();
    T *frame = out + (u64)tile * channels;
    for (u32 i = thread; i < count * channels; i += DECODE2_THREADS) {
      frame[i] = apart[(u64)(i % channels) * frames + tile + i / channels];
    }
  }
}

extern "C" __global__ void __launch_bounds__(128)
    rice2_channels_16(const rice2_stream *streams, rice_u32 element, const rice2_segment *segments) {
  join_channels<u16>(streams, element, segments);
}

extern "C" __global__ void __launch_bounds__(128)
    rice2_channels_32(const rice2_stream *streams, rice_u32 element, const rice2_segment *segments) {
  join_channels<u32>(streams, element, segments);
}

// ---- Checksums
//
// Parallel: segments or parts, one warp each; 32 lanes hash a block of 1,024 bytes in four passes. If there are more than
// 240 bytes of samples, each byte is read once, but some of the last 64 twice.
extern "C" __global__ void __launch_bounds__(128)
    rice2_verify(const rice2_stream *streams, const rice2_segment *segments, rice_u32 segment_count,
                 rice_u32 sample_bytes, rice_result *results) {
  u32 slot = blockIdx.x * 4 + threadIdx.x / WARP;
  if (slot >= segment_count) return; // the whole warp
  const rice2_segment segment = segments[slot];
  if (segment.samples == 0) return;
  const rice2_stream &stream = streams[segment.stream];
  const u8 *samples = sample_bytes == 2 ? (const u8 *)samples_of<u16>(stream, segment)
                                        : (const u8 *)samples_of<u32>(stream, segment);
  u32 sum = (u32)xxh3_warp(samples, (u64)segment.samples * sample_bytes);
  if (threadIdx.x % WARP == 0 && sum != *(const u32 *)(stream.data + segment.start)) {
    report(results + segment.stream, segment.start, RICE2_CHECKSUM);
  }
}
