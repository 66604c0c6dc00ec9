// Encodes version 1 chunks: code lengths of tiles, where each tile begins, then the words.
//
// Parallel: tiles of 1,024 samples, one per warp, four to a block. A tile's codes are put together in shared memory: a
//   prefix sum of lengths over 32 samples gives each lane's place, where an atomic OR adds its code.
// Loads: 32 consecutive samples per warp. Stores: a tile stores the words whose first bit belongs to it, as consecutive
//   words. The bits that the last of them has from the next tile are encoded for both tiles instead of joined by atomics
//   in global memory, so no output need be cleared.
// Bank conflicts: codes of a row of 32 samples fall into 2 words (m = 2, all codes of 2 bits) to 26 words (all escapes);
//   so up to 16 or 17 lanes add to the same word.
// Cost: samples are read twice, about 45 instructions for each sample in all.
#pragma once

#include "rice1.cuh"

constexpr u32 TILES_PER_BLOCK = 4;

// A tile of samples and its segment.
struct EncodeTile {
  u32 chunk;          // index of its chunk
  const u16 *samples; // the samples of its segment
  u32 first;          // index of its first sample in the segment
  u32 count;          // number of its samples
  u32 segment_count;  // number of samples of its segment
  u32 first_tile;     // slot of the first tile of its segment
  u32 last_tile;      // slot of the last tile of its segment
};

__device__ inline EncodeTile find_tile(const rice1_chunk *chunks, u32 chunk_count, const rice1_params &params, u32 slot) {
  u32 index = owner_of<rice1_chunk, &rice1_chunk::first_tile>(chunks, chunk_count, slot);
  const rice1_chunk &chunk = chunks[index];
  u32 segment = segment_of(params, chunk.sample_count);
  u32 per_segment = div_ceil(segment, RICE1_TILE_SAMPLES);
  u32 i = (slot - chunk.first_tile) / per_segment, tile = (slot - chunk.first_tile) % per_segment;
  u64 start = (u64)i * segment;
  u32 samples = min_u32(segment, (u32)(chunk.sample_count - start));
  u32 first = tile * RICE1_TILE_SAMPLES, first_tile = slot - tile;
  return {index,   (const u16 *)chunk.samples + start, first, min_u32(samples - first, RICE1_TILE_SAMPLES),
          samples, first_tile, first_tile + div_ceil(samples, RICE1_TILE_SAMPLES) - 1};
}

// Returns the zigzag value of filtered sample `i` of a segment. Zeros stand for the samples before the segment, and
// arithmetic is modulo 2^16.
__device__ inline u32 filtered(const rice1_params &params, bool delta, const u16 *samples, u32 i) {
  u32 y;
  if (delta) {
    y = samples[i] - (i > 0 ? (u32)samples[i - 1] : 0);
  } else {
    y = 0;
    for (u32 j = 0; j < params.tap_count && j <= i; j++) y += (u32)params.taps[j] * (u32)samples[i - j];
  }
  return zigzag16(y);
}

extern "C" __global__ void __launch_bounds__(128)
    rice1_measure(const rice1_chunk *chunks, rice_u32 chunk_count, rice_u32 tile_count, rice1_params params,
                  rice_u64 *tile_bits) {
  u32 slot = blockIdx.x * TILES_PER_BLOCK + threadIdx.x / WARP, lane = threadIdx.x % WARP;
  if (slot >= tile_count) return; // the whole warp
  const EncodeTile tile = find_tile(chunks, chunk_count, params, slot);
  bool delta = is_delta(params);
  u32 bits = 0; // of this lane, then of the tile: at most 25,600
  for (u32 i = lane; i < tile.count; i += WARP) {
    bits += code_bits(filtered(params, delta, tile.samples, tile.first + i), params.k);
  }
  bits = warp_sum(bits);
  if (lane == 0) tile_bits[slot] = bits;
}

// What some consecutive tiles do to the position in the chunk, in bits. They add `before`. Then, if a segment begins with
// one of them, the position goes up to a whole word, and `after` is added: all bits from the length field of the first
// such segment on. Two such maps, one after the other, are again such a map, so a scan finds the positions of all tiles.
struct Advance {
  u64 before, after;
  bool has_start;

  __device__ u64 apply(u64 position) const {
    u64 at = position + before;
    return has_start ? (at + 31) / 32 * 32 + after : at;
  }
};

__device__ inline Advance then(const Advance &a, const Advance &b) {
  if (!b.has_start) return {a.has_start ? a.before : a.before + b.before, a.has_start ? a.after + b.before : 0, a.has_start};
  if (!a.has_start) return {a.before + b.before, b.after, true};
  return {a.before, (a.after + b.before + 31) / 32 * 32 + b.after, true};
}

__device__ inline Advance shuffle_up(const Advance &a, u32 delta) {
  return {__shfl_up_sync(ALL_LANES, a.before, delta), __shfl_up_sync(ALL_LANES, a.after, delta),
          __shfl_up_sync(ALL_LANES, (u32)a.has_start, delta) != 0};
}

struct OffsetsShared {
  Advance warps[8];
};

// Parallel: chunks, one block each, and 256 tiles of a chunk at once, which have 262,144 samples: a scan of 25 shuffles
// of 32 bits.
extern "C" __global__ void __launch_bounds__(256)
    rice1_offsets(const rice1_chunk *chunks, rice_u32 chunk_count, rice1_params params, const rice_u64 *tile_bits,
                  rice_u64 *tile_starts, rice_result *results) {
  SHARED(OffsetsShared, shared);
  u32 index = blockIdx.x, lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  if (index >= chunk_count) return; // the whole block
  const rice1_chunk chunk = chunks[index];
  u32 per_segment = div_ceil(segment_of(params, chunk.sample_count), RICE1_TILE_SAMPLES);
  u64 position = 32; // bits of the word before the first segment, which has the number of samples
  for (u32 group = 0; group < chunk.tiles; group += 256) {
    u32 tile = group + threadIdx.x, slot = chunk.first_tile + tile;
    bool is_tile = tile < chunk.tiles;
    u64 bits = is_tile ? tile_bits[slot] : 0;
    Advance advance = {bits, 0, false};
    if (is_tile && tile % per_segment == 0) advance = {0, 32 + bits, true};
    for (u32 delta = 1; delta < WARP; delta *= 2) {
      Advance before = shuffle_up(advance, delta);
      if (lane >= delta) advance = then(before, advance);
    }
    if (lane == WARP - 1) shared.warps[warp] = advance;
    __syncthreads();
    u64 here = position;
    for (u32 w = 0; w < 8; w++) {
      if (w == warp) here = position;
      position = shared.warps[w].apply(position);
    }
    if (is_tile) tile_starts[slot] = advance.apply(here) - bits;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    u64 bytes = (position + 31) / 32 * 4;
    if (chunk.bytes >= 4) *(u32 *)chunk.data = chunk.sample_count;
    u64 too_small = (u64)RICE1_CAPACITY << 8 | RICE_OUTPUT_TOO_SMALL;
    results[index] = {chunk.bytes < 4 ? too_small : RICE_OK, bytes};
  }
}

// Limit of the words that have bits of one tile: of 1,024 codes of 25 bits, and of up to 31 bits before and after them.
constexpr u32 PACKED_WORDS = RICE1_TILE_SAMPLES * ESCAPE1_BITS / 32 + 2;

struct PackShared {
  u32 words[TILES_PER_BLOCK][PACKED_WORDS + 1]; // the last one takes bits of codes that end after the words to store
};

extern "C" __global__ void __launch_bounds__(128)
    rice1_pack(const rice1_chunk *chunks, rice_u32 chunk_count, rice_u32 tile_count, rice1_params params,
               const rice_u64 *tile_bits, const rice_u64 *tile_starts, rice_result *results) {
  SHARED(PackShared, shared);
  u32 slot = blockIdx.x * TILES_PER_BLOCK + threadIdx.x / WARP, lane = threadIdx.x % WARP;
  if (slot >= tile_count) return; // the whole warp
  const EncodeTile tile = find_tile(chunks, chunk_count, params, slot);
  u64 segment_start = tile_starts[tile.first_tile]; // bits of the chunk before the payload
  u64 segment_words = (tile_starts[tile.last_tile] + tile_bits[tile.last_tile] - segment_start + 31) / 32;
  u64 length_word = segment_start / 32 - 1;
  const rice1_chunk &chunk = chunks[tile.chunk];
  if (4 * (length_word + 1 + segment_words) > chunk.bytes) {
    if (lane == 0) report(results + tile.chunk, 4 * length_word, RICE1_CAPACITY, RICE_OUTPUT_TOO_SMALL);
    return;
  }
  u32 *out = (u32 *)chunk.data;
  if (slot == tile.last_tile && lane == 0) out[length_word] = (u32)segment_words;

  u64 start = tile_starts[slot], end = start + tile_bits[slot];
  u64 base = start / 32; // the word of the chunk that is word 0 of `words`
  // Words `first` to `stored` - 1 are stored: those whose first bit belongs to this tile.
  u32 first = start % 32 != 0, stored = (u32)((end - 1) / 32 - base) + 1;
  u32 *words = shared.words[threadIdx.x / WARP];
  for (u32 i = lane; i <= stored; i += WARP) words[i] = 0;
  __syncwarp();

  bool delta = is_delta(params);
  u32 at = start % 32; // where the next row's bits begin in `words`
  // One more row of 32 samples, if the segment has them, completes the last word: each code has at least 2 bits.
  u32 available = min_u32(tile.segment_count - tile.first, RICE1_TILE_SAMPLES + WARP);
  for (u32 row = 0; row < available; row += WARP) {
    u32 i = row + lane, bits = 0, value = 0;
    if (i < available) {
      u32 z = filtered(params, delta, tile.samples, tile.first + i);
      bits = code_bits(z, params.k);
      value = code_value(z, params.k);
    }
    u32 inclusive = warp_inclusive_sum(bits);
    u32 bit = at + inclusive - bits, word = bit / 32;
    if (bits > 0 && word < stored) {
      u64 placed = (u64)value << (64 - bits - bit % 32);
      atomicOr(&words[word], (u32)(placed >> 32));
      if ((u32)placed != 0) atomicOr(&words[word + 1], (u32)placed);
    }
    at += __shfl_sync(ALL_LANES, inclusive, WARP - 1);
  }
  __syncwarp();
  for (u32 i = first + lane; i < stored; i += WARP) out[base + i] = words[i];
}
