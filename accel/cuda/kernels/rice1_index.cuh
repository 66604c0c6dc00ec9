// Finds the segments of version 1 chunks: a walk over their lengths.
//
// Parallel: chunks, one block each. Each length tells where the next one is, so that a walk in device memory costs the
//   latency of that memory for each segment: 0.6 us on an H200. So the block copies a window of the chunk to shared
//   memory, where the first warp walks, while the next window is on its way. If the next length is beyond that window,
//   because a segment is long, the window that begins with this length is loaded instead.
// Loads: consecutive words, 16 in flight per thread.
// Stores: the warp stores records and tile owners of the segments that it finds; the block clears those of other slots.
#pragma once

#include "rice1.cuh"

// Word indices of larger chunks, and the few words beyond the end to which decoders count, would exceed 32 bits. One
// segment of the most samples, 2^32 - 1, takes at most 13.4 GB; many segments of a few samples each may take more.
constexpr u64 MAX_CHUNK_BYTES = (1ull << 34) - 4096;

constexpr u32 INDEX1_THREADS = 512;
constexpr u32 INDEX1_LOADS = 16; // words that a thread loads for a window
constexpr u32 INDEX1_WINDOW = INDEX1_THREADS * INDEX1_LOADS; // words of a window

struct Index1Shared {
  u32 words[INDEX1_WINDOW];
  // How far the walk has come: words and samples before the next length, and segments found.
  u32 next, sample, found;
  u64 status;
};

__device__ inline u64 status_of(u64 offset, u32 problem, u32 kind) { return offset << 16 | problem << 8 | kind; }

// Returns what is wrong with the beginning of a chunk whose codes have at least `least` bits, or RICE_OK.
__device__ inline u64 check_start(const rice1_chunk &chunk, u32 least) {
  if (chunk.bytes < 4) return status_of(chunk.bytes, RICE1_ENDS_IN_FIRST_WORD, RICE_TRUNCATED);
  if (chunk.bytes > MAX_CHUNK_BYTES) return status_of(0, RICE1_TOO_LARGE, RICE_LIMIT);
  if (*(const u32 *)chunk.data > (chunk.bytes - 4) * 8 / least) return status_of(0, RICE1_CHUNK_TOO_SHORT, RICE_CORRUPT);
  return RICE_OK;
}

// Returns what is wrong with a chunk of `samples` samples after the walk over its segments,
// or RICE_OK.
__device__ inline u64 check_end_of_chunk(const rice1_chunk &chunk, u32 samples, const Index1Shared &shared) {
  u64 at = 4ull * shared.next;
  if (shared.status == RICE_OK && at != chunk.bytes) return status_of(at, RICE1_CHUNK_GOES_ON, RICE_CORRUPT);
  if (samples > chunk.sample_count) return status_of(0, RICE_OUTPUT_SMALL, RICE_OUTPUT_TOO_SMALL);
  if (shared.status == RICE_OK && shared.found > chunk.segments) return status_of(0, RICE2_SLOTS, RICE_LIMIT);
  return shared.status;
}

// A segment that a lane has found.
struct Found1 {
  u32 at;      // where its length is in the window, in words
  u32 length;  // words of its payload
  u32 samples; // number of its samples
};

// Returns what is wrong with a segment whose length is at byte `at` of the chunk, or RICE_OK.
__device__ inline u64 check_segment(const rice1_chunk &chunk, u64 at, const Found1 &it, u32 least) {
  if (at + 4 > chunk.bytes) return status_of(chunk.bytes, RICE1_ENDS_BEFORE_SEGMENT, RICE_TRUNCATED);
  if (at + 4 + 4ull * it.length > chunk.bytes) return status_of(at, RICE1_SEGMENT_TOO_LONG, RICE_CORRUPT);
  if ((u64)it.samples * least > 32ull * it.length) return status_of(at, RICE1_SEGMENT_TOO_SHORT, RICE_CORRUPT);
  return RICE_OK;
}

// Walks over the lengths in the window that begins with word `first` of the chunk, 32 at a time. First all lanes follow
// the lengths, of which each tells where the next one is: that is a load and a sum for each. Then each lane checks and
// stores one of the segments.
__device__ inline void walk_window(const rice1_chunk &chunk, u32 index, u32 first, u32 samples, const rice1_params &params,
                                   Index1Shared &shared, rice1_segment *segments, u32 *tile_owner) {
  u32 lane = threadIdx.x, segment = segment_of(params, samples);
  u64 at = shared.next - first, status = RICE_OK; // `at`: where the next length is in the window, in words
  u32 sample = shared.sample, found = shared.found;
  __syncwarp(); // every lane has read `shared` before the first lane writes there
  while (sample < samples && at < INDEX1_WINDOW && status == RICE_OK) {
    Found1 mine = {0, 0, 0};
    u32 count = 0, most = min_u32(WARP, div_ceil(samples - sample, segment));
    for (; count < most && at < INDEX1_WINDOW; count++) {
      u32 length = shared.words[at];
      if (lane == count) mine = {(u32)at, length, min_u32(segment, samples - sample - count * segment)};
      at += 1 + (u64)length;
    }
    u64 problem = lane < count ? check_segment(chunk, 4 * ((u64)first + mine.at), mine, params.k + 1) : RICE_OK;
    u32 wrong = __ballot_sync(ALL_LANES, problem != RICE_OK);
    if (wrong != 0) {
      status = __shfl_sync(ALL_LANES, problem, __ffs((int)wrong) - 1);
      break;
    }
    u32 start = first + mine.at + 1, slot = found + lane;
    if (lane < count && slot < chunk.segments) segments[slot] = {index, start, mine.length, mine.samples};
    if (tile_owner != 0) {
      u32 tile = start / RICE1_TILE_WORDS + slot, tiles = div_ceil(mine.length, RICE1_TILE_WORDS);
      bool fits = lane < count && slot < chunk.segments && tile + tiles <= chunk.tiles;
      for (u32 i = 0; i < count; i++) {
        u32 to = __shfl_sync(ALL_LANES, tile, i), wanted = __shfl_sync(ALL_LANES, fits ? tiles : 0, i);
        for (u32 j = lane; j < wanted; j += WARP) tile_owner[to + j] = chunk.first_segment + found + i;
      }
    }
    found += count;
    u64 passed = (u64)count * segment;
    sample = passed < samples - sample ? sample + (u32)passed : samples;
  }
  if (lane == 0) {
    shared.next = (u32)(first + at);
    shared.sample = sample;
    shared.found = found;
    shared.status = status;
  }
}

extern "C" __global__ void __launch_bounds__(512, 2)
    rice1_index(const rice1_chunk *chunks, rice_u32 chunk_count, rice1_params params, rice1_segment *segments,
                rice_u32 *tile_owner, rice_result *results) {
  SHARED(Index1Shared, shared);
  u32 index = blockIdx.x, thread = threadIdx.x;
  if (index >= chunk_count) return; // the whole block
  const rice1_chunk chunk = chunks[index];
  segments += chunk.first_segment;
  if (tile_owner != 0) {
    tile_owner += chunk.first_tile;
    for (u32 i = thread; i < chunk.tiles; i += INDEX1_THREADS) tile_owner[i] = NONE;
  }
  u64 status = check_start(chunk, params.k + 1);
  u32 samples = status == RICE_OK ? *(const u32 *)chunk.data : 0, found = 0;
  if (status == RICE_OK) {
    u32 words[INDEX1_LOADS], count = (u32)(chunk.bytes / 4), first = 1;
    auto load = [&](u32 from) {
#pragma unroll
      for (u32 i = 0; i < INDEX1_LOADS; i++) {
        u64 at = (u64)from + i * INDEX1_THREADS + thread;
        words[i] = at < count ? __ldg((const u32 *)chunk.data + at) : 0;
      }
    };
    if (thread == 0) {
      shared.next = 1;
      shared.sample = shared.found = 0;
    }
    load(first);
    // Each turn passes a window of the chunk.
    for (;;) {
#pragma unroll
      for (u32 i = 0; i < INDEX1_LOADS; i++) shared.words[i * INDEX1_THREADS + thread] = words[i];
      __syncthreads();
      load(first + INDEX1_WINDOW);
      if (thread < WARP) walk_window(chunk, index, first, samples, params, shared, segments, tile_owner);
      __syncthreads();
      if (shared.status != RICE_OK || shared.sample == samples) break;
      first += INDEX1_WINDOW;
      if (shared.next - first >= INDEX1_WINDOW) {
        first = shared.next;
        load(first);
      }
    }
    status = check_end_of_chunk(chunk, samples, shared);
    found = shared.found;
  }
  u32 usable = status == RICE_OK ? found : 0;
  for (u32 i = usable + thread; i < chunk.segments; i += INDEX1_THREADS) segments[i] = {index, 0, 0, 0};
  if (thread == 0) results[index] = {status, status == RICE_OK ? samples : 0};
}
