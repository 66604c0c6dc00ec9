// Inputs of the tests: golden files, and noise that depends on a seed alone.
#pragma once

#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "device.h"

using Bytes = std::vector<uint8_t>;

inline Bytes read_file(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT(file.good(), "cannot read %s", path.c_str());
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

// Random numbers of a seed: SplitMix64 (Steele, Lea and Flood 2014).
struct Noise {
  uint64_t state;

  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(next() % n); }
  // Returns an approximately normal number with mean 0 and this standard deviation.
  double normal(double deviation) {
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += static_cast<double>(next() >> 11) / 9007199254740992.0;
    return (sum - 6) * deviation;
  }
};

// Returns a random walk modulo 2^16. Its steps are rounded normal numbers with this standard
// deviation.
inline std::vector<uint16_t> walk16(size_t n, double deviation, uint64_t seed) {
  Noise noise{seed};
  std::vector<uint16_t> samples(n);
  int64_t x = 0;
  for (auto &sample : samples) sample = static_cast<uint16_t>(x += std::llround(noise.normal(deviation)));
  return samples;
}

inline std::vector<uint16_t> full_range16(size_t n, uint64_t seed) {
  Noise noise{seed};
  std::vector<uint16_t> samples(n);
  for (auto &sample : samples) sample = static_cast<uint16_t>(noise.next());
  return samples;
}
