// Decodes long version 1 segments by speculation: parallel decoding of self-synchronizing codes
// (Klein and Wiseman 2003; on GPUs Weissenberger and Schmidt 2018).
//
// A payload is divided into subsequences of 256 bits, one per thread, and tiles of 256 subsequences, one per block. A
// decoder that begins anywhere is usually on the true codes after a few of them. So in rice1_sync each thread begins 128
// bits before its subsequence; then threads whose first code is not where the thread before ended decode again, until all
// of a tile agree. rice1_chain does the same for the tiles of a segment, and adds up their codes and differences;
// rice1_decode_tiles decodes each subsequence from its true first code and sample.
//
// Parallel: subsequences of all tiles. Adversarial codes that never agree cost a tile 256 rounds of one subsequence each,
//   as many steps as one decoder takes that goes through the tile alone. Then rice1_chain decodes all tiles of the segment
//   but the first one again, one after the other. Together that is at most about twice the steps that one decoder takes
//   for the segment.
// Loads: a tile's 8 KiB are staged in shared memory by coalesced loads; a word of padding after each 8 puts the threads
//   of a warp into 32 banks.
// Stores: samples are staged in a window of 16,384, then stored as consecutive pairs.
// Cost: each bit is decoded about 2.5 times: once for its subsequence, 0.5 times for the 128 bits before the next one,
//   and once by rice1_decode_tiles. 4.5 bits a sample give 57 samples per thread, 14,600 per tile. The records of
//   subsequences take an eighth of the payload.
#pragma once

#include "rice1.cuh"

constexpr u32 SUB_WORDS = RICE1_TILE_WORDS / RICE1_SUBSEQUENCES;
constexpr u32 SUB_BITS = 32 * SUB_WORDS;
constexpr u32 TILE_BITS = 32 * RICE1_TILE_WORDS;
constexpr u32 TILE_WARPS = RICE1_SUBSEQUENCES / WARP;
// Words before a subsequence, and so before a tile, where speculative decoding begins: mostly enough to get to a true
// code.
constexpr u32 LEAD_WORDS = 4;
constexpr u32 LEAD_BITS = 32 * LEAD_WORDS;
// Words after a tile that are staged: a code that begins in its last word may end in the next one, and to see the 32 bits
// after that takes a word more.
constexpr u32 TRAIL_WORDS = 2;
constexpr u32 STAGED_WORDS = LEAD_WORDS + RICE1_TILE_WORDS + TRAIL_WORDS;
constexpr u32 WINDOW = 16384; // samples that are staged before they are stored

// The record of a subsequence in 32 bits: where its first code begins, in bits from its start (at most 24), the number of
// its codes (at most 256, since each has one bit or more), and the low 16 bits of the sum of their values.
__device__ inline u32 pack_subsequence(u32 entry, u32 count, u32 sum) { return entry | count << 5 | sum << 16; }
__device__ inline u32 entry_of(u32 record) { return record & 31; }
__device__ inline u32 count_of(u32 record) { return record >> 5 & 511; }
__device__ inline u32 sum_of(u32 record) { return record >> 16; }

// A tile of a segment. Bits are counted from LEAD_BITS before the tile.
struct TilePlace {
  const u32 *payload; // of its segment
  u32 words;          // words of the payload
  u32 first_word;     // index in the payload of the first word of the tile
  u32 end;            // bit at which the tile ends, or the payload if that ends within the tile
  bool is_first;      // whether it is the first tile of its segment
  bool is_last;       // whether it is the last one
};

__device__ inline TilePlace place_tile(const rice1_chunk &chunk, const rice1_segment &segment, u32 slot, u32 owner) {
  u32 first_slot = chunk.first_tile + segment.start / RICE1_TILE_WORDS + (owner - chunk.first_segment);
  u32 first_word = (slot - first_slot) * RICE1_TILE_WORDS;
  u32 words = min_u32(segment.words - first_word, RICE1_TILE_WORDS);
  const u32 *payload = (const u32 *)chunk.data + segment.start;
  return {payload, segment.words, first_word, LEAD_BITS + 32 * words, first_word == 0,
          words == segment.words - first_word};
}

__device__ inline u32 sub_start(const TilePlace &tile, u32 i) { return min_u32(LEAD_BITS + i * SUB_BITS, tile.end); }

// The words of a tile and those around it, in shared memory. Word 0 is LEAD_WORDS before the tile. Zeros stand for words
// before the payload and after it.
struct StagedWords {
  u32 words[STAGED_WORDS + STAGED_WORDS / SUB_WORDS + 1];

  __device__ static u32 padded(u32 i) { return i + i / SUB_WORDS; }

  __device__ void fill(const TilePlace &tile) {
    for (u32 i = threadIdx.x; i < STAGED_WORDS; i += RICE1_SUBSEQUENCES) {
      u64 at = (u64)tile.first_word + i;
      bool is_there = at >= LEAD_WORDS && at - LEAD_WORDS < tile.words;
      words[padded(i)] = is_there ? __ldg(tile.payload + (at - LEAD_WORDS)) : 0;
    }
    __syncthreads();
  }

  __device__ u32 window(u32 bit) const {
    u32 i = bit / 32;
    return __funnelshift_l(words[padded(i + 1)], words[padded(i)], bit % 32);
  }
};

// The words of StagedWords, but read from global memory, for repairs.
struct GlobalWords {
  const TilePlace &tile;

  __device__ u32 word(u32 i) const {
    u64 at = (u64)tile.first_word + i;
    return at >= LEAD_WORDS && at - LEAD_WORDS < tile.words ? tile.payload[at - LEAD_WORDS] : 0;
  }
  __device__ u32 window(u32 bit) const { return __funnelshift_l(word(bit / 32 + 1), word(bit / 32), bit % 32); }
};

struct Walked {
  u32 bit;   // where the first code after those that were passed begins
  u32 count; // codes that were passed
  u32 sum;   // low 16 bits of the sum of their values
};

// Passes over the codes from `bit` on that begin before bit `limit`.
template <class Words> __device__ inline Walked walk(const Words &words, u32 bit, u32 limit, u32 k) {
  Walked walked = {bit, 0, 0};
  while (walked.bit < limit) {
    Code code = read_code(words.window(walked.bit), k);
    walked.bit += code.bits;
    walked.count++;
    walked.sum += unzigzag16(code.z);
  }
  walked.sum &= 0xffff;
  return walked;
}

struct SyncShared {
  StagedWords staged;
  u32 exits[RICE1_SUBSEQUENCES];
  u32 changed;
  u64 totals[TILE_WARPS];
};

extern "C" __global__ void __launch_bounds__(256)
    rice1_sync(const rice1_chunk *chunks, const rice1_segment *segments, const rice_u32 *tile_owner,
               rice1_params params, rice1_tile *tiles, rice_u32 *subsequences) {
  SHARED(SyncShared, shared);
  u32 slot = blockIdx.x, i = threadIdx.x, owner = tile_owner[slot];
  if (owner == NONE) return; // the whole block
  const rice1_segment segment = segments[owner];
  if (segment.samples == 0) return;
  const TilePlace tile = place_tile(chunks[segment.chunk], segment, slot, owner);
  shared.staged.fill(tile);

  u32 start = sub_start(tile, i), limit = sub_start(tile, i + 1);
  u32 entry = start;
  if (start < tile.end) {
    u32 lead = start - LEAD_BITS; // but the first subsequence of a segment begins at a code
    if (tile.is_first && lead < LEAD_BITS) lead = LEAD_BITS;
    entry = walk(shared.staged, lead, start, params.k).bit;
  }
  Walked walked = walk(shared.staged, entry, limit, params.k);
  // After round r, the first r + 2 subsequences, at least, follow from the first one, so 256 rounds are enough.
  for (u32 round = 0; round < RICE1_SUBSEQUENCES; round++) {
    shared.exits[i] = walked.bit;
    shared.changed = 0;
    __syncthreads();
    u32 wanted = i == 0 ? entry : shared.exits[i - 1];
    bool differs = wanted != entry;
    if (differs) shared.changed = 1;
    __syncthreads();
    if (shared.changed == 0) break;
    if (differs) {
      entry = wanted;
      walked = walk(shared.staged, entry, limit, params.k);
    }
    __syncthreads();
  }
  subsequences[(u64)slot * RICE1_SUBSEQUENCES + i] = pack_subsequence(entry - start, walked.count, walked.sum);
  u64 all;
  block_exclusive_sum<TILE_WARPS>((u64)walked.count << 32 | walked.sum, all, shared.totals);
  if (i == 0) tiles[slot].entry = entry - LEAD_BITS;
  if (i == RICE1_SUBSEQUENCES - 1) {
    tiles[slot].exit = walked.bit - tile.end;
    tiles[slot].count = (u32)(all >> 32);
    tiles[slot].sum = (u32)all;
  }
}

// Decodes the subsequences of a tile again from `entry` on, where its first code really begins, until a subsequence
// begins where it did before. Corrects their records and that of the tile.
__device__ inline void repair(const TilePlace &tile, u32 entry, u32 k, rice1_tile &record, u32 *subsequences) {
  GlobalWords words = {tile};
  u32 bit = LEAD_BITS + entry;
  record.entry = entry;
  for (u32 i = 0; i < RICE1_SUBSEQUENCES; i++) {
    u32 start = sub_start(tile, i), old = subsequences[i];
    if (bit - start == entry_of(old)) return;
    Walked walked = walk(words, bit, sub_start(tile, i + 1), k);
    subsequences[i] = pack_subsequence(bit - start, walked.count, walked.sum);
    record.count += walked.count - count_of(old);
    record.sum += walked.sum - sum_of(old);
    bit = walked.bit;
  }
  record.exit = bit - tile.end;
}

// Parallel: segments, one warp each, and 32 tiles of a segment at once. A tile that begins where the one before ends
// costs a comparison, and nearly all do; the others are repaired one after the other, each by one lane.
extern "C" __global__ void __launch_bounds__(32)
    rice1_chain(const rice1_chunk *chunks, const rice1_segment *segments, rice1_params params, rice1_tile *tiles,
                rice_u32 *subsequences) {
  u32 owner = blockIdx.x, lane = threadIdx.x;
  const rice1_segment segment = segments[owner];
  if (segment.samples == 0) return;
  const rice1_chunk chunk = chunks[segment.chunk];
  u32 count = div_ceil(segment.words, RICE1_TILE_WORDS);
  u32 first = chunk.first_tile + segment.start / RICE1_TILE_WORDS + (owner - chunk.first_segment);
  u32 entry = 0, sum = 0; // where the next 32 tiles begin, as in rice1_tile; the sum of the values before them
  u64 samples = 0;        // number of codes before them
  for (u32 group = 0; group < count; group += WARP) {
    u32 slot = first + group + lane;
    bool is_tile = group + lane < count;
    rice1_tile tile = {0, 0, 0, 0};
    if (is_tile) tile = tiles[slot];
    u32 wrong;
    // Each turn puts one more tile right for good.
    do {
      u32 before = __shfl_up_sync(ALL_LANES, tile.exit, 1);
      u32 wanted = lane == 0 ? entry : before;
      wrong = __ballot_sync(ALL_LANES, is_tile && wanted != tile.entry);
      if (wrong != 0 && lane == (u32)__ffs((int)wrong) - 1) {
        TilePlace place = place_tile(chunk, segment, slot, owner);
        repair(place, wanted, params.k, tile, subsequences + (u64)slot * RICE1_SUBSEQUENCES);
      }
    } while (wrong != 0);
    u64 counts = warp_inclusive_sum((u64)tile.count);
    u32 sums = warp_inclusive_sum(tile.sum);
    if (is_tile) {
      u64 position = samples + counts - tile.count;
      tile.count = position < NONE ? (u32)position : NONE; // beyond the segment's samples anyway
      u32 before = sum + sums - tile.sum;
      tile.sum = before & 0xffff;
      tiles[slot] = tile;
    }
    samples += __shfl_sync(ALL_LANES, counts, WARP - 1);
    sum += __shfl_sync(ALL_LANES, sums, WARP - 1);
    entry = __shfl_sync(ALL_LANES, tile.exit, WARP - 1);
  }
}

struct TileShared {
  StagedWords staged;
  u64 totals[TILE_WARPS];
  i16 window[WINDOW + 2];
};

// Stores `count` samples at `to`, from index `shift` of the window on. `shift` is 0 or 1, so that pairs of samples are
// stored at multiples of 4 bytes.
__device__ inline void store_window(const i16 *window, u64 to, u32 shift, u32 count) {
  u64 base = to - 2 * shift; // a multiple of 4
  for (u32 i = 2 * threadIdx.x; i < shift + count; i += 2 * RICE1_SUBSEQUENCES) {
    bool first = i >= shift, second = i + 1 < shift + count;
    u32 two = (u16)window[i] | (u32)(u16)window[i + 1] << 16;
    if (first && second) *(u32 *)(base + 2ull * i) = two;
    else if (first) *(u16 *)(base + 2ull * i) = (u16)two;
    else if (second) *(u16 *)(base + 2ull * i + 2) = (u16)(two >> 16);
  }
}

extern "C" __global__ void __launch_bounds__(256)
    rice1_decode_tiles(const rice1_chunk *chunks, const rice1_segment *segments, const rice_u32 *tile_owner,
                       rice1_params params, const rice1_tile *tiles, const rice_u32 *subsequences,
                       rice_result *results) {
  SHARED(TileShared, shared);
  u32 slot = blockIdx.x, i = threadIdx.x, owner = tile_owner[slot];
  if (owner == NONE) return; // the whole block
  const rice1_segment segment = segments[owner];
  const rice1_tile record = tiles[slot];
  if (segment.samples == 0 || record.count >= segment.samples) return;
  const rice1_chunk chunk = chunks[segment.chunk];
  rice_result *result = results + segment.chunk;
  const TilePlace tile = place_tile(chunk, segment, slot, owner);
  bool delta = is_delta(params);
  u32 k = params.k;
  shared.staged.fill(tile);

  u32 subsequence = subsequences[(u64)slot * RICE1_SUBSEQUENCES + i];
  u32 start = sub_start(tile, i), limit = sub_start(tile, i + 1);
  u64 all, mine = (u64)count_of(subsequence) << 32 | sum_of(subsequence);
  u64 before = block_exclusive_sum<TILE_WARPS>(mine, all, shared.totals);
  u32 bit = start + entry_of(subsequence);
  // The last tile may have more codes than samples, from zeros after the last code: `count` is the number of samples.
  u32 index = (u32)(before >> 32), last = record.sum + (u32)before;
  u32 count = min_u32((u32)(all >> 32), segment.samples - record.count);
  u64 payload = 4ull * segment.start, first_bit = 32ull * tile.first_word - LEAD_BITS; // `first_bit`: of the staged words
  u64 bits = 32ull * segment.words;
  u64 samples = chunk.samples + 2 * ((u64)(owner - chunk.first_segment) * params.segment + record.count);

  for (u32 from = 0; from < count; from += WINDOW) {
    u32 to = min_u32(count, from + WINDOW);
    u32 shift = (u32)((samples + 2ull * from) / 2 % 2);
    // A subsequence has at most 256 codes.
    while (bit < limit && index < to) {
      Code code = read_code(shared.staged.window(bit), k);
      u64 at = first_bit + bit;
      if (!code.is_valid || at + code.bits > bits) {
        bool ends = code.is_valid || at + 9 > bits;
        report(result, payload + at / 32 * 4, ends ? RICE1_SEGMENT_ENDS : RICE1_NINE_ZEROS);
        bit = limit;
        index = NONE; // this thread has no more samples
        break;
      }
      bit += code.bits;
      u32 y = unzigzag16(code.z);
      last = delta ? last + y : y;
      shared.window[shift + index - from] = (i16)last;
      index++;
      if (record.count + index == segment.samples) {
        check_end(result, payload, first_bit + bit, bits, shared.staged.window(bit));
      }
    }
    __syncthreads();
    store_window(shared.window, samples + 2ull * from, shift, to - from);
    __syncthreads();
  }
  // The codes of the last tile end before the samples do.
  if (tile.is_last && i == 0 && record.count + (u32)(all >> 32) < segment.samples) {
    report(result, payload + bits / 8, RICE1_SEGMENT_ENDS);
  }
}
