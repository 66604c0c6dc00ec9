// Plans the encoding of version 2 segments: step, centre, predictor, modes. The choices are exactly those of
// linerate_rice::v2, so that the bytes are the same.
//
// Parallel: segments, one block of 256 threads each, and within a segment its samples or its blocks of 32. Most is
//   integer arithmetic whose result does not depend on the order: greatest common divisor, a median by ranks, sums,
//   covariances. What follows from covariances, the fit of a linear prediction, is a fixed sequence of IEEE operations,
//   compiled without fused multiply-adds: one thread for each of its sums.
// Loads: passes over blocks read 32 consecutive samples per thread: each line is loaded once and used from the L1 cache.
//   Covariances are computed for every fourth block, again in each of five passes: three for the fits, and two that
//   estimate the bits of predictors.
// Cost: passes over all samples for the step, modes and sizes; about 18 multiplications per sample for the predictor.
#pragma once

#include "rice2.cuh"
#include "xxh3.cuh"

constexpr u32 PLAN_THREADS = 256;
constexpr u32 PLAN_WARPS = PLAN_THREADS / WARP;
constexpr u32 MEDIAN_SAMPLES = 255; // the centre is the median of at most this many samples
constexpr u32 MODES2 = 34;          // number of modes of 32-bit samples; samples of 16 bits have fewer
// Number of pairs of delays from 0 to MAX_ORDER, where (i, j) and (j, i) are one pair. A pair has a covariance.
constexpr u32 PAIRS = (MAX_ORDER + 1) * (MAX_ORDER + 2) / 2;
// Samples that the covariances of a block need: its own, and the MAX_ORDER before it.
constexpr u32 MIN_COVARIANCE = MAX_ORDER + BLOCK2;
constexpr u32 STRIDE = 4; // covariances are computed for one of this many blocks of 32 samples
constexpr u32 LANES = 8;  // blocks with covariances in a group; sums add up those at the same place of all groups first
constexpr u32 GROUPS = 4; // groups whose covariances are in shared memory at a time
constexpr u32 GROUP_SAMPLES = LANES * STRIDE * BLOCK2; // samples of a segment from one group to the next
constexpr u32 FITS = 3;   // fits of a linear prediction; each weighs blocks by the errors of the predictor before it
constexpr u64 BELOW_MAX = (1ull << 22) - 1; // limit of Best::below in the sums over blocks

// A segment of a stream to encode.
struct EncodeSegment {
  u32 stream;  // index of its stream
  u64 first;   // index of its first sample in the stream
  u32 samples; // number of its samples, 0 in a slot without a segment
};

__device__ inline EncodeSegment find_segment(const rice2_stream *streams, u32 stream_count, u32 slot) {
  u32 index = owner_of<rice2_stream, &rice2_stream::first_segment>(streams, stream_count, slot);
  const rice2_stream &stream = streams[index];
  u64 first = (u64)(slot - stream.first_segment) * stream.segment;
  if (first >= stream.sample_count) return {index, first, 0}; // a slot without a segment
  u64 left = stream.sample_count - first;
  return {index, first, left < stream.segment ? (u32)left : stream.segment};
}

// A predictor: the fixed one of order `kind`, or if that is LINEAR the rounded sum of taps times the samples before,
// shifted right.
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
    // The difference is a multiple of the step, and its size is less than 2^32.
    i64 difference = value(x) - value(centre);
    u32 quotient = (u32)(difference < 0 ? -difference : difference) / step;
    return difference < 0 ? 0 - quotient : quotient;
  }
};

template <class T> __device__ inline u32 zigzag_word(u32 x) {
  if (sizeof(T) == 2) return ((x << 1) ^ (u32)((i32)(i16)x >> 15)) & 0xffff;
  return (x << 1) ^ (u32)((i32)x >> 31);
}

// Goes through the samples of a block, and keeps the eight samples before each.
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

// Corrects `z`, the zigzag residual of a fixed predictor at sample `i`, 0 or 1, of a segment. Predictors of order 1 and 2
// count from the first sample, not from the centre, so they predict the first two samples by the first one. Returns `z`
// unchanged for other predictors.
template <class T> __device__ inline u32 first_residual(const Scaled<T> &scaled, u32 i, u32 kind, u32 z) {
  if (kind == 1 || kind == 2) {
    if (i == 0) return 0;
    if (i == 1) return zigzag_word<T>(scaled.at(1) - scaled.at(0));
  }
  return z;
}

// Sets `z` to the zigzag residuals of the block of `n` samples from `first` on, and to zeros after them.
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

// Estimates the bits of `n` zigzag values with this sum: without escapes, with the better of two Rice parameters, or
// verbatim if that takes fewer.
__device__ inline u64 estimate(u64 sum, u32 n, u32 word_bits) {
  if (sum == 0) return 0;
  u32 log = log2_or_zero(sum / n), k = log > 0 ? log - 1 : 0;
  u64 low = n * (u64)(k + 1) + (sum >> k), high = n * (u64)(k + 2) + (sum >> (k + 1)), plain = n * (u64)word_bits;
  low = low < high ? low : high;
  return low < plain ? low : plain;
}

// Size of an encoded block.
struct Cost {
  u32 fixed;   // bytes of its fixed bits
  u32 unary;   // bits of its unary codes
  u32 escapes; // number of escaped samples
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
  u64 below; // for modes from 2 on: about the bits that the block takes more in the mode below
  u32 above; // estimate of the bits that the block takes more in the mode above
};

// Finds the mode for a block: from an estimate downwards, until a mode takes more bits than the one before, or the mode
// of verbatim values if that takes fewer.
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

// Returns the place of the pair of delays `i` and `i + difference` in arrays of PAIRS elements.
__device__ inline u32 place(u32 i, u32 difference) { return i * (MAX_ORDER + 1) - i * (i - (i > 0)) / 2 + difference; }

struct PlanShared {
  u64 sums[PLAN_WARPS];
  u32 step;
  u32 centre;
  u32 largest;
  i64 values[MEDIAN_SAMPLES + 1];
  // For each block with covariances, its samples and those before it, oldest first. The length of a row is odd, so that
  // rows begin in different banks. It also keeps NVRTC from loading samples in pairs: where it does so differs from one
  // of its runs to the next, and so would the PTX.
  i32 samples[GROUPS * LANES][MIN_COVARIANCE + 1];
  double covariances[GROUPS * LANES][PAIRS];
  double weights[GROUPS * LANES];
  double energies[3][GROUPS * LANES]; // of each block, by up to three forms
  double products[3][LANES];
  double bits[3];
  double forms[3][PAIRS];
  double weighted[PAIRS * LANES];
  double pairs[PAIRS];
  Predictor2 linear;
  bool has_linear;
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

// Sets `shared.step` to the greatest common divisor of the differences of samples, or to 1 if all samples are equal.
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

// Sets `shared.centre` to the median of at most 255 evenly spread samples: the one whose rank is half their number.
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

// Returns about the binary logarithm of a positive normal number.
__device__ inline double log2_of(double x) {
  u64 bits = (u64)__double_as_longlong(x);
  i32 exponent = (i32)(bits >> 52) - 1023;
  double fraction = __longlong_as_double((i64)((bits & ((1ull << 52) - 1)) | 1023ull << 52));
  return (double)exponent + fraction * (2.0 - fraction / 3.0) - 5.0 / 3.0;
}

// Sets `form` to the factors by which the covariances of a block are multiplied and added up to get the energy of its
// residuals: of the samples minus the sums of taps times the samples before each.
__device__ inline void set_form(double (&form)[PAIRS], const double (&taps)[MAX_ORDER]) {
  double weights[MAX_ORDER + 1];
  weights[0] = 1.0;
  for (u32 i = 0; i < MAX_ORDER; i++) weights[i + 1] = -taps[i];
  for (u32 i = 0; i <= MAX_ORDER; i++) {
    form[place(i, 0)] = weights[i] * weights[i];
    for (u32 j = i + 1; j <= MAX_ORDER; j++) form[place(i, j - i)] = 2.0 * weights[i] * weights[j];
  }
}

// Fits linear predictions of all orders at once by least squares: the factors L D L' of the matrix of the covariances of
// delayed samples. `error` has the energy of the residuals of each order.
struct Fit {
  double lower[MAX_ORDER][MAX_ORDER], solved[MAX_ORDER], error[MAX_ORDER + 1];

  __device__ explicit Fit(const double (&pairs)[PAIRS]) {
    double pivots[MAX_ORDER] = {};
    for (u32 k = 0; k < MAX_ORDER; k++) {
      for (u32 i = 0; i < MAX_ORDER; i++) lower[k][i] = 0.0;
      solved[k] = 0.0;
    }
    error[0] = pairs[0];
    for (u32 k = 0; k < MAX_ORDER; k++) {
      auto done = [&](u32 row) {
        double sum = 0.0;
        for (u32 j = 0; j < k; j++) sum = sum + lower[row][j] * lower[k][j] * pivots[j];
        return sum;
      };
      double column = pairs[place(k + 1, 0)], pivot = column - done(k);
      error[k + 1] = error[k];
      if (!(pivot > column * 1e-10)) continue;
      for (u32 i = k + 1; i < MAX_ORDER; i++) lower[i][k] = (pairs[place(k + 1, i - k)] - done(i)) / pivot;
      double sum = 0.0;
      for (u32 j = 0; j < k; j++) sum = sum + lower[k][j] * solved[j] * pivots[j];
      double rest = pairs[place(0, k + 1)] - sum;
      solved[k] = rest / pivot;
      pivots[k] = pivot;
      error[k + 1] = error[k] - rest * solved[k];
    }
  }

  __device__ void taps_of(u32 order, double (&taps)[MAX_ORDER]) const {
    for (u32 i = 0; i < MAX_ORDER; i++) taps[i] = 0.0;
    for (u32 k = order; k-- > 0;) {
      double sum = 0.0;
      for (u32 i = k + 1; i < order; i++) sum = sum + lower[i][k] * taps[i];
      taps[k] = solved[k] - sum;
    }
  }

  // Returns the order to take in a segment of `n` samples: 2, or a higher even one if it lowers the error enough.
  __device__ u32 order(u32 n) const {
    double pays = 1.0 - 48.0 / (double)n - 0.005;
    u32 best = 2;
    for (u32 order = 4; order <= MAX_ORDER; order += 2) {
      if (error[order] < error[best] * pays) best = order;
    }
    return best;
  }
};

// Rounds coefficients to signed integers of 14 bits over a power of two; the error of each is added to the next one.
// Returns false if a coefficient is too large for that.
__device__ inline bool round_taps(const double (&taps)[MAX_ORDER], u32 order, Predictor2 &predictor) {
  double largest = 0;
  for (u32 i = 0; i < order; i++) {
    double size = taps[i] < 0 ? -taps[i] : taps[i];
    if (size > largest) largest = size;
  }
  for (u32 shift = 15; shift-- > 0;) {
    if (largest * (double)(1u << shift) < (double)(1u << 13)) {
      predictor.kind = LINEAR;
      predictor.order = order;
      predictor.shift = shift;
      double rest = 0;
      for (u32 i = 0; i < MAX_ORDER; i++) {
        double scaled = i < order ? taps[i] * (double)(1u << shift) + rest : 0.0;
        predictor.taps[i] = (i16)(i32)(scaled + (scaled < 0.0 ? -0.5 : 0.5));
        rest = scaled - (double)predictor.taps[i];
      }
      return true;
    }
  }
  return false;
}

// The covariances of every fourth block of a segment, computed for GROUPS groups of blocks at a time. For blocks of the
// last group that would exceed the segment, the last 32 samples are taken.
template <class T> struct Covariances {
  const Scaled<T> &scaled;
  u32 n, groups, excess;
  double quiet;

  __device__ Covariances(PlanShared &shared, const Scaled<T> &scaled, u32 n) : scaled(scaled), n(n) {
    u32 last = n - MIN_COVARIANCE;
    groups = last == 0 ? 1 : div_ceil(last, GROUP_SAMPLES);
    if (threadIdx.x == 0) shared.largest = 0;
    __syncthreads();
    u32 largest = 0;
    for (u32 i = threadIdx.x; i < n; i += PLAN_THREADS) {
      i32 x = signed_at(i);
      largest |= x < 0 ? 0 - (u32)x : (u32)x;
    }
    atomicOr(&shared.largest, largest);
    __syncthreads();
    u32 bits = 32 - (u32)__clz((int)shared.largest);
    excess = bits > 23 ? bits - 23 : 0;
    double lost = (double)(1u << excess);
    quiet = 0.0625 * (double)BLOCK2 / (lost * lost);
  }

  __device__ i32 signed_at(u32 i) const {
    u32 x = scaled.at(i);
    return sizeof(T) == 2 ? (i32)(i16)x : (i32)x;
  }

  // Computes the covariances of GROUPS groups, or fewer at the end, from group `first` on. Returns the number of groups.
  __device__ u32 load(PlanShared &shared, u32 first) const {
    u32 count = min_u32(groups - first, GROUPS), blocks = count * LANES, last = n - MIN_COVARIANCE;
    for (u32 i = threadIdx.x; i < blocks * MIN_COVARIANCE; i += PLAN_THREADS) {
      u32 block = i / MIN_COVARIANCE, at = i % MIN_COVARIANCE;
      u32 begin = min_u32((first * LANES + block) * STRIDE * BLOCK2, last);
      shared.samples[block][at] = signed_at(begin + at) >> excess;
    }
    __syncthreads();
    // Each block and difference of delays is the work of one thread. All sums are exact.
    for (u32 i = threadIdx.x; i < blocks * (MAX_ORDER + 1); i += PLAN_THREADS) {
      u32 block = i % blocks, difference = i / blocks;
      const i32 *x = shared.samples[block];
      i64 sum = 0;
      for (u32 t = MAX_ORDER; t < MIN_COVARIANCE; t++) sum += (i64)x[t] * x[t - difference];
      shared.covariances[block][place(0, difference)] = (double)sum;
      for (u32 delay = 0; delay + difference < MAX_ORDER; delay++) {
        u32 gained = MAX_ORDER - 1 - delay, lost = MIN_COVARIANCE - 1 - delay;
        sum += (i64)x[gained] * x[gained - difference] - (i64)x[lost] * x[lost - difference];
        shared.covariances[block][place(delay + 1, difference)] = (double)sum;
      }
    }
    __syncthreads();
    return count;
  }

  // Computes the energies of the blocks of `count` groups by each of `forms` forms.
  __device__ void find_energies(PlanShared &shared, u32 count, u32 forms) const {
    for (u32 i = threadIdx.x; i < forms * count * LANES; i += PLAN_THREADS) {
      u32 form = i / (count * LANES), block = i % (count * LANES);
      double sums[3] = {};
      for (u32 p = 0; p < PAIRS; p++) sums[p % 3] = sums[p % 3] + shared.covariances[block][p] * shared.forms[form][p];
      double energy = sums[0] + sums[1] + sums[2];
      shared.energies[form][block] = (energy > 0.0 ? energy : 0.0) + quiet;
    }
    __syncthreads();
  }

  // Sets `shared.bits` to estimates of the bits that a sample takes with the predictor of each of `forms` forms.
  __device__ void rate(PlanShared &shared, u32 forms) const {
    if (threadIdx.x < 3) shared.bits[threadIdx.x] = 0.0;
    for (u32 first = 0; first < groups; first += GROUPS) {
      find_energies(shared, load(shared, first), forms);
      u32 form = threadIdx.x / LANES, lane = threadIdx.x % LANES;
      bool begins = first % 8 == 0, ends = first % 8 + GROUPS == 8 || first + GROUPS >= groups;
      if (form < forms) {
        double product = begins ? 1.0 : shared.products[form][lane];
        for (u32 group = 0; group < min_u32(groups - first, GROUPS); group++) {
          product = product * shared.energies[form][group * LANES + lane];
        }
        shared.products[form][lane] = product;
      }
      __syncthreads();
      if (ends && threadIdx.x < forms) {
        for (u32 l = 0; l < LANES; l++) shared.bits[threadIdx.x] += log2_of(shared.products[threadIdx.x][l]);
      }
      __syncthreads();
    }
    if (threadIdx.x < forms) {
      double bits = shared.bits[threadIdx.x];
      shared.bits[threadIdx.x] = 0.5 * (bits / (double)(LANES * groups) - log2_of((double)BLOCK2)) + 2.0 + (double)excess;
    }
    __syncthreads();
  }

  // Sets `shared.pairs` to the sum of covariances over all blocks, those of each block divided by its energy by the first
  // form.
  __device__ void weigh(PlanShared &shared) const {
    for (u32 i = threadIdx.x; i < PAIRS * LANES; i += PLAN_THREADS) shared.weighted[i] = 0.0;
    for (u32 first = 0; first < groups; first += GROUPS) {
      u32 count = load(shared, first);
      find_energies(shared, count, 1);
      for (u32 i = threadIdx.x; i < count * LANES; i += PLAN_THREADS) shared.weights[i] = 1.0 / shared.energies[0][i];
      __syncthreads();
      for (u32 i = threadIdx.x; i < PAIRS * LANES; i += PLAN_THREADS) {
        u32 pair = i / LANES, lane = i % LANES;
        double sum = shared.weighted[i];
        for (u32 group = 0; group < count; group++) {
          u32 block = group * LANES + lane;
          sum = sum + shared.covariances[block][pair] * shared.weights[block];
        }
        shared.weighted[i] = sum;
      }
      __syncthreads();
    }
    for (u32 pair = threadIdx.x; pair < PAIRS; pair += PLAN_THREADS) {
      double sum = 0.0;
      for (u32 lane = 0; lane < LANES; lane++) sum = sum + shared.weighted[pair * LANES + lane];
      shared.pairs[pair] = sum;
    }
    __syncthreads();
  }
};

// Chooses a predictor by covariances, for a segment of at least MIN_COVARIANCE samples. Returns its kind; a linear
// prediction is in `shared.linear`.
template <class T>
__device__ inline u32 choose_by_covariances(PlanShared &shared, const Scaled<T> &scaled, u32 n) {
  const Covariances<T> covariances(shared, scaled, n);
  if (threadIdx.x == 0) {
    set_form(shared.forms[0], {});
    set_form(shared.forms[1], {1.0});
    set_form(shared.forms[2], {2.0, -1.0});
  }
  __syncthreads();
  covariances.rate(shared, 3);
  u32 fixed = 0;
  for (u32 kind = 1; kind < 3; kind++) fixed = shared.bits[kind] < shared.bits[fixed] ? kind : fixed;
  double bits = shared.bits[fixed];
  __syncthreads();
  for (u32 i = threadIdx.x; i < PAIRS; i += PLAN_THREADS) shared.forms[0][i] = shared.forms[fixed][i];
  __syncthreads();
  for (u32 i = 0; i < FITS; i++) {
    covariances.weigh(shared);
    if (threadIdx.x == 0) {
      const Fit fit(shared.pairs);
      u32 order = i + 1 < FITS ? MAX_ORDER : fit.order(n);
      double taps[MAX_ORDER];
      fit.taps_of(order, taps);
      if (i + 1 == FITS) {
        shared.has_linear = round_taps(taps, order, shared.linear);
        double unit = 1.0 / (double)(1u << shared.linear.shift);
        for (u32 j = 0; j < MAX_ORDER; j++) taps[j] = (double)shared.linear.taps[j] * unit;
      }
      set_form(shared.forms[0], taps);
    }
    __syncthreads();
  }
  if (!shared.has_linear) return fixed;
  covariances.rate(shared, 1);
  double head = (double)(1 + 2 * shared.linear.order) * 8.0 / (double)n;
  // A linear prediction must save more than one part in 64: it takes longer to undo.
  return shared.bits[0] * (1.0 + 1.0 / 64.0) + head < bits ? LINEAR : fixed;
}

// Chooses a fixed predictor by an estimate of its bits, for a segment of fewer than MIN_COVARIANCE samples. Returns its
// kind.
template <class T> __device__ inline u32 choose_by_estimate(PlanShared &shared, const Scaled<T> &scaled, u32 n) {
  u32 chosen = 0;
  u64 fewest = ~0ull;
  for (u32 kind = 0; kind < 3; kind++) {
    u64 bits = 0;
    for (u32 block = threadIdx.x; block < div_ceil(n, BLOCK2); block += PLAN_THREADS) {
      u32 first = block * BLOCK2, size = min_u32(n - first, BLOCK2), z[BLOCK2];
      block_residuals(scaled, Predictor2{kind, 0, 0, {}}, first, size, z);
      u64 sum = 0;
      for (u32 i = 0; i < BLOCK2; i++) sum += z[i];
      bits += estimate(sum, size, Word<T>::BITS);
    }
    u64 total = plan_sum(bits, shared);
    if (total < fewest) {
      fewest = total;
      chosen = kind;
    }
  }
  return chosen;
}

// Returns which of the modes `low` to `low` + 2^`width` - 1, but not above `plain`, is closest to `mode`.
__device__ inline u32 nearest_mode(u32 low, u32 width, u32 plain, u32 mode) {
  u32 last = min_u32(low + (1u << width) - 1, plain);
  return mode < low ? low : mode > last ? last : mode;
}

// Estimates the bits that a segment takes more if its blocks have only modes from `low` on that `width` bits can tell,
// instead of the best one for each block. The bits that tell the modes are included.
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
                                    u8 *modes) {
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
  u32 chosen = n < MIN_COVARIANCE ? choose_by_estimate(shared, scaled, n) : choose_by_covariances(shared, scaled, n);
  const Predictor2 predictor = chosen == LINEAR ? shared.linear : Predictor2{chosen, 0, 0, {}};

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

  u64 fixed_unary = 0, escapes = 0; // `fixed_unary`: bytes of fixed bits << 32 | bits of unary codes
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
                                rice2_plan *plans, u8 *modes, u32 mode_stride) {
  SHARED(PlanShared, shared);
  for (u32 slot = blockIdx.x; slot < segment_count; slot += gridDim.x) {
    EncodeSegment segment = find_segment(streams, stream_count, slot);
    if (segment.samples == 0) continue;
    const T *samples = (const T *)streams[segment.stream].samples + segment.first;
    plan_segment<T>(shared, samples, segment.samples, element % 2 == 0, plans[slot], modes + (u64)slot * mode_stride);
  }
}

extern "C" __global__ void __launch_bounds__(256)
    rice2_plan_16(const rice2_stream *streams, rice_u32 stream_count, rice_u32 segment_count, rice_u32 element,
                  rice2_plan *plans, unsigned char *modes, rice_u32 mode_stride) {
  plan_all<u16>(streams, stream_count, segment_count, element, plans, modes, mode_stride);
}

extern "C" __global__ void __launch_bounds__(256)
    rice2_plan_32(const rice2_stream *streams, rice_u32 stream_count, rice_u32 segment_count, rice_u32 element,
                  rice2_plan *plans, unsigned char *modes, rice_u32 mode_stride) {
  plan_all<u32>(streams, stream_count, segment_count, element, plans, modes, mode_stride);
}
