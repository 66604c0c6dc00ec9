// Tests of the version 2 kernels on the shim: golden streams, damage, and generated samples of many
// kinds that are encoded and decoded.
#include <algorithm>
#include <cstring>

#include "data.h"

namespace {

struct Result {
  Status status;
  uint64_t size;
};

struct DecodedBatch {
  std::vector<Result> results;
  std::vector<Bytes> samples;
};

unsigned word_at(const Bytes &bytes, size_t at) {
  unsigned word;
  memcpy(&word, &bytes[at], 4);
  return word;
}

// Decodes streams of samples of type `element` in one batch. The output of stream i has room for
// capacities[i] samples. Each stream has `slots` slots for segments and, with `with_parts`, memory
// for the samples of separate channels.
DecodedBatch decode_batch(Device &device, unsigned element, const std::vector<Bytes> &streams, const std::vector<uint64_t> &capacities, unsigned slots,
                          bool with_parts = true) {
  unsigned width = element < 2 ? 2 : 4, segments = 0, count = static_cast<unsigned>(streams.size());
  std::vector<Memory> data, outputs, parts;
  std::vector<rice2_stream> descriptors;
  for (size_t i = 0; i < streams.size(); i++) {
    data.emplace_back(streams[i]);
    outputs.emplace_back(width * capacities[i]);
    parts.emplace_back(with_parts ? width * capacities[i] : 0);
    descriptors.push_back({data[i].at(), streams[i].size(), outputs[i].at(), capacities[i], 0, parts[i].at(), 0, 0, 0, segments, slots, 0});
    segments += slots;
  }
  Memory table(descriptors), segment_table(sizeof(rice2_segment) * segments), linear(4 + 4 * size_t(segments)), results(sizeof(rice_result) * count);
  check(cuMemsetD32_v2(linear.at(), 0, 1), "cuMemsetD32");
  bool is_narrow = width == 2;
  device.launch("rice2_index", 32, count, table.at(), count, element, segment_table.at(), results.at());
  device.launch(is_narrow ? "rice2_decode_16" : "rice2_decode_32", 128, segments, table.at(), segment_table.at(), linear.at(), results.at());
  device.launch(is_narrow ? "rice2_linear_16" : "rice2_linear_32", 32, blocks(segments, 32), table.at(), segment_table.at(), linear.at());
  device.launch(is_narrow ? "rice2_channels_16" : "rice2_channels_32", 128, segments, table.at(), element, segment_table.at());
  device.launch("rice2_verify", 128, blocks(segments, 4), table.at(), segment_table.at(), segments, width, results.at());
  DecodedBatch batch;
  for (const rice_result &result : results.read<rice_result>()) batch.results.push_back({Status::of(result.status), result.size});
  for (const Memory &output : outputs) batch.samples.push_back(output.read<uint8_t>());
  return batch;
}

struct Golden {
  std::string name;
  unsigned element;
  Bytes raw, stream;
};

std::vector<Golden> goldens(const std::string &folder) {
  std::vector<Golden> all;
  for (const char *name : {"empty-u16", "one-i16", "raw-u32", "constant-u32", "centre-i16", "difference-u16", "slope-i32", "linear-i16", "linear-i32",
                           "sound-i16", "sound-i32", "step-u16", "spikes-u16", "bursts-i16", "channels-i16", "channels-u16", "channels-i32",
                           "channels-raw-u32", "file-record-i16"}) {
    Bytes stream = read_file(folder + "/" + name + ".rice");
    all.push_back({name, stream[5], read_file(folder + "/" + name + ".raw"), stream});
  }
  return all;
}

unsigned width_of(unsigned element) { return element < 2 ? 2 : 4; }

bool has_channels(const Bytes &stream) { return stream.size() > 7 && stream[7] == 1; }

// Returns the number of segments of a stream, or of their parts if the stream has channels.
unsigned segments_of(const Bytes &stream) {
  unsigned channels = has_channels(stream) ? word_at(stream, 20) : 1;
  return channels * blocks(word_at(stream, 8), channels * word_at(stream, 16));
}

void golden_streams_decode_to_their_samples(Device &device, const std::vector<Golden> &goldens) {
  for (const Golden &golden : goldens) {
    uint64_t samples = golden.raw.size() / width_of(golden.element);
    DecodedBatch batch = decode_batch(device, golden.element, {golden.stream}, {samples}, segments_of(golden.stream));
    EXPECT(batch.results[0].status.kind == 0 && batch.results[0].size == samples, "%s: %s", golden.name.c_str(), to_string(batch.results[0].status).c_str());
    EXPECT(batch.samples[0] == golden.raw, "%s", golden.name.c_str());
  }
}

struct Input {
  Bytes samples;
  unsigned segment, row;
  std::vector<uint64_t> axes;
  bool has_shape = false;
};

struct EncodedBatch {
  std::vector<Result> results;
  std::vector<Bytes> streams; // each as long as its capacity
};

unsigned segments_of(const Input &input, unsigned width) {
  return blocks(input.samples.size() / width, input.segment);
}

EncodedBatch encode_batch(Device &device, unsigned element, const std::vector<Input> &inputs, const std::vector<size_t> &capacities) {
  unsigned width = width_of(element), segments = 0, longest = 1, count = static_cast<unsigned>(inputs.size());
  std::vector<Memory> data, outputs, axes;
  std::vector<rice2_stream> descriptors;
  for (size_t i = 0; i < inputs.size(); i++) {
    const Input &input = inputs[i];
    data.emplace_back(input.samples);
    outputs.emplace_back(capacities[i]);
    axes.emplace_back(input.axes);
    unsigned slots = segments_of(input, width);
    unsigned axis_count = input.has_shape ? static_cast<unsigned>(input.axes.size()) : RICE2_NO_SHAPE;
    descriptors.push_back({outputs[i].at(), capacities[i], data[i].at(), input.samples.size() / width, axes[i].at(), 0, axis_count, input.row, input.segment,
                           segments, slots, 0});
    segments += slots;
    longest = std::max(longest, input.segment);
  }
  unsigned stride = blocks(longest, 32), grid = 3;
  Memory table(descriptors), plans(sizeof(rice2_plan) * segments), modes(size_t(stride) * segments),
      results(sizeof(rice_result) * count);
  bool is_narrow = width == 2;
  device.launch(is_narrow ? "rice2_plan_16" : "rice2_plan_32", 256, grid, table.at(), count, segments, element, plans.at(), modes.at(), stride);
  device.launch("rice2_offsets", 256, count, table.at(), count, element, plans.at(), results.at());
  device.launch(is_narrow ? "rice2_pack_16" : "rice2_pack_32", 128, segments, table.at(), count, plans.at(), modes.at(), stride);
  EncodedBatch batch;
  for (const rice_result &result : results.read<rice_result>()) batch.results.push_back({Status::of(result.status), result.size});
  for (const Memory &output : outputs) batch.streams.push_back(output.read<uint8_t>());
  return batch;
}

// Returns `n` samples of one of ten kinds of signals. Together, their segments have each predictor,
// steps, escapes, many modes, and raw samples.
std::vector<uint32_t> signal(unsigned kind, size_t n, uint64_t seed) {
  Noise noise{seed};
  std::vector<uint32_t> samples(n);
  double x = 0, slope = 0;
  for (size_t i = 0; i < n; i++) {
    double t = static_cast<double>(i), value = 0;
    switch (kind) {
    case 0: value = noise.normal(20); break;
    case 1: value = x += noise.normal(40); break;
    case 2: value = x += slope += noise.normal(0.3); break;
    case 3: value = 3000 * std::sin(t / 7) + 1000 * std::sin(t / 2.3) + noise.normal(2); break;
    case 4: value = 12 * std::round(x += noise.normal(2)) + 5; break;
    case 5: value = noise.below(40) == 0 ? static_cast<double>(noise.below(60000)) : noise.normal(1); break;
    case 6: samples[i] = static_cast<uint32_t>(noise.next()); continue;
    case 7: value = i % 500 < 300 ? 7 : noise.normal(i % 7 == 0 ? 900 : 30); break;
    case 8: value = noise.below(2) != 0 ? 32767 : -32768; break;
    default: value = -1; break;
    }
    samples[i] = static_cast<uint32_t>(std::llround(value));
  }
  return samples;
}

Bytes as_bytes(const std::vector<uint32_t> &samples, unsigned width, bool is_wide) {
  Bytes bytes(samples.size() * width);
  for (size_t i = 0; i < samples.size(); i++) {
    uint32_t sample = is_wide ? samples[i] * 70001 : samples[i];
    memcpy(&bytes[width * i], &sample, width);
  }
  return bytes;
}

void samples_of_every_kind_round_trip(Device &device) {
  for (unsigned element = 0; element < 4; element++) {
    unsigned width = width_of(element);
    std::vector<Input> inputs;
    for (unsigned kind = 0; kind < 10; kind++) {
      inputs.push_back({as_bytes(signal(kind, 4500, kind), width, false), 4096, 0, {}});
      inputs.push_back({as_bytes(signal(kind, 777, kind + 50), width, width == 4), 100, 7, {}});
    }
    for (size_t n : {1, 2, 31, 32, 33, 63, 64, 65}) inputs.push_back({as_bytes(signal(1, n, n), width, false), 64, 0, {}});
    inputs.push_back({as_bytes(signal(3, 9001, 1), width, false), 9001, 0, {}}); // an odd segment, more than one group of blocks
    inputs.push_back({as_bytes(signal(1, 24, 1), width, false), 7, 4, {2, 3, 4}, true});
    inputs.push_back({{}, 7, 0, {0, 5, ~0ull}, true});
    inputs.push_back({as_bytes(signal(1, 1, 1), width, false), 7, 0, std::vector<uint64_t>(64, 1), true});
    std::vector<size_t> capacities;
    for (const Input &input : inputs) capacities.push_back(64 + 8 * input.axes.size() + 12 * size_t(segments_of(input, width)) + input.samples.size());
    EncodedBatch encoded = encode_batch(device, element, inputs, capacities);
    std::vector<Bytes> streams;
    std::vector<uint64_t> counts;
    unsigned slots = 0;
    for (size_t i = 0; i < inputs.size(); i++) {
      EXPECT(encoded.results[i].status.kind == 0 && encoded.results[i].size <= capacities[i], "input %zu: %s", i, to_string(encoded.results[i].status).c_str());
      streams.emplace_back(encoded.streams[i].begin(), encoded.streams[i].begin() + static_cast<long>(encoded.results[i].size));
      counts.push_back(inputs[i].samples.size() / width);
      slots = std::max(slots, segments_of(inputs[i], width));
    }
    DecodedBatch decoded = decode_batch(device, element, streams, counts, slots);
    for (size_t i = 0; i < inputs.size(); i++) {
      EXPECT(decoded.results[i].status.kind == 0, "input %zu: %s", i, to_string(decoded.results[i].status).c_str());
      EXPECT(decoded.samples[i] == inputs[i].samples, "input %zu, type %u", i, element);
    }
  }
}

void capacity_that_is_too_small_is_an_error_at_the_segment(Device &device) {
  Input input = {as_bytes(signal(1, 700, 3), 2, false), 100, 0, {7, 100}, true};
  Bytes whole = encode_batch(device, 0, {input}, {4000}).streams[0];
  unsigned table = 28, segments = 7, start = table + 4 * (segments + 1);
  std::vector<uint64_t> offsets = {0, start, start + 4ull * word_at(whole, table)};
  for (unsigned i = 1; i <= segments; i++) offsets.push_back(start + 4ull * word_at(whole, table + 4 * i));
  std::vector<size_t> capacities;
  for (size_t capacity = 0; capacity < offsets.back(); capacity += 23) capacities.push_back(capacity);
  capacities.push_back(offsets.back());
  EncodedBatch batch = encode_batch(device, 0, std::vector<Input>(capacities.size(), input), capacities);
  for (size_t i = 0; i < capacities.size(); i++) {
    size_t part = 0;
    while (part + 1 < offsets.size() && offsets[part + 1] <= capacities[i]) part++;
    Status wanted;
    if (capacities[i] < offsets.back()) wanted = {RICE_OUTPUT_TOO_SMALL, offsets[part], RICE2_CAPACITY};
    EXPECT(batch.results[i].status == wanted && batch.results[i].size == offsets.back(), "capacity %zu: %s", capacities[i], to_string(batch.results[i].status).c_str());
  }
}

// Damage must be an error, or leave all samples as they were, since checksums cover the header and
// the samples. The sanitizer ends the program if bytes outside a stream are read.
void damaged_streams_are_errors(Device &device, const std::vector<Golden> &goldens) {
  for (const Golden &golden : goldens) {
    std::vector<Bytes> damaged;
    std::vector<uint64_t> truncated;
    const Bytes &stream = golden.stream;
    for (size_t n = 0; n < stream.size(); n++) damaged.emplace_back(stream.begin(), stream.begin() + static_cast<long>(n));
    for (size_t bit = 0; bit < 8 * stream.size(); bit += bit < 8 * 64 ? 1 : 11) {
      damaged.push_back(stream);
      damaged.back()[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    }
    uint64_t samples = golden.raw.size() / width_of(golden.element);
    unsigned slots = segments_of(stream);
    DecodedBatch batch = decode_batch(device, golden.element, damaged, std::vector<uint64_t>(damaged.size(), samples), slots);
    for (size_t i = 0; i < damaged.size(); i++) {
      const Status &status = batch.results[i].status;
      if (i < stream.size()) {
        EXPECT(status.kind != 0, "%s cut to %zu bytes", golden.name.c_str(), i);
      } else if (status.kind == 0) {
        EXPECT(batch.samples[i] == golden.raw, "%s, damage %zu", golden.name.c_str(), i);
      }
      EXPECT(status.offset <= stream.size(), "%s: %s", golden.name.c_str(), to_string(status).c_str());
    }
  }
}

void header_errors_have_kind_and_offset(Device &device, const std::vector<Golden> &goldens) {
  const Golden &golden = goldens[5]; // difference-u16
  uint64_t samples = golden.raw.size() / 2;
  auto status = [&](unsigned element, Bytes stream, uint64_t capacity, unsigned slots) {
    return decode_batch(device, element, {stream}, {capacity}, slots).results[0].status;
  };
  unsigned slots = segments_of(golden.stream);
  Bytes longer = golden.stream, version = golden.stream, magic = golden.stream, sum = golden.stream;
  longer.resize(longer.size() + 4);
  version[4] = 3;
  magic[0] = 0;
  sum[8] ^= 1;
  EXPECT((status(1, longer, samples, slots) == Status{RICE_BAD_ARGUMENT, golden.stream.size(), RICE2_GOES_ON}), "longer");
  EXPECT((status(1, version, samples, slots) == Status{RICE_UNSUPPORTED, 4, RICE2_VERSION}), "version");
  EXPECT((status(1, magic, samples, slots) == Status{RICE_CORRUPT, 0, RICE2_MAGIC}), "magic");
  EXPECT((status(1, sum, samples, slots) == Status{RICE_CORRUPT, 24, RICE2_HEADER_CHECKSUM}), "checksum");
  EXPECT((status(0, golden.stream, samples, slots) == Status{RICE_BAD_ARGUMENT, 5, RICE2_OTHER_TYPE}), "type");
  EXPECT((status(1, golden.stream, samples - 1, slots) == Status{RICE_OUTPUT_TOO_SMALL, 0, RICE_OUTPUT_SMALL}), "capacity");
  const Golden &two = *std::find_if(goldens.begin(), goldens.end(), [](const Golden &g) { return g.name == "channels-u16"; });
  const Bytes &channels = two.stream;
  uint64_t both = two.raw.size() / 2;
  EXPECT((decode_batch(device, 1, {channels}, {both}, segments_of(channels), false).results[0].status == Status{RICE_UNSUPPORTED, 6, RICE2_PARTS}), "parts");
  EXPECT((status(1, channels, both, segments_of(channels) - 1) == Status{RICE_LIMIT, 0, RICE2_SLOTS}), "slots of parts");
  EXPECT((status(1, golden.stream, samples, 0) == Status{RICE_LIMIT, 0, RICE2_SLOTS}), "slots");
  Bytes last = golden.stream;
  last[28] ^= 0xff; // the first table entry, which is the end of the first segment
  int kind = status(1, last, samples, slots).kind;
  EXPECT(kind == RICE_CORRUPT || kind == RICE_TRUNCATED || kind == RICE_BAD_ARGUMENT, "table: %d", kind);
}

} // namespace

// Arguments: TESTDATA [brief]. TESTDATA is the folder testdata of the repository. With a second
// argument, the tests that take longest are left out.
int main(int count, char **arguments) {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  std::vector<Golden> all = goldens(std::string(arguments[1]) + "/rice-v2");
  Device device;
#define RUN(test, ...)                                                                                      \
  printf("%s\n", #test);                                                                                    \
  test(device __VA_OPT__(, ) __VA_ARGS__)
  RUN(golden_streams_decode_to_their_samples, all);
  RUN(header_errors_have_kind_and_offset, all);
  RUN(capacity_that_is_too_small_is_an_error_at_the_segment);
  RUN(samples_of_every_kind_round_trip);
  if (count > 2) return 0;
  RUN(damaged_streams_are_errors, all);
}
