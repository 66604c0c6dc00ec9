// Tests of the version 1 kernels on the shim: golden chunks, random samples with every m and with
// several filters, damage.
#include <cstring>

#include "reference1.h"

namespace {

using namespace reference1;
using Samples = std::vector<uint16_t>;

struct Result {
  Status status;
  uint64_t size;
};

struct DecodedBatch {
  std::vector<Result> results;
  std::vector<Samples> samples;
  size_t tiles = 0;    // number of tiles that belong to a segment
  size_t repaired = 0; // number of these tiles whose speculative decoding began at a wrong bit
};

// Decodes chunks in one batch. The output of chunk i has room for capacities[i] samples. Each chunk
// and each output is an allocation of its own.
DecodedBatch decode_batch(Device &device, const rice1_params &params, const std::vector<Bytes> &chunks,
                          const std::vector<uint32_t> &capacities, bool with_tiles) {
  std::vector<Memory> data, outputs;
  std::vector<rice1_chunk> descriptors;
  unsigned segments = 0, tiles = 0;
  for (size_t i = 0; i < chunks.size(); i++) {
    data.emplace_back(chunks[i]);
    outputs.emplace_back(2 * size_t(capacities[i]));
    unsigned slots = capacities[i] == 0 ? 0 : params.segment == 0 ? 1 : (capacities[i] + params.segment - 1) / params.segment;
    unsigned tile_slots = with_tiles ? RICE1_DECODE_TILES(chunks[i].size(), slots) : 0;
    descriptors.push_back({data[i].at(), chunks[i].size(), outputs[i].at(), capacities[i], segments, slots, tiles, tile_slots, 0});
    segments += slots;
    tiles += tile_slots;
  }
  unsigned count = static_cast<unsigned>(chunks.size());
  Memory chunk_table(descriptors), segment_table(sizeof(rice1_segment) * segments), results(sizeof(rice_result) * count);
  Memory owners(4 * size_t(tiles)), tile_table(sizeof(rice1_tile) * tiles), subsequences(4 * size_t(RICE1_SUBSEQUENCES) * tiles);
  device.launch("rice1_index", 512, count, chunk_table.at(), count, params, segment_table.at(), owners.at(), results.at());
  DecodedBatch batch;
  if (with_tiles) {
    device.launch("rice1_sync", 256, tiles, chunk_table.at(), segment_table.at(), owners.at(), params, tile_table.at(), subsequences.at());
    std::vector<rice1_tile> speculative = tile_table.read<rice1_tile>();
    device.launch("rice1_chain", 32, segments, chunk_table.at(), segment_table.at(), params, tile_table.at(), subsequences.at());
    std::vector<rice1_tile> tile_records = tile_table.read<rice1_tile>();
    std::vector<uint32_t> tile_owners = owners.read<uint32_t>();
    for (size_t i = 0; i < tiles; i++) {
      batch.tiles += tile_owners[i] != ~0u;
      batch.repaired += tile_owners[i] != ~0u && tile_records[i].entry != speculative[i].entry;
    }
    device.launch("rice1_decode_tiles", 256, tiles, chunk_table.at(), segment_table.at(), owners.at(), params, tile_table.at(), subsequences.at(), results.at());
  } else {
    device.launch("rice1_decode", 32, blocks(segments, 32), chunk_table.at(), segment_table.at(), segments, params, results.at());
  }
  for (const rice_result &result : results.read<rice_result>()) batch.results.push_back({Status::of(result.status), result.size});
  for (const Memory &output : outputs) batch.samples.push_back(output.read<uint16_t>());
  return batch;
}

struct EncodedBatch {
  std::vector<Result> results;
  std::vector<Bytes> chunks;
};

EncodedBatch encode_batch(Device &device, const rice1_params &params, const std::vector<Samples> &inputs,
                          const std::vector<size_t> &capacities) {
  std::vector<Memory> data, outputs;
  std::vector<rice1_chunk> descriptors;
  unsigned segments = 0, tiles = 0;
  for (size_t i = 0; i < inputs.size(); i++) {
    data.emplace_back(inputs[i]);
    outputs.emplace_back(capacities[i]);
    uint32_t n = static_cast<uint32_t>(inputs[i].size()), segment = segment_of(params, n);
    unsigned slots = (n + segment - 1) / segment, tile_slots = RICE1_ENCODE_TILES(n, segment);
    descriptors.push_back({outputs[i].at(), capacities[i], data[i].at(), n, segments, slots, tiles, tile_slots, 0});
    segments += slots;
    tiles += tile_slots;
  }
  unsigned count = static_cast<unsigned>(inputs.size());
  Memory chunk_table(descriptors), results(sizeof(rice_result) * count), bits(8 * size_t(tiles)), starts(8 * size_t(tiles));
  device.launch("rice1_measure", 128, blocks(tiles, 4), chunk_table.at(), count, tiles, params, bits.at());
  device.launch("rice1_offsets", 256, count, chunk_table.at(), count, params, bits.at(), starts.at(), results.at());
  device.launch("rice1_pack", 128, blocks(tiles, 4), chunk_table.at(), count, tiles, params, bits.at(), starts.at(), results.at());
  EncodedBatch batch;
  for (const rice_result &result : results.read<rice_result>()) batch.results.push_back({Status::of(result.status), result.size});
  for (const Memory &output : outputs) batch.chunks.push_back(output.read<uint8_t>());
  return batch;
}

bool tiles_can(const rice1_params &params) {
  const int *taps = params.taps;
  return (params.tap_count == 1 && taps[0] == 1) || (params.tap_count == 2 && taps[0] == 1 && taps[1] == -1);
}

void check_decode(Device &device, const rice1_params &params, const std::vector<Bytes> &chunks, const std::vector<uint32_t> &capacities, bool with_tiles) {
  std::vector<Decoded> expected;
  for (size_t i = 0; i < chunks.size(); i++) expected.push_back(decode(params, chunks[i], capacities[i]));
  {
    DecodedBatch batch = decode_batch(device, params, chunks, capacities, with_tiles);
    for (size_t i = 0; i < chunks.size(); i++) {
      const Status &status = batch.results[i].status;
      EXPECT(status == expected[i].status, "chunk %zu, tiles %d, k %u: %s instead of %s", i, with_tiles, params.k,
             to_string(status).c_str(), to_string(expected[i].status).c_str());
      if (status.kind != 0) continue;
      const Samples &samples = expected[i].samples;
      EXPECT(batch.results[i].size == samples.size(), "chunk %zu", i);
      for (size_t j = 0; j < samples.size(); j++) {
        EXPECT(batch.samples[i][j] == samples[j], "chunk %zu, sample %zu of %zu, tiles %d, k %u", i, j, samples.size(), with_tiles, params.k);
      }
    }
  }
}

// Decodes with rice1_decode, and also in tiles if they can undo the filter and segments are long
// enough (at least 1000 samples, or 257 for every fourth k). Compares status and samples with those
// of the slow codec. A tile takes the shim a few milliseconds, so at most 20 of the chunks are
// decoded in tiles.
void check_decode(Device &device, const rice1_params &params, const std::vector<Bytes> &chunks, const std::vector<uint32_t> &capacities) {
  check_decode(device, params, chunks, capacities, false);
  if (!tiles_can(params) || (params.segment > 0 && (params.segment < 257 || (params.segment < 1000 && params.k % 4 != 3)))) return;
  size_t step = chunks.size() / 20 + 1;
  std::vector<Bytes> some;
  std::vector<uint32_t> their_capacities;
  for (size_t i = 0; i < chunks.size(); i += step) {
    some.push_back(chunks[i]);
    their_capacities.push_back(capacities[i]);
  }
  check_decode(device, params, some, their_capacities, true);
}

// Encodes into outputs of exact size, unless m is 1, and decodes what the slow codec has encoded.
void check_both(Device &device, const rice1_params &params, const std::vector<Samples> &inputs) {
  std::vector<Bytes> chunks;
  std::vector<size_t> sizes;
  std::vector<uint32_t> counts;
  for (const Samples &samples : inputs) {
    chunks.push_back(encode(params, samples));
    sizes.push_back(chunks.back().size());
    counts.push_back(static_cast<uint32_t>(samples.size()));
  }
  if (params.k > 0) {
    EncodedBatch batch = encode_batch(device, params, inputs, sizes);
    for (size_t i = 0; i < inputs.size(); i++) {
      EXPECT(batch.results[i].status.kind == 0 && batch.results[i].size == sizes[i], "input %zu: %s, %llu bytes of %zu", i,
             to_string(batch.results[i].status).c_str(), static_cast<unsigned long long>(batch.results[i].size), sizes[i]);
      EXPECT(batch.chunks[i] == chunks[i], "input %zu of %u samples, k %u, segment %u", i, counts[i], params.k, params.segment);
    }
  }
  check_decode(device, params, chunks, counts);
}

// ---- Goldens

std::vector<unsigned> numbers_after(const std::string &text, const std::string &key) {
  size_t at = text.find("\"" + key + "\":");
  EXPECT(at != std::string::npos, "no %s in the manifest", key.c_str());
  at = text.find('[', at);
  std::vector<unsigned> numbers;
  for (size_t end = text.find(']', at); at < end; at++) {
    if (!isdigit(text[at]) && text[at] != '-') continue;
    char *after;
    numbers.push_back(static_cast<unsigned>(strtoll(text.c_str() + at, &after, 10)));
    at = static_cast<size_t>(after - text.c_str());
  }
  return numbers;
}

rice1_params params_of(const std::vector<unsigned> &values) {
  unsigned m = values.size() > 0 ? values[0] : 8, segment = values.size() > 1 && values[1] != ~0u ? values[1] : 0;
  std::vector<int> taps = {1, -1};
  if (values.size() > 2) taps.assign(values.begin() + 3, values.begin() + 3 + values[2]);
  return params(m, segment, taps);
}

// Returns the first chunk of the array in an .npy file as 16-bit words, with zeros where the chunk
// exceeds the array.
Samples first_chunk(const Bytes &npy, std::vector<unsigned> shape, std::vector<unsigned> chunk, unsigned words_per_item) {
  size_t header = 10 + (npy[8] | npy[9] << 8);
  if (shape.size() == 1) {
    shape.insert(shape.begin(), 1);
    chunk.insert(chunk.begin(), 1);
  }
  size_t row = size_t(shape[1]) * words_per_item, chunk_row = size_t(chunk[1]) * words_per_item;
  Samples samples(chunk[0] * chunk_row, 0);
  for (size_t i = 0; i < std::min(shape[0], chunk[0]); i++) {
    memcpy(&samples[i * chunk_row], &npy[header + 2 * i * row], 2 * std::min(row, chunk_row));
  }
  return samples;
}

struct Golden {
  std::string name;
  rice1_params params;
  Samples samples;
  Bytes chunk;
};

std::vector<Golden> goldens(const std::string &folder) {
  Bytes bytes = read_file(folder + "/manifest.json");
  std::string text(bytes.begin(), bytes.end());
  std::vector<Golden> found;
  for (size_t at = text.find("\n \""); at != std::string::npos; at = text.find("\n \"", at + 1)) {
    size_t end = text.find("\n }", at);
    std::string name = text.substr(at + 3, text.find('"', at + 3) - at - 3), entry = text.substr(at, end - at);
    size_t type = entry.find("\"dtype\": \"") + 10;
    unsigned words = static_cast<unsigned>(entry[type + 2] - '0') / 2;
    Bytes chunk = read_file(folder + "/" + name + ".chunk0.bin");
    if (name.find("fletcher32") != std::string::npos) chunk.erase(chunk.end() - 4, chunk.end());
    Samples samples = first_chunk(read_file(folder + "/" + name + ".raw.npy"), numbers_after(entry, "shape"), numbers_after(entry, "chunks"), words);
    found.push_back({name, params_of(numbers_after(entry, "cd_values")), samples, chunk});
  }
  return found;
}

void golden_chunks_encode_and_decode_to_themselves(Device &device, const std::vector<Golden> &goldens) {
  EXPECT(goldens.size() == 27, "%zu goldens", goldens.size());
  for (const Golden &golden : goldens) {
    EncodedBatch encoded = encode_batch(device, golden.params, {golden.samples}, {golden.chunk.size()});
    EXPECT(encoded.results[0].status.kind == 0 && encoded.chunks[0] == golden.chunk, "%s", golden.name.c_str());
    for (bool with_tiles : {false, true}) {
      if (with_tiles && !tiles_can(golden.params)) continue;
      DecodedBatch decoded = decode_batch(device, golden.params, {golden.chunk}, {static_cast<uint32_t>(golden.samples.size())}, with_tiles);
      EXPECT(decoded.results[0].status.kind == 0 && decoded.samples[0] == golden.samples, "%s: %s", golden.name.c_str(),
             to_string(decoded.results[0].status).c_str());
    }
  }
}

// ---- Samples

void every_m_and_filter_round_trips(Device &device) {
  std::vector<std::vector<int>> filters = {{1, -1}, {1}, {1, -2, 1}, {1, -1, 1, -1}, {1, -3, 3, -1}, {-1, 1}, {-1, 2, -1}, {1, 40000, -2147483647 - 1}};
  filters.push_back(std::vector<int>(32, 1));
  for (unsigned k = 1; k <= 15; k++) {
    for (size_t f = 0; f < filters.size(); f++) {
      if (f > 1 && k % 4 != 3) continue;
      // Segments of odd length put samples at every alignment. The second input is mostly escapes
      // for small m.
      std::vector<Samples> inputs = {walk16(900, std::ldexp(1.0, int(k) - 1), k), full_range16(300, k), walk16(257, 3, k)};
      check_both(device, params(1u << k, 257, filters[f]), inputs);
    }
  }
}

void odd_sizes_round_trip(Device &device) {
  std::vector<Samples> inputs;
  for (size_t n : {0, 1, 2, 31, 32, 33, 64, 1023, 1024, 1025, 2049}) inputs.push_back(walk16(n, 5, n));
  for (unsigned segment : {0, 1, 33, 1024, 1025, 100000}) check_both(device, params(8, segment), inputs);
}

void payload_of_whole_words_has_no_padding_word(Device &device) {
  for (size_t n : {8, 16, 2048, 65536}) check_both(device, params(8, 0), {Samples(n, 0)}); // 4-bit codes
}

void long_segments_decode_by_tiles(Device &device) {
  for (double deviation : {0.3, 4.0, 300.0}) check_both(device, params(8, 0), {walk16(70000, deviation, 7), walk16(33000, deviation, 8)});
  check_both(device, params(8, 30000), {walk16(95000, 6, 9), Samples(70000, 17)});
  check_both(device, params(32, 0, {1}), {full_range16(40000, 3)});
  check_both(device, params(2, 0, {1}), {Samples(150000, 0)}); // codes of 2 bits: a tile has more samples than a window
}

// Codes for which a speculative decoder that begins within a code never finds the true codes, so that
// rice1_chain repairs each tile after the first one.
void codes_that_never_synchronize_decode(Device &device) {
  struct Input {
    rice1_params params;
    Samples samples;
  };
  std::vector<Input> inputs;
  // With m = 16384, a sample of 1 is a one, 12 zeros, a one and a zero. A decoder that begins
  // within the zeros mostly comes to take the second one for the beginning of a code, and so it
  // does in every code after that.
  inputs.push_back({params(16384, 0, {1}), Samples(30000, 1)});
  // With m = 32768, a sample of -1 is a one, 14 zeros and a one: 16 bits. Decoders begin at multiples
  // of 16 bits. The first code has 17 bits, so that they begin at the second one of a code.
  inputs.push_back({params(32768, 0, {1}), Samples(30000, 0xffff)});
  inputs.back().samples[0] = 0x4000;
  // With m = 2, a difference of -1 is two ones. Decoders begin at even bits. The first code has 3 bits,
  // so that they begin at the second one of a code.
  Samples falling(150000);
  for (size_t i = 0; i < falling.size(); i++) falling[i] = static_cast<uint16_t>(1 - i);
  inputs.push_back({params(2, 0), falling});
  for (const Input &input : inputs) {
    check_both(device, input.params, {input.samples});
    DecodedBatch batch = decode_batch(device, input.params, {encode(input.params, input.samples)}, {static_cast<uint32_t>(input.samples.size())}, true);
    EXPECT(batch.tiles > 4 && batch.repaired + 1 >= batch.tiles, "k %u: %zu of %zu tiles were repaired", input.params.k, batch.repaired, batch.tiles);
  }
}

void codes_without_remainder_bits_decode(Device &device) {
  // With m = 1, chunks can be decoded but not encoded. Most samples are small, so that their
  // quotients are at most 7; about one in 100 is an escape.
  Noise noise{5};
  Samples samples;
  for (int i = 0; i < 20000; i++) samples.push_back(static_cast<uint16_t>(noise.below(100) == 0 ? noise.next() % 30000 : noise.below(4)));
  check_both(device, params(1, 0, {1}), {samples});
}

void lossy_filters_decode(Device &device) {
  for (std::vector<int> taps : {std::vector<int>{2}, {3, -1}, {-7, 2, 5}, {-1, 0}, {-2147483647 - 1, 1}}) {
    Samples samples = full_range16(3000, 11);
    check_decode(device, params(8, 500, taps), {encode(params(8, 500, {1}), samples)}, {3000});
  }
}

// ---- Errors

// The kernel must see the size in the descriptor: the device memory has four bytes.
void chunk_of_16_gib_is_beyond_the_limit(Device &device) {
  Memory data(Bytes(4)), results(sizeof(rice_result));
  std::vector<rice1_chunk> chunk = {{data.at(), 1ull << 34, 0, 0, 0, 0, 0, 0, 0}};
  Memory table(chunk);
  device.launch("rice1_index", 512, 1, table.at(), 1u, params(8, 100), 0ull, 0ull, results.at());
  Status status = Status::of(results.read<rice_result>()[0].status);
  EXPECT((status == Status{RICE_LIMIT, 0, RICE1_TOO_LARGE}), "%s", to_string(status).c_str());
}

void capacity_that_is_too_small_is_an_error_at_the_segment(Device &device) {
  rice1_params p = params(8, 100);
  Samples samples = walk16(1000, 5, 1);
  Bytes whole = encode(p, samples);
  std::vector<Samples> inputs;
  std::vector<size_t> capacities;
  for (size_t capacity = 0; capacity < whole.size(); capacity += 3) {
    inputs.push_back(samples);
    capacities.push_back(capacity);
  }
  EncodedBatch batch = encode_batch(device, p, inputs, capacities);
  std::vector<size_t> lengths; // byte offset of each segment's length field, and the chunk's end
  for (size_t at = 4; at < whole.size(); at += 4 + 4 * size_t(whole[at] | whole[at + 1] << 8)) lengths.push_back(at);
  lengths.push_back(whole.size());
  for (size_t i = 0; i < inputs.size(); i++) {
    size_t first = 0;
    while (lengths[first + 1] <= capacities[i]) first++;
    uint64_t at = capacities[i] < 4 ? 0 : lengths[first];
    Status wanted = {RICE_OUTPUT_TOO_SMALL, at, RICE1_CAPACITY};
    EXPECT(batch.results[i].status == wanted && batch.results[i].size == whole.size(), "capacity %zu: %s", capacities[i],
           to_string(batch.results[i].status).c_str());
    EXPECT(capacities[i] < 4 || std::equal(whole.begin(), whole.begin() + static_cast<long>(at), batch.chunks[i].begin()), "capacity %zu", capacities[i]);
  }
}

std::vector<Bytes> truncations(const Bytes &chunk) {
  std::vector<Bytes> all;
  for (size_t n = 0; n < chunk.size(); n++) all.emplace_back(chunk.begin(), chunk.begin() + static_cast<long>(n));
  return all;
}

std::vector<Bytes> bit_flips(const Bytes &chunk, size_t step) {
  std::vector<Bytes> all;
  for (size_t bit = 0; bit < 8 * chunk.size(); bit += bit < 8 * 16 ? 1 : step) {
    all.push_back(chunk);
    all.back()[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
  return all;
}

// Status and samples must be those of the slow codec. The sanitizer ends the program if bytes
// outside a chunk are read.
void damage_has_the_status_of_the_reference(Device &device, const std::vector<Golden> &goldens) {
  for (const Golden &golden : goldens) {
    if (golden.chunk.size() > 800) continue;
    uint32_t n = static_cast<uint32_t>(golden.samples.size());
    for (uint32_t capacity : {n, 40 * n}) {
      if (capacity > n && golden.chunk.size() > 100) continue;
      std::vector<Bytes> damaged = truncations(golden.chunk);
      for (Bytes &flipped : bit_flips(golden.chunk, 23)) damaged.push_back(flipped);
      check_decode(device, golden.params, damaged, std::vector<uint32_t>(damaged.size(), capacity));
    }
  }
}

void damage_in_long_segments_has_the_status_of_the_reference(Device &device) {
  Noise noise{17};
  rice1_params p = params(8, 20000);
  Bytes chunk = encode(p, walk16(50000, 5, 2));
  std::vector<Bytes> damaged;
  for (int i = 0; i < 24; i++) {
    damaged.push_back(chunk);
    uint32_t at = noise.below(static_cast<uint32_t>(chunk.size()) - 4);
    if (i % 3 == 0) std::fill_n(damaged.back().begin() + at / 4 * 4, 4, 0); // more than eight zeros
    else damaged.back()[at] ^= static_cast<uint8_t>(1 << noise.below(8));
  }
  damaged.emplace_back(chunk.begin(), chunk.end() - 4);
  check_decode(device, p, damaged, std::vector<uint32_t>(damaged.size(), 50000));
}

// rice1_index walks through a chunk in windows of 32 KiB. Lengths in several windows are damaged.
void lengths_in_several_windows_are_found_and_checked(Device &device) {
  rice1_params short_ones = params(8, 20), long_ones = params(8, 40000);
  check_both(device, short_ones, {walk16(70003, 5, 11)});
  check_both(device, long_ones, {walk16(95000, 5000, 12)});
  Noise noise{29};
  Bytes chunk = encode(short_ones, walk16(70003, 5, 11));
  EXPECT(chunk.size() > 40000, "%zu bytes are one window", chunk.size());
  std::vector<Bytes> damaged;
  for (size_t cut : {32768, 32772, 32776, 40000}) damaged.emplace_back(chunk.begin(), chunk.begin() + static_cast<long>(cut));
  for (size_t i = 4, segment = 0; i < chunk.size(); segment++) {
    size_t length = chunk[i] | chunk[i + 1] << 8;
    if (segment % 400 == 399) {
      damaged.push_back(chunk);
      damaged.back()[i + noise.below(4)] ^= static_cast<uint8_t>(1 << noise.below(8));
    }
    i += 4 + 4 * length;
  }
  check_decode(device, short_ones, damaged, std::vector<uint32_t>(damaged.size(), 70003));
}

void random_bytes_are_an_error_or_samples(Device &device) {
  Noise noise{23};
  for (unsigned m : {1, 8, 32768}) {
    std::vector<Bytes> chunks;
    for (int i = 0; i < 60; i++) {
      Bytes chunk;
      uint32_t words = 3 + noise.below(60);
      put(chunk, noise.below(words * 6));
      put(chunk, words - 2);
      for (uint32_t j = 0; j < words - 2; j++) put(chunk, static_cast<uint32_t>(noise.next()) & static_cast<uint32_t>(noise.next()));
      chunks.push_back(chunk);
    }
    for (std::vector<int> taps : {std::vector<int>{1, -1}, {-1, 2, -1}}) check_decode(device, params(m, 0, taps), chunks, std::vector<uint32_t>(chunks.size(), 2000));
  }
}

} // namespace

// Arguments: TESTDATA [brief]. TESTDATA is the folder testdata of the repository. With a second
// argument, the tests that take longest are left out.
int main(int count, char **arguments) {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  std::string testdata = arguments[1];
  Device device;
  std::vector<Golden> all = goldens(testdata + "/rice");
#define RUN(test, ...)                                                                                      \
  printf("%s\n", #test);                                                                                    \
  test(device __VA_OPT__(, ) __VA_ARGS__)
  RUN(golden_chunks_encode_and_decode_to_themselves, all);
  RUN(payload_of_whole_words_has_no_padding_word);
  RUN(long_segments_decode_by_tiles);
  RUN(codes_that_never_synchronize_decode);
  RUN(codes_without_remainder_bits_decode);
  RUN(lossy_filters_decode);
  RUN(chunk_of_16_gib_is_beyond_the_limit);
  RUN(capacity_that_is_too_small_is_an_error_at_the_segment);
  RUN(damage_in_long_segments_has_the_status_of_the_reference);
  RUN(lengths_in_several_windows_are_found_and_checked);
  RUN(random_bytes_are_an_error_or_samples);
  if (count > 2) return 0;
  RUN(every_m_and_filter_round_trips);
  RUN(odd_sizes_round_trip);
  RUN(damage_has_the_status_of_the_reference, all);
}
