// XXH3-64 with seed 0 (the specification of xxHash, github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md).
//
// A warp hashes inputs of more than 240 bytes together: within a block of 1,024 bytes, the stripes of 64 bytes only add
// to eight accumulators, one for each 64-bit word. So lane 8 g + j adds up the products of word j of the stripes g, g + 4,
// and so on; three shuffles join them at the end of a block. Shorter inputs are hashed by every lane alike.
#pragma once

#include "common.cuh"

// The default secret, as little-endian words.
static __device__ const u64 XXH3_SECRET[24] = {
    0xbe4ba423396cfeb8, 0x1cad21f72c81017c, 0xdb979083e96dd4de, 0x1f67b3b7a4a44072, 0x78e5c0cc4ee679cb, 0x2172ffcc7dd05a82,
    0x8e2443f7744608b8, 0x4c263a81e69035e0, 0xcb00c391bb52283c, 0xa32e531b8b65d088, 0x4ef90da297486471, 0xd8acdea946ef1938,
    0x3f349ce33f76faa8, 0x1d4f0bc7c7bbdcf9, 0x3159b4cd4be0518a, 0x647378d9c97e9fc8, 0xc3ebd33483acc5ea, 0xeb6313faffa081c5,
    0x49daf0b751dd0d17, 0x9e68d429265516d3, 0xfca1477d58be162b, 0xce31d07ad1b8f88f, 0x280416958f3acb45, 0x7e404bbbcafbd7af};

constexpr u64 PRIME32_1 = 0x9e3779b1, PRIME32_2 = 0x85ebca77, PRIME32_3 = 0xc2b2ae3d;
constexpr u64 PRIME64_1 = 0x9e3779b185ebca87, PRIME64_2 = 0xc2b2ae3d27d4eb4f, PRIME64_3 = 0x165667b19e3779f9,
              PRIME64_4 = 0x85ebca77c2b2ae63, PRIME64_5 = 0x27d4eb2f165667c5;
constexpr u64 STRIPE = 64, STRIPES = 16; // bytes of a stripe; stripes of a block

// Returns the eight bytes of the secret at byte offset `at`, at most 184.
__device__ inline u64 secret_at(u32 at) {
  u64 low = XXH3_SECRET[at / 8] >> (8 * (at % 8));
  return at % 8 == 0 ? low : low | XXH3_SECRET[at / 8 + 1] << (64 - 8 * (at % 8));
}

// read64 and read32 return the little-endian number at an address that is a multiple of 2. read64 uses the widest loads
// that the address allows.
__device__ inline u64 read64(const u8 *at) {
  u64 address = (u64)at;
  if (address % 8 == 0) return *(const u64 *)at;
  if (address % 4 == 0) return ((const u32 *)at)[0] | (u64)((const u32 *)at)[1] << 32;
  const u16 *halves = (const u16 *)at;
  return halves[0] | (u64)halves[1] << 16 | (u64)halves[2] << 32 | (u64)halves[3] << 48;
}
__device__ inline u32 read32(const u8 *at) {
  const u16 *halves = (const u16 *)at;
  return halves[0] | (u32)halves[1] << 16;
}

__device__ inline u64 multiply_fold(u64 a, u64 b) { return (a * b) ^ __umul64hi(a, b); }
__device__ inline u64 rotate_left(u64 x, u32 n) { return x << n | x >> (64 - n); }
__device__ inline u64 byte_swap(u64 x) {
  x = (x & 0x00ff00ff00ff00ff) << 8 | (x >> 8 & 0x00ff00ff00ff00ff);
  x = (x & 0x0000ffff0000ffff) << 16 | (x >> 16 & 0x0000ffff0000ffff);
  return x << 32 | x >> 32;
}
__device__ inline u64 xxh3_avalanche(u64 h) {
  h = (h ^ h >> 37) * 0x165667919e3779f9;
  return h ^ h >> 32;
}
__device__ inline u64 xxh64_avalanche(u64 h) {
  h = (h ^ h >> 33) * PRIME64_2;
  h = (h ^ h >> 29) * PRIME64_3;
  return h ^ h >> 32;
}
__device__ inline u64 mix16(const u8 *at, u32 secret) {
  return multiply_fold(read64(at) ^ secret_at(secret), read64(at + 8) ^ secret_at(secret + 8));
}

// Returns the hash of `bytes` bytes, an even number up to 240, at an even address.
__device__ inline u64 xxh3_short(const u8 *data, u32 bytes) {
  if (bytes == 0) return xxh64_avalanche(secret_at(56) ^ secret_at(64));
  if (bytes < 4) { // 2
    u32 combined = (u32)data[0] << 16 | (u32)data[1] << 24 | data[1] | bytes << 8;
    return xxh64_avalanche(combined ^ ((u32)secret_at(0) ^ (u32)secret_at(4)));
  }
  if (bytes <= 8) {
    u64 h = (read32(data + bytes - 4) + ((u64)read32(data) << 32)) ^ (secret_at(8) ^ secret_at(16));
    h ^= rotate_left(h, 49) ^ rotate_left(h, 24);
    h *= 0x9fb21c651e98df25;
    h = (h ^ ((h >> 35) + bytes)) * 0x9fb21c651e98df25;
    return h ^ h >> 28;
  }
  if (bytes <= 16) {
    u64 low = read64(data) ^ (secret_at(24) ^ secret_at(32));
    u64 high = read64(data + bytes - 8) ^ (secret_at(40) ^ secret_at(48));
    return xxh3_avalanche(bytes + byte_swap(low) + high + multiply_fold(low, high));
  }
  u64 sum = bytes * PRIME64_1;
  if (bytes <= 128) {
    for (u32 i = (bytes - 1) / 32 + 1; i-- > 0;) {
      sum += mix16(data + 16 * i, 32 * i) + mix16(data + bytes - 16 * (i + 1), 32 * i + 16);
    }
    return xxh3_avalanche(sum);
  }
  for (u32 i = 0; i < 8; i++) sum += mix16(data + 16 * i, 16 * i);
  sum = xxh3_avalanche(sum);
  for (u32 i = 8; i < bytes / 16; i++) sum += mix16(data + 16 * i, 16 * (i - 8) + 3);
  return xxh3_avalanche(sum + mix16(data + bytes - 16, 119));
}

// Returns the hash of `bytes` bytes, an even number, at an even address. A whole warp calls this function with the same
// arguments, and every lane gets the result.
__device__ inline u64 xxh3_warp(const u8 *data, u64 bytes) {
  if (bytes <= 240) return xxh3_short(data, (u32)bytes);
  u32 lane = threadIdx.x % WARP, word = lane % 8, group = lane / 8;
  u64 accumulator = word == 0   ? PRIME32_3
                    : word == 1 ? PRIME64_1
                    : word == 2 ? PRIME64_2
                    : word == 3 ? PRIME64_3
                    : word == 4 ? PRIME64_4
                    : word == 5 ? PRIME32_2
                    : word == 6 ? PRIME64_5
                                : PRIME32_1;
  u64 blocks = (bytes - 1) / (STRIPE * STRIPES);
  for (u64 block = 0; block <= blocks; block++) {
    const u8 *start = data + block * STRIPE * STRIPES;
    bool is_last = block == blocks;
    u32 stripes = is_last ? (u32)((bytes - 1 - block * STRIPE * STRIPES) / STRIPE) : (u32)STRIPES;
    u64 products = 0, words = 0;
    auto add = [&](u64 value, u64 secret) {
      u64 key = value ^ secret;
      products += (key & 0xffffffff) * (key >> 32);
      words += value;
    };
    for (u32 stripe = group; stripe < stripes; stripe += 4) add(read64(start + stripe * STRIPE + 8 * word), XXH3_SECRET[stripe + word]);
    // The last 64 bytes of the input. Some have been added before if the length is no multiple of 64.
    if (is_last && group == 3) add(read64(data + bytes - STRIPE + 8 * word), secret_at(121 + 8 * word));
    u64 sum = products + __shfl_xor_sync(ALL_LANES, words, 1);
    sum += __shfl_xor_sync(ALL_LANES, sum, 8);
    sum += __shfl_xor_sync(ALL_LANES, sum, 16);
    accumulator += sum;
    if (!is_last) accumulator = (accumulator ^ accumulator >> 47 ^ XXH3_SECRET[16 + word]) * PRIME32_1;
  }
  u64 keyed = accumulator ^ secret_at(11 + 8 * word);
  u64 folded = multiply_fold(keyed, __shfl_xor_sync(ALL_LANES, keyed, 1));
  folded += __shfl_xor_sync(ALL_LANES, folded, 2);
  folded += __shfl_xor_sync(ALL_LANES, folded, 4);
  return xxh3_avalanche(bytes * PRIME64_1 + folded);
}
