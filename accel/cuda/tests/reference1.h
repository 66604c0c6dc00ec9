// A slow codec of version 1, which follows the description of the format one bit at a time. The
// kernels are compared with it.
#pragma once

#include <algorithm>
#include <optional>

#include "data.h"

namespace reference1 {

inline rice1_params params(unsigned m, unsigned segment, std::vector<int> taps = {1, -1}) {
  rice1_params params = {0, segment, static_cast<unsigned>(taps.size()), {}};
  while ((1u << params.k) < m) params.k++;
  std::copy(taps.begin(), taps.end(), params.taps);
  return params;
}

inline uint32_t segment_of(const rice1_params &params, uint32_t samples) {
  uint32_t whole = std::max(samples, 1u);
  return params.segment == 0 ? whole : std::min(params.segment, whole);
}

inline void put(Bytes &out, uint32_t word) {
  for (int i = 0; i < 4; i++) out.push_back(static_cast<uint8_t>(word >> 8 * i));
}

inline Bytes encode(const rice1_params &params, const std::vector<uint16_t> &samples) {
  Bytes out;
  put(out, static_cast<uint32_t>(samples.size()));
  uint32_t segment = segment_of(params, static_cast<uint32_t>(samples.size()));
  for (size_t start = 0; start < samples.size(); start += segment) {
    std::vector<bool> bits;
    auto append = [&](uint32_t value, unsigned n) {
      while (n-- > 0) bits.push_back(value >> n & 1);
    };
    for (size_t i = 0; i < segment && start + i < samples.size(); i++) {
      int64_t y = 0;
      for (size_t j = 0; j < params.tap_count && j <= i; j++) y += int64_t(params.taps[j]) * int16_t(samples[start + i - j]);
      int32_t wrapped = static_cast<int16_t>(y);
      uint32_t z = wrapped >= 0 ? 2 * wrapped : -2 * wrapped - 1, q = z >> params.k;
      if (q < 8) {
        append(1, q + 1);
        append(z & ((1u << params.k) - 1), params.k);
      } else {
        append(1, 9);
        append(z, 16);
      }
    }
    while (bits.size() % 32 != 0) bits.push_back(false);
    put(out, static_cast<uint32_t>(bits.size() / 32));
    for (size_t i = 0; i < bits.size(); i += 32) {
      uint32_t word = 0;
      for (size_t j = 0; j < 32; j++) word = word << 1 | bits[i + j];
      put(out, word);
    }
  }
  return out;
}

struct Decoded {
  Status status;
  std::vector<uint16_t> samples; // empty after an error
};

// Decodes a chunk with the checks of linerate_rice::decode_into, in the same order. `capacity` is
// the number of samples that the output has room for.
inline Decoded decode(const rice1_params &params, const Bytes &chunk, uint32_t capacity) {
  auto word = [&](size_t at) {
    return uint32_t(chunk[at]) | uint32_t(chunk[at + 1]) << 8 | uint32_t(chunk[at + 2]) << 16 | uint32_t(chunk[at + 3]) << 24;
  };
  if (chunk.size() < 4) return {{RICE_TRUNCATED, chunk.size(), RICE1_ENDS_IN_FIRST_WORD}, {}};
  uint64_t samples = word(0), least = params.k + 1;
  if (samples > (chunk.size() - 4) * 8 / least) return {{RICE_CORRUPT, 0, RICE1_CHUNK_TOO_SHORT}, {}};
  uint32_t segment = segment_of(params, static_cast<uint32_t>(samples));
  struct Segment {
    size_t start, words, samples;
  };
  std::vector<Segment> segments;
  std::optional<Status> layout;
  size_t at = 4;
  for (uint64_t sample = 0; sample < samples && !layout;) {
    if (at + 4 > chunk.size()) {
      layout = Status{RICE_TRUNCATED, chunk.size(), RICE1_ENDS_BEFORE_SEGMENT};
      break;
    }
    size_t words = word(at), n = std::min<size_t>(segment, samples - sample);
    if (at + 4 + 4 * words > chunk.size()) layout = Status{RICE_CORRUPT, at, RICE1_SEGMENT_TOO_LONG};
    else if (n > 32 * words / least) layout = Status{RICE_CORRUPT, at, RICE1_SEGMENT_TOO_SHORT};
    segments.push_back({at + 4, words, n});
    at += 4 + 4 * words;
    sample += n;
  }
  if (!layout && at != chunk.size()) return {{RICE_CORRUPT, at, RICE1_CHUNK_GOES_ON}, {}};
  if (samples > capacity) return {{RICE_OUTPUT_TOO_SMALL, 0, RICE_OUTPUT_SMALL}, {}};
  if (layout) return {*layout, {}};

  std::vector<uint16_t> out;
  for (const Segment &s : segments) {
    uint64_t bits = 32 * s.words, bit = 0;
    auto next = [&](uint64_t i) { return i < bits && word(s.start + i / 32 * 4) >> (31 - i % 32) & 1; };
    std::vector<int16_t> history;
    for (size_t i = 0; i < s.samples; i++) {
      uint32_t q = 0;
      while (q < 9 && !next(bit + q)) q++;
      if (q == 9) {
        int problem = bit + 9 > bits ? RICE1_SEGMENT_ENDS : RICE1_NINE_ZEROS;
        return {{RICE_CORRUPT, s.start + bit / 32 * 4, problem}, {}};
      }
      uint32_t n = q == 8 ? 16 : params.k, low = 0;
      for (uint32_t j = 0; j < n; j++) low = low << 1 | next(bit + q + 1 + j);
      if (bit + q + 1 + n > bits) return {{RICE_CORRUPT, s.start + bit / 32 * 4, RICE1_SEGMENT_ENDS}, {}};
      bit += q + 1 + n;
      uint32_t z = q == 8 ? low : q << params.k | low;
      uint32_t y = z % 2 == 0 ? z / 2 : ~(z / 2);
      for (size_t j = 1; j < params.tap_count && j <= i; j++) y -= uint32_t(params.taps[j]) * uint32_t(int32_t(history[i - j]));
      history.push_back(static_cast<int16_t>(int32_t(int16_t(y)) / int64_t(params.taps[0])));
    }
    if (bits - bit >= 32) return {{RICE_CORRUPT, s.start + (bit + 31) / 32 * 4, RICE1_SEGMENT_GOES_ON}, {}};
    for (uint64_t i = bit; i < bits; i++) {
      if (next(i)) return {{RICE_CORRUPT, s.start + bit / 32 * 4, RICE1_PADDING}, {}};
    }
    out.insert(out.end(), history.begin(), history.end());
  }
  return {{}, out};
}

} // namespace reference1
