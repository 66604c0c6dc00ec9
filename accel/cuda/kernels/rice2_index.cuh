// Checks the headers of version 2 streams, and finds their segments, or with channels the parts of those, in the table.
#pragma once

#include "rice2.cuh"
#include "xxh3.cuh"

constexpr u32 MAGIC2 = 0x32524c89; // 89 'L' 'R' '2'
constexpr u32 HAS_SHAPE = 1, HAS_CHANNELS = 2, IS_FILE_RECORD = 4; // features: bits of byte 6 of the header
constexpr u64 MAX_SHAPE_RECORD = 4 + 8 * 64, MAX_FILE_RECORD = 8 + (1 << 20); // bytes
constexpr u32 MAX_CHANNELS = 1024;
constexpr u64 MAX_SEGMENT = 1 << 24; // largest number of samples of a segment with channels, of all channels together

struct Header2 {
  u64 status;   // RICE_OK, or what is wrong with the stream; then other fields may be unset
  u64 samples, parts; // samples of the stream; parts of all its segments
  u32 channels; // 1 without channels
  u32 frames;   // samples of each part, except in the last segment. Without channels, a segment is one part
  u32 entries;  // entries of the table
  u64 payload;  // bytes after the table
  bool has_record; // whether there is a record of the shape or of a file before the segments
};

__device__ inline u64 status_word(u64 offset, u32 problem, u32 kind) { return offset << 16 | problem << 8 | kind; }

// Reads the header with the checks of the crate linerate-rice, in their order. All lanes of a warp call this function
// and compute the checksum of a long record, of the shape or of a file, together.
__device__ inline Header2 read_header(const rice2_stream &stream, u32 element) {
  const u8 *bytes = (const u8 *)stream.data;
  const u32 *words = (const u32 *)stream.data;
  u64 size = stream.bytes;
  Header2 header = {RICE_OK, 0, 0, 1, 0, 0, 0, false};
  auto error = [&](u64 offset, u32 problem, u32 kind) {
    header.status = status_word(offset, problem, kind);
    return header;
  };
  u32 magic = (u32)(size < 4 ? size : 4);
  for (u32 i = 0; i < magic; i++) {
    if (bytes[i] != (MAGIC2 >> (8 * i) & 255)) return error(0, RICE2_MAGIC, RICE_CORRUPT);
  }
  if (size < HEADER2) return error(size, RICE2_ENDS_IN_HEADER, RICE_TRUNCATED);
  if (bytes[4] != 2) return error(4, RICE2_VERSION, RICE_UNSUPPORTED);
  if ((u32)xxh3_short(bytes, 24) != words[6]) return error(24, RICE2_HEADER_CHECKSUM, RICE_CORRUPT);
  if (bytes[5] > 3) return error(5, RICE2_UNKNOWN_TYPE, RICE_UNSUPPORTED);
  u32 features = bytes[6];
  bool of_file = bytes[7] == 2 && features == IS_FILE_RECORD;
  if (!of_file && ((features & ~(bytes[7] == 1 ? HAS_SHAPE | HAS_CHANNELS : HAS_SHAPE)) != 0 || bytes[7] > 1)) {
    return error(6, RICE2_FEATURES, RICE_UNSUPPORTED);
  }
  header.frames = words[4];
  if (header.frames < 1 || header.frames > 65536) return error(16, RICE2_SEGMENT_SIZE, RICE_CORRUPT);
  header.samples = words[2] | (u64)words[3] << 32;
  if (of_file && header.samples > 0) return error(8, RICE2_FILE_SAMPLES, RICE_CORRUPT);
  if (features & HAS_CHANNELS) {
    header.channels = words[5];
    if (header.channels < 2 || header.channels > MAX_CHANNELS || header.channels * (u64)header.frames > MAX_SEGMENT ||
        header.samples % header.channels != 0) {
      return error(20, RICE2_CHANNELS, RICE_CORRUPT);
    }
  }
  u64 segment = header.channels * (u64)header.frames;
  u64 segments = header.samples / segment + (header.samples % segment != 0);
  header.has_record = features & (HAS_SHAPE | IS_FILE_RECORD);
  u64 rest = (size - HEADER2) / 4;
  // The first comparison keeps the product from exceeding 64 bits.
  header.parts = segments > rest ? segments : segments * header.channels;
  if (header.parts > rest || header.parts + header.has_record > rest) {
    return error(size, RICE2_ENDS_IN_TABLE, RICE_TRUNCATED);
  }
  header.entries = (u32)header.parts + header.has_record;
  const u32 *table = words + HEADER2 / 4;
  header.payload = header.entries > 0 ? 4ull * table[header.entries - 1] : 0;
  u64 start = HEADER2 + 4ull * header.entries, end = start + header.payload;
  if (end > size) return error(size, RICE2_ENDS_BEFORE_SEGMENT, RICE_TRUNCATED);
  if (header.has_record) {
    u64 length = 4ull * table[0];
    if (length > header.payload) return error(HEADER2, RICE2_PLACE, RICE_CORRUPT);
    bool is_intact = length >= 4 && length <= (of_file ? MAX_FILE_RECORD : MAX_SHAPE_RECORD) &&
                     (u32)xxh3_warp(bytes + start + 4, length - 4) == words[start / 4];
    if (of_file) {
      // Four bytes (form, bytes per sample, number of zeros at the end, 0), then bytes of the file.
      const u8 *record = bytes + start + 4;
      if (!is_intact) return error(start, RICE2_FILE_RECORD, RICE_CORRUPT);
      if (length < 8 || record[0] != 1 || record[1] < 1 || record[1] > 4 || record[2] > 3 || record[3] != 0) {
        return error(start + 4, RICE2_FILE_FORM, RICE_UNSUPPORTED);
      }
      if (length - 8 < record[2]) return error(start, RICE2_FILE_RECORD, RICE_CORRUPT);
    } else {
      // The product of the axes is zero if one of them is, even if that of the others overflows.
      u64 product = 1;
      bool is_empty = false, overflows = false;
      is_intact &= (length - 4) % 8 == 0;
      for (u64 i = start / 4 + 1; is_intact && i < (start + length) / 4; i += 2) {
        u64 axis = words[i] | (u64)words[i + 1] << 32;
        is_empty |= axis == 0;
        overflows |= __umul64hi(product, axis) != 0;
        product *= axis;
      }
      if (!is_intact || !(is_empty ? header.samples == 0 : !overflows && product == header.samples)) {
        return error(start, RICE2_SHAPE, RICE_CORRUPT);
      }
    }
  }
  if (end != size) return error(end, RICE2_GOES_ON, RICE_BAD_ARGUMENT);
  if (bytes[5] != element) return error(5, RICE2_OTHER_TYPE, RICE_BAD_ARGUMENT);
  if (header.samples > stream.sample_count) return error(0, RICE_OUTPUT_SMALL, RICE_OUTPUT_TOO_SMALL);
  if (header.channels > 1 && stream.parts == 0) return error(6, RICE2_PARTS, RICE_UNSUPPORTED);
  if (header.parts > stream.segments) return error(0, RICE2_SLOTS, RICE_LIMIT);
  return header;
}

// Parallel: streams, one warp each, and 32 segments or parts of a stream at once, since the table has the end of each.
// Loads of the table and stores of records are consecutive.
extern "C" __global__ void __launch_bounds__(32)
    rice2_index(const rice2_stream *streams, rice_u32 stream_count, rice_u32 element, rice2_segment *segments,
                rice_result *results) {
  u32 index = blockIdx.x, lane = threadIdx.x;
  if (index >= stream_count) return;
  const rice2_stream stream = streams[index];
  segments += stream.first_segment;
  Header2 header = read_header(stream, element);
  u32 count = header.status == RICE_OK ? (u32)header.parts : 0;
  const u32 *table = (const u32 *)stream.data + HEADER2 / 4;
  u64 start = HEADER2 + 4ull * header.entries;
  u64 wrong = RICE_OK;
  for (u32 i = lane; i < count; i += WARP) {
    u32 entry = i + header.has_record;
    u64 from = entry == 0 ? 0 : 4ull * table[entry - 1], to = 4ull * table[entry];
    u32 channel = i % header.channels;
    u64 segment = i / header.channels * (u64)header.channels * header.frames; // its first sample
    u64 left = (header.samples - segment) / header.channels;
    u32 frames = left < header.frames ? (u32)left : header.frames;
    if (from > to || to > header.payload) {
      if (wrong == RICE_OK) wrong = status_word(HEADER2 + 4ull * entry, RICE2_PLACE, RICE_CORRUPT);
    } else {
      segments[i] = {start + from, segment + (u64)channel * frames, (u32)((to - from) / 4), frames, index, frames,
                     (u16)channel, (u16)header.channels, {}, 0, 0, {}, 0};
    }
  }
  // The error with the lowest offset that any lane has found.
  for (u32 delta = WARP / 2; delta > 0; delta /= 2) {
    u64 other = __shfl_xor_sync(ALL_LANES, wrong, delta);
    if (other < wrong) wrong = other;
  }
  __syncwarp();
  u64 status = header.status != RICE_OK ? header.status : wrong;
  u32 usable = status == RICE_OK ? count : 0;
  for (u32 i = usable + lane; i < stream.segments; i += WARP) segments[i] = {0, 0, 0, 0, index, 0, 0, 0, {}, 0, 0, {}, 0};
  if (lane == 0) results[index] = {status, status == RICE_OK ? header.samples : 0};
}
