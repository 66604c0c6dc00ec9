// Decodes version 1 segments side by side, one per thread.
//
// Parallel: segments. The 32 lanes of a warp decode 32 samples each, then store them together.
// Loads: the next words of each payload go through a ring in shared memory. The whole warp fills it, with up to 128
//   bytes of one payload at a time: coalesced, and 8 such loads are in flight at once.
// Stores: 32 samples of each segment are staged in shared memory; 16 lanes store them as 64 consecutive bytes, so
//   that a warp's store is two ranges of 64 bytes instead of 32 single samples.
// Bank conflicts: ring rows have 33 words, staging rows 17: lanes that are at the same place of their rows are in 32
//   banks. In the rings, lanes get to different places, since their codes differ in length; but with codes of 4.5 bits
//   a lane reads its ring only once in about seven samples.
// Cost: about 30 instructions per sample, a latency of about 50 cycles (count zeros, shift, add). 2,000 segments are
//   63 warps; 16,900 segments give each of the four schedulers of 132 multiprocessors a warp. 7,552 bytes (7.4 KiB) of
//   shared memory per warp.
#pragma once

#include "rice1.cuh"

constexpr u32 BATCH = 32; // samples of a segment between stores; enough for the history of the longest filter
constexpr u32 RING = 32;  // words of a ring; BATCH codes of 25 bits take up to 26 words, and two more are read ahead

static_assert(BATCH * ESCAPE1_BITS / 32 + 1 + 2 <= RING, "a batch of the longest codes");
static_assert(BATCH >= RICE1_MAX_TAPS, "the staged samples are the history of the filter");

struct DecodeShared {
  u32 ring[WARP][RING + 1];
  i16 staged[WARP][BATCH + 2];
  u64 payload[WARP]; // address of each lane's payload
  u64 samples[WARP]; // address of its output
  u32 words[WARP];   // size of its payload in words
  u32 cursor[WARP];  // word of the payload that the lane reads next
  u32 loaded[WARP];  // word of the payload up to which the ring is filled
  u32 done[WARP];    // samples decoded before this batch
  u32 count[WARP];   // samples of this batch
};

// Fills each ring from its lane's cursor on, with the words that it lacks. Lane l loads the word at place l of each ring.
__device__ inline void fill_rings(DecodeShared &shared) {
  u32 lane = threadIdx.x;
  for (u32 group = 0; group < WARP; group += 8) {
    u32 word[8];
    bool wanted[8];
#pragma unroll
    for (u32 i = 0; i < 8; i++) {
      u32 row = group + i, first = shared.cursor[row];
      u32 at = first + ((lane - first) & (RING - 1));
      wanted[i] = at >= shared.loaded[row];
      word[i] = wanted[i] && at < shared.words[row] ? __ldg((const u32 *)shared.payload[row] + at) : 0;
    }
#pragma unroll
    for (u32 i = 0; i < 8; i++) {
      if (wanted[i]) shared.ring[group + i][lane] = word[i];
    }
  }
  __syncwarp();
  shared.loaded[lane] = shared.cursor[lane] + RING;
}

// Stores the staged samples of two rows at a time, two samples per lane.
__device__ inline void store_batch(const DecodeShared &shared) {
  u32 half = threadIdx.x / (WARP / 2), pair = threadIdx.x % (WARP / 2);
  for (u32 i = 0; i < WARP; i += 2) {
    u32 row = i + half, count = shared.count[row];
    u64 to = shared.samples[row] + 2ull * (shared.done[row] + 2 * pair);
    u32 two = (u16)shared.staged[row][2 * pair] | (u32)(u16)shared.staged[row][2 * pair + 1] << 16;
    if (2 * pair + 1 < count && to % 4 == 0) {
      *(u32 *)to = two;
    } else {
      if (2 * pair < count) *(u16 *)to = (u16)two;
      if (2 * pair + 1 < count) *(u16 *)(to + 2) = (u16)(two >> 16);
    }
  }
}

// Returns sample `i` of a segment, where `y` is the filter's output. `row` holds the 32 samples before it, by their index
// modulo 32, and zeros for those before the segment. The difference of `y` and what they contribute is wrapped to 16
// bits, then divided by the first coefficient with truncation toward zero.
__device__ inline u32 unfilter(const rice1_params &params, const i16 *row, u32 i, u32 y) {
  u32 sum = y;
  for (u32 j = 1; j < params.tap_count; j++) sum -= (u32)params.taps[j] * (u32)(i32)row[(i - j) % BATCH];
  i32 wrapped = (i16)sum;
  return params.taps[0] == 1 ? wrapped : wrapped / params.taps[0];
}

extern "C" __global__ void __launch_bounds__(32)
    rice1_decode(const rice1_chunk *chunks, const rice1_segment *segments, rice_u32 segment_count,
                 rice1_params params, rice_result *results) {
  SHARED(DecodeShared, shared);
  u32 lane = threadIdx.x;
  u64 slot = (u64)blockIdx.x * WARP + lane;
  rice1_segment segment = {0, 0, 0, 0};
  if (slot < segment_count) segment = segments[slot];
  rice_result *result = results + segment.chunk;
  u32 k = params.k;
  bool delta = is_delta(params), identity = is_identity(params);

  shared.payload[lane] = 0;
  shared.samples[lane] = 0;
  if (segment.samples > 0) {
    const rice1_chunk &chunk = chunks[segment.chunk];
    shared.payload[lane] = chunk.data + 4ull * segment.start;
    shared.samples[lane] = chunk.samples + 2 * (slot - chunk.first_segment) * params.segment;
  }
  shared.words[lane] = segment.words;
  shared.cursor[lane] = 0;
  shared.loaded[lane] = 0;
  for (u32 i = 0; i < BATCH + 2; i++) shared.staged[lane][i] = 0;
  __syncwarp();

  u32 done = 0, last = 0;
  u32 word = 0, shift = 0; // where the next code begins: word of the payload, and bit in it
  bool running = segment.samples > 0;
  u32 *ring = shared.ring[lane];
  i16 *staged = shared.staged[lane];
  // Each turn decodes a batch of every running lane: as many turns as the longest segment has batches.
  while (__any_sync(ALL_LANES, running)) {
    shared.cursor[lane] = word;
    shared.done[lane] = done;
    __syncwarp();
    fill_rings(shared);
    __syncwarp();
    u32 a = ring[word % RING], b = ring[(word + 1) % RING], c = ring[(word + 2) % RING];
    u32 wanted = running ? min_u32(BATCH, segment.samples - done) : 0, n = 0;
    while (n < wanted) {
      Code code = read_code(__funnelshift_l(b, a, shift), k);
      u32 before = word;
      u32 end = shift + code.bits;
      // A code ends in the word where it begins or in the next one, so the word loaded here is not needed before
      // another code passes the end of a word.
      if (end >= 32) {
        word++;
        a = b;
        b = c;
        c = ring[(word + 2) % RING];
      }
      bool too_long = word >= segment.words && (word > segment.words || end % 32 != 0);
      if (!code.is_valid || too_long) {
        // The segment ends early, also if there are nine zeros but some of them only stand for bits after the payload.
        bool ends = code.is_valid || 32ull * before + shift + 9 > 32ull * segment.words;
        report(result, 4ull * (segment.start + (u64)before), ends ? RICE1_SEGMENT_ENDS : RICE1_NINE_ZEROS);
        running = false;
        break;
      }
      shift = end % 32;
      u32 y = unzigzag16(code.z);
      last = delta ? last + y : identity ? y : unfilter(params, staged, done + n, y);
      staged[n] = (i16)last;
      n++;
    }
    shared.count[lane] = n;
    __syncwarp();
    store_batch(shared);
    __syncwarp();
    done += n;
    if (running && done == segment.samples) {
      running = false;
      u64 bit = 32ull * word + shift;
      check_end(result, 4ull * segment.start, bit, 32ull * segment.words, __funnelshift_l(b, a, shift));
    }
  }
}
