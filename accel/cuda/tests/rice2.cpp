// Tests of the version 2 kernels on the shim: goldens, damage, and samples of every kind through both directions.
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

// Decodes streams of samples of type `element`, each into an output of capacities[i] samples and with `slots` slots.
DecodedBatch decode_batch(Device &device, unsigned element, const std::vector<Bytes> &streams, const std::vector<uint64_t> &capacities, unsigned slots) {
  unsigned width = element < 2 ? 2 : 4, segments = 0, count = static_cast<unsigned>(streams.size());
  std::vector<Memory> data, outputs;
  std::vector<rice2_stream> descriptors;
  for (size_t i = 0; i < streams.size(); i++) {
    data.emplace_back(streams[i]);
    outputs.emplace_back(width * capacities[i]);
    descriptors.push_back({data[i].at(), streams[i].size(), outputs[i].at(), capacities[i], 0, 0, 0, 0, segments, slots, 0});
    segments += slots;
  }
  Memory table(descriptors), segment_table(sizeof(rice2_segment) * segments), linear(4 + 4 * size_t(segments)), results(sizeof(rice_result) * count);
  check(cuMemsetD32_v2(linear.at(), 0, 1), "cuMemsetD32");
  bool is_narrow = width == 2;
  device.launch("rice2_index", 32, count, table.at(), count, element, segment_table.at(), results.at());
  device.launch(is_narrow ? "rice2_decode_16" : "rice2_decode_32", 128, segments, table.at(), segment_table.at(), linear.at(), results.at());
  device.launch(is_narrow ? "rice2_linear_16" : "rice2_linear_32", 32, blocks(segments, 32), table.at(), segment_table.at(), linear.at());
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
                           "step-u16", "spikes-u16", "bursts-i16"}) {
    Bytes stream = read_file(folder + "/" + name + ".rice");
    all.push_back({name, stream[5], read_file(folder + "/" + name + ".raw"), stream});
  }
  return all;
}

unsigned width_of(unsigned element) { return element < 2 ? 2 : 4; }

unsigned segments_of(const Bytes &stream) {
  unsigned samples = word_at(stream, 8), segment = word_at(stream, 16);
  return samples / segment + (samples % segment != 0);
}

void golden_streams_decode_to_their_samples(Device &device, const std::vector<Golden> &goldens) {
  for (const Golden &golden : goldens) {
    uint64_t samples = golden.raw.size() / width_of(golden.element);
    DecodedBatch batch = decode_batch(device, golden.element, {golden.stream}, {samples}, segments_of(golden.stream));
    EXPECT(batch.results[0].status.kind == 0 && batch.results[0].size == samples, "%s: %s", golden.name.c_str(), to_string(batch.results[0].status).c_str());
    EXPECT(batch.samples[0] == golden.raw, "%s", golden.name.c_str());
  }
}

// An error, or the samples: every bit of a stream counts but for those of its row length, which the header's checksum
// covers. The sanitizer watches that nothing outside of a stream is read.
void damaged_streams_are_errors(Device &device, const std::vector<Golden> &goldens) {
  for (const Golden &golden : goldens) {
    std::vector<Bytes> damaged;
    std::vector<uint64_t> truncated;
    const Bytes &stream = golden.stream;
    for (size_t n = 0; n < stream.size(); n++) damaged.emplace_back(stream.begin(), stream.begin() + static_cast<long>(n));
    for (size_t bit = 0; bit < 8 * stream.size(); bit += bit < 8 * 64 ? 1 : 5) {
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
  EXPECT((status(1, golden.stream, samples, 0) == Status{RICE_LIMIT, 0, RICE2_SLOTS}), "slots");
  Bytes last = golden.stream;
  last[28] ^= 0xff; // the first end of the table
  int kind = status(1, last, samples, slots).kind;
  EXPECT(kind == RICE_CORRUPT || kind == RICE_TRUNCATED || kind == RICE_BAD_ARGUMENT, "table: %d", kind);
}

} // namespace

int main(int, char **arguments) {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  std::vector<Golden> all = goldens(std::string(arguments[1]) + "/rice-v2");
  Device device;
#define RUN(test, ...)                                                                                      \
  printf("%s\n", #test);                                                                                    \
  test(device __VA_OPT__(, ) __VA_ARGS__)
  RUN(golden_streams_decode_to_their_samples, all);
  RUN(header_errors_have_kind_and_offset, all);
  RUN(damaged_streams_are_errors, all);
}
