// Finds the segments of version 1 chunks: a walk over their lengths.
#pragma once

#include "rice1.cuh"

// Chunks beyond this have word indices that 32 bits cannot hold with the slack that decoders need. A chunk of the
// most samples takes 13.4 GB.
constexpr u64 MAX_CHUNK_BYTES = (1ull << 34) - 4096;

// Parallel: chunks, one warp each; within a chunk each length tells where the next one is, so that a walk costs one
// memory latency per segment (0.2 us from the L2 cache). A warp writes records and tile owners of what it finds.
extern "C" __global__ void __launch_bounds__(32)
    rice1_index(const rice1_chunk *chunks, rice_u32 chunk_count, rice1_params params, rice1_segment *segments,
                rice_u32 *tile_owner, rice_result *results) {
  u32 index = blockIdx.x, lane = threadIdx.x;
  if (index >= chunk_count) return;
  const rice1_chunk chunk = chunks[index];
  const u32 *words = (const u32 *)chunk.data;
  segments += chunk.first_segment;
  if (tile_owner != 0) {
    tile_owner += chunk.first_tile;
    for (u32 i = lane; i < chunk.tiles; i += WARP) tile_owner[i] = NONE;
    __syncwarp();
  }

  u64 status = RICE_OK;
  auto error = [&](u64 offset, u32 problem, u32 kind) { status = offset << 16 | problem << 8 | kind; };
  u32 least = params.k + 1; // bits of the shortest code
  u32 samples = 0, found = 0;
  if (chunk.bytes < 4) {
    error(chunk.bytes, RICE1_ENDS_IN_FIRST_WORD, RICE_TRUNCATED);
  } else if (chunk.bytes > MAX_CHUNK_BYTES) {
    error(0, RICE2_SLOTS, RICE_LIMIT);
  } else if (words[0] > (chunk.bytes - 4) * 8 / least) {
    error(0, RICE1_CHUNK_TOO_SHORT, RICE_CORRUPT);
  } else {
    samples = words[0];
    u32 segment = segment_of(params, samples), sample = 0;
    u64 at = 4; // bytes
    // At most one turn for each word of the chunk.
    while (sample < samples) {
      if (at + 4 > chunk.bytes) {
        error(chunk.bytes, RICE1_ENDS_BEFORE_SEGMENT, RICE_TRUNCATED);
        break;
      }
      u32 length = words[at / 4];
      u32 n = min_u32(segment, samples - sample);
      if (at + 4 + 4ull * length > chunk.bytes) {
        error(at, RICE1_SEGMENT_TOO_LONG, RICE_CORRUPT);
        break;
      }
      if (n > 32ull * length / least) {
        error(at, RICE1_SEGMENT_TOO_SHORT, RICE_CORRUPT);
        break;
      }
      u32 start = (u32)(at / 4) + 1;
      if (found < chunk.segments) {
        if (lane == found % WARP) segments[found] = {index, start, length, n};
        u32 tile = start / RICE1_TILE_WORDS + found, tiles = div_ceil(length, RICE1_TILE_WORDS);
        if (tile_owner != 0 && tile + tiles <= chunk.tiles) {
          for (u32 i = lane; i < tiles; i += WARP) tile_owner[tile + i] = chunk.first_segment + found;
        }
      }
      found++;
      sample += n;
      at += 4 + 4ull * length;
    }
    if (status == RICE_OK && at != chunk.bytes) error(at, RICE1_CHUNK_GOES_ON, RICE_CORRUPT);
    else if (samples > chunk.sample_count) error(0, RICE_OUTPUT_SMALL, RICE_OUTPUT_TOO_SMALL);
    else if (status == RICE_OK && found > chunk.segments) error(0, RICE2_SLOTS, RICE_LIMIT);
  }

  __syncwarp();
  u32 usable = status == RICE_OK ? found : 0;
  for (u32 i = usable + lane; i < chunk.segments; i += WARP) segments[i] = {index, 0, 0, 0};
  if (lane == 0) results[index] = {status, status == RICE_OK ? samples : 0};
}
