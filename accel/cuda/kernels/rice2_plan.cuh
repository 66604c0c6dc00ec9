// Plans the encoding of version 2 segments: step, centre, predictor, modes. The choices are exactly those of
// linerate_rice::v2, so that the bytes are.
//
// Parallel: segments, one block of 256 threads each, and within a segment its samples or its blocks of 32. Everything but
//   the Levinson-Durbin recursion (Levinson 1947, Durbin 1960) is integer arithmetic whose result does not depend on the
//   order: greatest common divisor, a median by ranks, sums. The recursion is one thread's fixed sequence of IEEE
//   operations, compiled without fused multiply-adds.
// Loads: passes over blocks read 32 consecutive samples per thread: each line is loaded once and used from the L1 cache.
//   Windowed samples, which nine lags read, go through global memory in 14 bits; in 24 bits they are computed as needed.
// Cost: about 350 instructions per sample, half of them for the four predictors' estimates and the nine lags.
#pragma once

#include "rice2.cuh"
#include "xxh3.cuh"

constexpr u32 PLAN_THREADS = 256;
constexpr u32 PLAN_WARPS = PLAN_THREADS / WARP;
constexpr u32 MEDIAN_SAMPLES = 255;
constexpr u32 LAGS = MAX_ORDER + 1;
constexpr u32 MODES2 = 34;       // of 32-bit samples
constexpr u32 MIN_LINEAR = 64;   // samples of a segment that a linear prediction pays for
constexpr u64 BELOW_MAX = (1ull << 22) - 1;

// A segment of a stream to encode.
struct EncodeSegment {
  u32 stream; // index
  u64 first;  // sample
  u32 samples;
};

__device__ inline EncodeSegment find_segment(const rice2_stream *streams, u32 stream_count, u32 slot) {
  u32 index = owner_of<rice2_stream, &rice2_stream::first_segment>(streams, stream_count, slot);
  const rice2_stream &stream = streams[index];
  u64 first = (u64)(slot - stream.first_segment) * stream.segment;
  if (first >= stream.sample_count) return {index, first, 0}; // a slot too many
  u64 left = stream.sample_count - first;
  return {index, first, left < stream.segment ? (u32)left : stream.segment};
}

// A predictor: of order `kind`, or with kind LINEAR the rounded sum of taps times samples, shifted right.
struct Predictor2 {
  u32 kind, order, shift;
  i16 taps[MAX_ORDER];
};

// The samples of a segment in its own scale, (sample - centre) / step, as signed words.
template <class T> struct Scaled {
  const T *samples;
  u32 centre, step;
  bool is_signed;

  __device__ i64 value(u32 word) const {
    return is_signed ? (sizeof(T) == 2 ? (i64)(i16)word : (i64)(i32)word) : (i64)(word & Word<T>::MASK);
  }
  __device__ u32 at(u32 i) const {
    u32 x = samples[i];
    if (step == 1) return x - centre;
    // A multiple of the step, and less than 2^32.
    i64 difference = value(x) - value(centre);
    u32 quotient = (u32)(difference < 0 ? -difference : difference) / step;
    return difference < 0 ? 0 - quotient : quotient;
  }
};

template <class T> __device__ inline u32 zigzag_word(u32 x) {
  if (sizeof(T) == 2) return ((x << 1) ^ (u32)((i32)(i16)x >> 15)) & 0xffff;
  return (x << 1) ^ (u32)((i32)x >> 31);
}

// Goes through the samples of a block with the eight before each.
template <class T> struct History {
  typename Word<T>::Sum past[MAX_ORDER]; // the latest first

  __device__ void start(const Scaled<T> &scaled, u32 first) {
#pragma unroll
    for (u32 j = 0; j < MAX_ORDER; j++) past[j] = first > j ? Word<T>::wide(scaled.at(first - 1 - j)) : 0;
  }
  __device__ void push(u32 x) {
#pragma unroll
    for (u32 j = MAX_ORDER - 1; j > 0; j--) past[j] = past[j - 1];
    past[0] = Word<T>::wide(x);
  }
  __device__ u32 residual(u32 x, u32 kind, u32 shift, const i16 *taps) const {
    u32 a = (u32)past[0], b = (u32)past[1];
    u32 prediction;
    if (kind == LINEAR) {
      typename Word<T>::Sum sum = (typename Word<T>::Sum)1 << shift >> 1;
#pragma unroll
      for (u32 j = 0; j < MAX_ORDER; j++) sum += (typename Word<T>::Sum)(i64)taps[j] * past[j];
      prediction = Word<T>::shifted(sum, shift);
    } else {
      prediction = kind == 0 ? 0 : kind == 1 ? a : 2 * a - b;
    }
    return zigzag_word<T>(x - prediction);
  }
};

// The zigzag residual of a fixed predictor at the first samples of a segment is that of samples centred on the first one.
template <class T> __device__ inline u32 first_residual(const Scaled<T> &scaled, u32 i, u32 kind, u32 z) {
  if (kind == 1 || kind == 2) {
    if (i == 0) return 0;
    if (i == 1) return zigzag_word<T>(scaled.at(1) - scaled.at(0));
  }
  return z;
}

// The zigzag residuals of a block of `n` samples from `first` on; zeros after them.
template <class T>
__device__ inline void block_residuals(const Scaled<T> &scaled, const Predictor2 &predictor, u32 first, u32 n, u32 (&z)[BLOCK2]) {
  History<T> history;
  history.start(scaled, first);
#pragma unroll
  for (u32 i = 0; i < BLOCK2; i++) {
    z[i] = 0;
    if (i < n) {
      u32 x = scaled.at(first + i);
      z[i] = history.residual(x, predictor.kind, predictor.shift, predictor.taps);
      if (first == 0 && i < 2) z[i] = first_residual(scaled, i, predictor.kind, z[i]);
      history.push(x);
    }
  }
}

__device__ inline u32 log2_or_zero(u64 x) { return x == 0 ? 0 : 63 - (u32)__clzll((i64)x); }

// Estimates the bits of `n` zigzag values with this sum, with the best parameter and without escapes.
__device__ inline u64 estimate(u64 sum, u32 n, u32 word_bits) {
  if (sum == 0) return 0;
  u32 log = log2_or_zero(sum / n), k = log > 0 ? log - 1 : 0;
  u64 low = n * (u64)(k + 1) + (sum >> k), high = n * (u64)(k + 2) + (sum >> (k + 1)), plain = n * (u64)word_bits;
  low = low < high ? low : high;
  return low < plain ? low : plain;
}

// Size of an encoded block.
struct Cost {
  u32 fixed; // bytes
  u32 unary; // bits
  u32 escapes;
};

template <class T> __device__ inline Cost cost_of(const u32 (&z)[BLOCK2], u32 n, u32 mode) {
  Cost cost = {fixed_bytes(mode, n), 0, 0};
  if (!has_unary<T>(mode)) return cost;
  cost.unary = n;
#pragma unroll
  for (u32 i = 0; i < BLOCK2; i++) {
    u32 q = min_u32(z[i] >> (mode - 1), ESCAPE2);
    cost.unary += q;
    cost.escapes += q == ESCAPE2;
  }
  return cost;
}

template <class T> __device__ inline u32 bits_of(const Cost &cost) {
  return 8 * cost.fixed + cost.unary + cost.escapes * Word<T>::BITS;
}

struct Best {
  u32 mode;
  u64 below; // additional bits in the mode below, at most BELOW_MAX; and in the one above
  u32 above;
};

// The mode with the fewest bits for a block, or one next to it.
template <class T> __device__ inline Best best_mode(const u32 (&z)[BLOCK2], u32 n) {
  constexpr u32 PLAIN = Word<T>::BITS + 1;
  u64 sum = 0;
#pragma unroll
  for (u32 i = 0; i < BLOCK2; i++) sum += z[i];
  if (sum == 0) return {0, 0, n};
  u32 log = log2_or_zero(sum / n), k = log > 0 ? log - 1 : 0;
  auto estimated = [&](u32 k) {
    u64 low = n * ((1ull << k) - 1) / 2;
    return n * (u64)k + ((sum > low ? sum - low : 0) >> k);
  };
  u32 mode = min_u32((estimated(k + 1) < estimated(k) ? k + 1 : k) + 1, PLAIN);
  Cost here = cost_of<T>(z, n, mode);
  bool has_below = false;
  u32 below = 0;
  while (mode > 1) {
    Cost lower = cost_of<T>(z, n, mode - 1);
    below = bits_of<T>(lower);
    has_below = true;
    if (below > bits_of<T>(here)) break;
    here = lower;
    mode--;
  }
  if (bits_of<T>(here) > n * Word<T>::BITS) {
    mode = PLAIN;
    here = cost_of<T>(z, n, PLAIN);
  }
  u32 bits = bits_of<T>(here), zeros = here.unary > n ? (here.unary - n) / 2 : 0;
  u64 more = !has_below ? BELOW_MAX : below > bits ? below - bits : 0;
  return {mode, more, n > zeros ? n - zeros : 0};
}

struct PlanShared {
  u64 sums[PLAN_WARPS];
  u32 step;
  u32 centre;
  u32 largest;
  i64 values[MEDIAN_SAMPLES + 1];
  i64 correlation[LAGS];
  Predictor2 linear;
  u32 solution; // of the linear prediction
  u32 mode_blocks[MODES2], mode_above[MODES2];
  u64 mode_below[MODES2];
  u64 best_excess;
  u32 best_candidate;
  u32 checksum;
};

__device__ inline u64 plan_sum(u64 value, PlanShared &shared) {
  u64 total;
  block_exclusive_sum<PLAN_WARPS>(value, total, shared.sums);
  return total;
}

__device__ inline u32 gcd(u32 a, u32 b) {
  while (b != 0) {
    u32 rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// Greatest common divisor of the differences of samples: 1 if there are none.
template <class T> __device__ inline void find_step(PlanShared &shared, const Scaled<T> &scaled, u32 n) {
  if (threadIdx.x == 0) shared.step = 0;
  __syncthreads();
  i64 first = scaled.value(scaled.samples[0]);
  u32 step = 0;
  for (u32 i = threadIdx.x; i < n && step != 1; i += PLAN_THREADS) {
    i64 difference = scaled.value(scaled.samples[i]) - first;
    step = gcd((u32)(difference < 0 ? -difference : difference), step);
  }
  for (u32 delta = WARP / 2; delta > 0; delta /= 2) step = gcd(step, __shfl_xor_sync(ALL_LANES, step, delta));
  if (threadIdx.x % WARP == 0) shared.sums[threadIdx.x / WARP] = step;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (u32 warp = 0; warp < PLAN_WARPS; warp++) step = gcd(step, (u32)shared.sums[warp]);
    shared.step = step > 1 ? step : 1;
  }
  __syncthreads();
}

// The median of at most 255 evenly spread samples: the one whose rank is half of them.
template <class T> __device__ inline void find_median(PlanShared &shared, const Scaled<T> &scaled, u32 n) {
  u32 i = threadIdx.x, stride = div_ceil(n, MEDIAN_SAMPLES), count = div_ceil(n, stride);
  i64 mine = i < count ? scaled.value(scaled.samples[i * stride]) : 0;
  if (i < count) shared.values[i] = mine;
  __syncthreads();
  u32 rank = 0;
  for (u32 j = 0; i < count && j < count; j++) rank += shared.values[j] < mine || (shared.values[j] == mine && j < i);
  if (i < count && rank == count / 2) shared.centre = (u32)mine & Word<T>::MASK;
  __syncthreads();
}

// How a prediction is chosen and rounded: bits of the largest coefficient, whether rounding errors are carried to the next
// coefficient, the part of the energy that two more coefficients must save, and white noise as part of the energy.
struct Accuracy {
  u32 bits;
  bool carry;
  double min_gain, noise;
};

// What came of a fit.
enum Solution : u32 { NO_PREDICTION, FOUND, NEEDS_FINE };

// Coefficients by the recursion, rounded. A coarse fit that amplifies its rounding noise needs a fine one.
__device__ inline u32 solve(const i64 (&correlation)[LAGS], u32 n, bool fine, Predictor2 &predictor) {
  const Accuracy accuracy = fine ? Accuracy{14, true, 0.005, 0.0} : Accuracy{12, false, 0.02, 1e-9};
  double r[LAGS], taps[MAX_ORDER] = {}, found[MAX_ORDER] = {};
  for (u32 i = 0; i < LAGS; i++) r[i] = (double)correlation[i];
  double error = r[0] * (1.0 + accuracy.noise) + 1.0, accepted = 0;
  u32 order = 0; // found
  for (u32 i = 0; i < MAX_ORDER; i++) {
    double reflected = 0;
    for (u32 j = 0; j < i; j++) reflected = reflected + taps[j] * r[i - j];
    double reflection = (r[i + 1] - reflected) / error, before[MAX_ORDER];
    for (u32 j = 0; j < i; j++) before[j] = taps[j];
    taps[i] = reflection;
    for (u32 j = 0; j < i; j++) taps[j] = before[j] - reflection * before[i - 1 - j];
    error = error * (1.0 - reflection * reflection);
    if (!(error > 0.0 && error < 1.7976931348623157e308)) break;
    double pays = 1.0 - 48.0 / (double)n - accuracy.min_gain;
    if (i % 2 == 1 && (order == 0 || error < accepted * pays)) {
      accepted = error;
      order = i + 1;
      for (u32 j = 0; j <= i; j++) found[j] = taps[j];
    }
  }
  if (order == 0) return NO_PREDICTION;
  double largest = 0, noise_gain = 0;
  for (u32 i = 0; i < order; i++) {
    double size = found[i] < 0 ? -found[i] : found[i];
    if (size > largest) largest = size;
    noise_gain = noise_gain + found[i] * found[i];
  }
  if (!fine && !(noise_gain <= 8.0)) return NEEDS_FINE;
  for (u32 shift = 15; shift-- > 0;) {
    if (largest * (double)(1u << shift) < (double)(1u << (accuracy.bits - 1))) {
      predictor.kind = LINEAR;
      predictor.order = order;
      predictor.shift = shift;
      double rest = 0;
      for (u32 i = 0; i < MAX_ORDER; i++) {
        double scaled = i < order ? found[i] * (double)(1u << shift) + rest : 0.0;
        predictor.taps[i] = (i16)(i32)(scaled + (scaled < 0.0 ? -0.5 : 0.5));
        if (accuracy.carry) rest = scaled - (double)predictor.taps[i];
      }
      return FOUND;
    }
  }
  return NO_PREDICTION;
}

// Welch's window for `n` samples, in 2^-15.
struct Welch {
  i32 last;
  u32 unit; // a step of 2 from the middle, in 2^-30 of the half width

  __device__ explicit Welch(u32 n) : last((i32)n - 1), unit((1u << 30) / (n / 2 + 1)) {}
  __device__ u32 weight(u32 i) const {
    i32 offset = 2 * (i32)i - last;
    u32 from_middle = (u32)(offset < 0 ? -offset : offset) * unit >> 16;
    return ((1u << 30) - from_middle * from_middle) >> 15;
  }
};

// Autocorrelation of samples in 24 bits under the window, 32 samples per thread at a time. Sums are below 2^63.
template <class T>
__device__ inline void correlate_finely(PlanShared &shared, const Scaled<T> &scaled, u32 n, const Welch &window) {
  u32 bits = 32 - (u32)__clz((int)shared.largest), excess = bits > 23 ? bits - 23 : 0;
  u32 shift = bits - excess > 8 ? bits - excess - 8 : 0;
  auto windowed = [&](u32 i) {
    i64 x = (i64)Word<T>::wide(scaled.at(i));
    if (sizeof(T) == 2) x = (i32)x;
    return (i32)(u32)((u64)((x >> excess) * (i64)window.weight(i)) >> shift);
  };
  i64 sums[LAGS] = {};
  for (u32 block = threadIdx.x; block < div_ceil(n, BLOCK2); block += PLAN_THREADS) {
    u32 first = block * BLOCK2, last = min_u32(first + BLOCK2, n);
    i64 past[MAX_ORDER]; // the latest first
#pragma unroll
    for (u32 j = 0; j < MAX_ORDER; j++) past[j] = first > j ? windowed(first - 1 - j) : 0;
    for (u32 i = first; i < last; i++) {
      i64 x = windowed(i);
      sums[0] += x * x;
#pragma unroll
      for (u32 j = 0; j < MAX_ORDER; j++) sums[j + 1] += x * past[j];
#pragma unroll
      for (u32 j = MAX_ORDER - 1; j > 0; j--) past[j] = past[j - 1];
      past[0] = x;
    }
  }
#pragma unroll
  for (u32 lag = 0; lag < LAGS; lag++) {
    u64 total = plan_sum((u64)sums[lag], shared);
    if (threadIdx.x == 0) shared.correlation[lag] = (i64)total;
  }
}

// Fits a linear prediction: autocorrelation of samples in 14 bits under Welch's window, then in 24 bits if that needs it.
template <class T>
__device__ inline void fit_linear(PlanShared &shared, const Scaled<T> &scaled, u32 n, i16 *windowed) {
  u32 thread = threadIdx.x;
  if (thread == 0) {
    shared.solution = NO_PREDICTION;
    shared.largest = 0;
  }
  __syncthreads();
  if (n < MIN_LINEAR) return;
  u32 largest = 0;
  for (u32 i = thread; i < n; i += PLAN_THREADS) {
    i64 x = (i64)Word<T>::wide(scaled.at(i));
    if (sizeof(T) == 2) x = (i32)x;
    u32 size = (u32)(x < 0 ? -x : x);
    if (size > largest) largest = size;
  }
  atomicMax(&shared.largest, largest);
  __syncthreads();
  u32 bits = 32 - (u32)__clz((int)shared.largest), excess = bits > 13 ? bits - 13 : 0;
  const Welch window(n);
  for (u32 i = thread; i < n; i += PLAN_THREADS) {
    i32 x = (i32)(u32)Word<T>::wide(scaled.at(i)) >> excess;
    windowed[i] = (i16)(x * (i32)window.weight(i) >> 15);
  }
  __syncthreads();
  i64 sums[LAGS] = {};
  for (u32 i = thread; i < n; i += PLAN_THREADS) {
    i32 x = windowed[i];
#pragma unroll
    for (u32 lag = 0; lag < LAGS; lag++) {
      if (i + lag < n) sums[lag] += (i64)(x * windowed[i + lag]);
    }
  }
#pragma unroll
  for (u32 lag = 0; lag < LAGS; lag++) {
    u64 total = plan_sum((u64)sums[lag], shared);
    if (thread == 0) shared.correlation[lag] = (i64)total;
  }
  if (thread == 0 && shared.correlation[0] != 0) shared.solution = solve(shared.correlation, n, false, shared.linear);
  __syncthreads();
  if (shared.solution != NEEDS_FINE) return;
  correlate_finely(shared, scaled, n, window);
  if (thread == 0) shared.solution = shared.correlation[0] != 0 ? solve(shared.correlation, n, true, shared.linear) : NO_PREDICTION;
  __syncthreads();
}

// Which of the modes `low` to `low` + 2^`width` - 1 is closest to `mode`.
__device__ inline u32 nearest_mode(u32 low, u32 width, u32 plain, u32 mode) {
  u32 last = min_u32(low + (1u << width) - 1, plain);
  return mode < low ? low : mode > last ? last : mode;
}

// Additional bits, estimated, if a segment has only these modes.
__device__ inline u64 excess_of(const PlanShared &shared, u32 low, u32 width, u32 plain, u32 blocks) {
  u64 total = (u64)blocks * width;
  for (u32 mode = 0; mode <= plain; mode++) {
    u32 count = shared.mode_blocks[mode], nearest = nearest_mode(low, width, plain, mode);
    if (count == 0 || nearest == mode) continue;
    if (nearest > mode) {
      total += shared.mode_above[mode] + (u64)count * BLOCK2 * (nearest - mode - 1);
    } else if (nearest == 0) {
      total += ~0ull >> 8; // mode 0 holds nothing but zeros
    } else {
      u64 below = shared.mode_below[mode];
      total += (below < BELOW_MAX ? below : BELOW_MAX) << (mode - nearest - 1);
    }
  }
  return total;
}

template <class T>
__device__ inline void plan_segment(PlanShared &shared, const T *samples, u32 n, bool is_signed, rice2_plan &plan,
                                    u8 *modes, i16 *windowed) {
  constexpr u32 PLAIN = Word<T>::BITS + 1, W = sizeof(T);
  u32 thread = threadIdx.x, blocks = div_ceil(n, BLOCK2);
  Scaled<T> scaled = {samples, 0, 1, is_signed};
  find_step(shared, scaled, n);
  find_median(shared, scaled, n);
  scaled.step = shared.step;
  scaled.centre = shared.centre;
  if (thread < WARP) {
    u32 sum = (u32)xxh3_warp((const u8 *)samples, (u64)n * W);
    if (thread == 0) shared.checksum = sum;
  }
  fit_linear(shared, scaled, n, windowed);

  // The predictor, by an estimate of its bits.
  Predictor2 candidates[4] = {{0, 0, 0, {}}, {1, 0, 0, {}}, {2, 0, 0, {}}, shared.linear};
  u32 count = shared.solution == FOUND ? 4 : 3;
  u64 bits[4] = {};
  for (u32 block = thread; block < blocks; block += PLAN_THREADS) {
    u32 first = block * BLOCK2, size = min_u32(n - first, BLOCK2);
    u64 sums[4] = {};
    History<T> history;
    history.start(scaled, first);
    for (u32 i = 0; i < size; i++) {
      u32 x = scaled.at(first + i);
#pragma unroll
      for (u32 c = 0; c < 4; c++) {
        if (c < count) {
          u32 z = history.residual(x, c, candidates[3].shift, candidates[3].taps);
          sums[c] += first + i < 2 ? first_residual(scaled, first + i, c, z) : z;
        }
      }
      history.push(x);
    }
#pragma unroll
    for (u32 c = 0; c < 4; c++) bits[c] += estimate(sums[c], size, Word<T>::BITS);
  }
  u32 chosen = 0;
  u64 fewest = ~0ull;
#pragma unroll
  for (u32 c = 0; c < 4; c++) {
    u64 total = plan_sum(bits[c], shared);
    // A linear prediction must save more than one part in 128: it takes longer to undo.
    if (c == LINEAR) total += total / 128 + 8ull * (1 + 2 * candidates[3].order);
    if (c < count && total < fewest) {
      fewest = total;
      chosen = c;
    }
  }
  const Predictor2 predictor = chosen == LINEAR ? candidates[3] : Predictor2{chosen, 0, 0, {}};

  // The best mode of each block, then the modes of the segment.
  for (u32 mode = thread; mode < MODES2; mode += PLAN_THREADS) {
    shared.mode_blocks[mode] = shared.mode_above[mode] = 0;
    shared.mode_below[mode] = 0;
  }
  if (thread == 0) {
    shared.best_excess = ~0ull;
    shared.best_candidate = NONE;
  }
  __syncthreads();
  for (u32 block = thread; block < blocks; block += PLAN_THREADS) {
    u32 first = block * BLOCK2, size = min_u32(n - first, BLOCK2), z[BLOCK2];
    block_residuals(scaled, predictor, first, size, z);
    Best best = best_mode<T>(z, size);
    modes[block] = (u8)best.mode;
    atomicAdd(&shared.mode_blocks[best.mode], 1u);
    atomicAdd(&shared.mode_above[best.mode], best.above);
    atomicAdd(&shared.mode_below[best.mode], best.below < BELOW_MAX ? best.below : BELOW_MAX);
  }
  __syncthreads();
  u32 lowest = 0, highest = PLAIN;
  while (lowest < PLAIN && shared.mode_blocks[lowest] == 0) lowest++;
  while (highest > 0 && shared.mode_blocks[highest] == 0) highest--;
  u32 widest = highest > lowest ? 32 - (u32)__clz((int)(highest - lowest)) : 0;
  // One thread for each candidate: from the widest modes to one mode, of any lowest mode. The first of the best is taken.
  u32 lows = highest - lowest + 1, low = lowest + thread % lows, width = widest - thread / lows;
  bool is_candidate = thread / lows <= widest;
  u64 excess = is_candidate ? excess_of(shared, low, width, PLAIN, blocks) : ~0ull;
  atomicMin(&shared.best_excess, excess);
  __syncthreads();
  if (is_candidate && excess == shared.best_excess) atomicMin(&shared.best_candidate, thread);
  __syncthreads();
  low = lowest + shared.best_candidate % lows;
  width = widest - shared.best_candidate / lows;

  u64 fixed_unary = 0, escapes = 0; // bytes << 32 | bits
  for (u32 block = thread; block < blocks; block += PLAN_THREADS) {
    u32 first = block * BLOCK2, size = min_u32(n - first, BLOCK2), z[BLOCK2];
    block_residuals(scaled, predictor, first, size, z);
    u32 mode = nearest_mode(low, width, PLAIN, modes[block]);
    Cost cost = cost_of<T>(z, size, mode);
    modes[block] = (u8)mode;
    fixed_unary += (u64)cost.fixed << 32 | cost.unary;
    escapes += cost.escapes;
  }
  fixed_unary = plan_sum(fixed_unary, shared);
  escapes = plan_sum(escapes, shared);
  if (thread == 0) {
    u32 fixed = (u32)(fixed_unary >> 32), unary = (u32)fixed_unary;
    u32 head = 7 + W + (scaled.step != 1 ? W : 0) + (escapes > 0 ? 2 : 0) + (chosen == LINEAR ? 1 + 2 * predictor.order : 0);
    u32 bytes = head + (blocks * width + 7) / 8 + fixed + (u32)escapes * W + (unary + 7) / 8;
    bool is_coded = bytes < RAW_HEAD + n * W;
    plan = {};
    plan.sum = shared.checksum;
    plan.bytes = ((is_coded ? bytes : RAW_HEAD + n * W) + 3) / 4 * 4;
    plan.is_unsigned = !is_signed;
    plan.kind = RAW;
    if (is_coded) {
      plan.kind = chosen | (scaled.step != 1 ? STEP : 0) | (escapes > 0 ? ESCAPES : 0);
      plan.low = low;
      plan.width = width;
      plan.order = predictor.order;
      plan.shift = predictor.shift;
      plan.centre = chosen == 1 || chosen == 2 ? samples[0] : scaled.centre;
      plan.step = scaled.step;
      plan.escapes = (u32)escapes;
      plan.fixed = fixed;
      for (u32 i = 0; i < MAX_ORDER; i++) plan.taps[i] = predictor.taps[i];
    }
  }
  __syncthreads();
}

template <class T>
__device__ inline void plan_all(const rice2_stream *streams, u32 stream_count, u32 segment_count, u32 element,
                                rice2_plan *plans, u8 *modes, u32 mode_stride, u32 *scratch, u32 scratch_words) {
  SHARED(PlanShared, shared);
  i16 *windowed = (i16 *)(scratch + (u64)blockIdx.x * scratch_words);
  for (u32 slot = blockIdx.x; slot < segment_count; slot += gridDim.x) {
    EncodeSegment segment = find_segment(streams, stream_count, slot);
    if (segment.samples == 0) continue;
    const T *samples = (const T *)streams[segment.stream].samples + segment.first;
    plan_segment<T>(shared, samples, segment.samples, element % 2 == 0, plans[slot], modes + (u64)slot * mode_stride, windowed);
  }
}

extern "C" __global__ void __launch_bounds__(256)
    rice2_plan_16(const rice2_stream *streams, rice_u32 stream_count, rice_u32 segment_count, rice_u32 element,
                  rice2_plan *plans, unsigned char *modes, rice_u32 mode_stride, rice_u32 *scratch, rice_u32 scratch_words) {
  plan_all<u16>(streams, stream_count, segment_count, element, plans, modes, mode_stride, scratch, scratch_words);
}

extern "C" __global__ void __launch_bounds__(256)
    rice2_plan_32(const rice2_stream *streams, rice_u32 stream_count, rice_u32 segment_count, rice_u32 element,
                  rice2_plan *plans, unsigned char *modes, rice_u32 mode_stride, rice_u32 *scratch, rice_u32 scratch_words) {
  plan_all<u32>(streams, stream_count, segment_count, element, plans, modes, mode_stride, scratch, scratch_words);
}
