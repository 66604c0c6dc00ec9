// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Bench for Verilator: bench [SEED] < vectors. The vectors come from the example `hdl_vectors` of
// linerate-rice.
//
// Each chunk is encoded from its samples and decoded from its words, and its segments are encoded
// alone, all at the same time, and compared word by word. About a third of the chunks run without
// pauses, and there the encoders must take a sample in every clock (the chunk encoder, if all
// segments are equally long and have 10 samples or more); the others run with random pauses on most
// interfaces. Then chunks of less than 3,000 samples are damaged: the decoder must end, and must
// detect exactly the damage that a slow decoder detects, which is written here from the format
// alone.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "Vbench_top.h"
#include "verilated.h"

namespace {

using Words = std::vector<uint32_t>;

struct Chunk {
    unsigned k, delta, segment;
    std::vector<uint16_t> samples;
    Words words;
};

struct Beat {
    uint32_t data;
    bool last;
    uint32_t user;
    bool operator==(const Beat &b) const { return data == b.data && last == b.last && user == b.user; }
};

std::mt19937 noise;
uint32_t below(uint32_t n) { return noise() % n; }

[[noreturn]] void fail(const char *what, const Chunk &c, size_t at) {
    std::printf("failed: %s: k %u, delta %u, segment %u, %zu samples, at %zu\n", what, c.k, c.delta, c.segment,
                c.samples.size(), at);
    std::exit(1);
}

// A master of a stream: sends beats (transfers) in order, with random pauses.
struct Source {
    std::vector<Beat> beats;
    size_t at = 0;
    unsigned pause = 0;      // in 256ths of the clocks
    bool valid = false;
    bool stalled = false;    // whether a beat was offered and not taken in any clock
    void drive() { valid = at < beats.size() && (valid || below(256) >= pause); }
    void clock(bool ready) {
        if (valid && ready) {
            at++;
            valid = false;
        } else if (valid)
            stalled = true;
    }
};

// A slave of a stream: receives beats, with random pauses, and checks that a beat that was offered
// and not taken is offered again.
struct Sink {
    std::vector<Beat> beats;
    unsigned pause = 0;
    bool ready = false;
    bool pending = false;
    Beat offered{};
    bool kept_offer = true;
    void drive() { ready = below(256) >= pause; }
    void clock(bool valid, Beat beat) {
        if (pending && !(valid && beat == offered)) kept_offer = false;
        if (valid && ready) beats.push_back(beat);
        pending = valid && !ready;
        offered = beat;
    }
};

struct Bench {
    VerilatedContext context;
    Vbench_top top{&context};
    uint64_t clocks = 0;

    // One clock. Call eval first if inputs have changed.
    void rising_edge() {
        top.aclk = 1;
        top.eval();
        top.aclk = 0;
        clocks++;
    }

    void configure(const Chunk &c) {
        top.delta = c.delta;
        top.k = c.k;
        top.chunk_samples = static_cast<uint32_t>(c.samples.size());
        top.segment_samples = c.segment;
        top.encode_s_tvalid = top.decode_s_tvalid = top.segment_s_tvalid = 0;
        top.encode_m_tready = top.decode_m_tready = top.segment_m_tready = 0;
        top.aresetn = 0;
        for (int i = 0; i < 3; i++) top.eval(), rising_edge();
        top.aresetn = 1;
        for (int i = 0; i < 3; i++) top.eval(), rising_edge();
    }

    // Moves all interfaces by one clock.
    void step(Source &encode_s, Sink &encode_m, Source &decode_s, Sink &decode_m, Source &segment_s, Sink &segment_m) {
        for (Source *s : {&encode_s, &decode_s, &segment_s}) s->drive();
        for (Sink *m : {&encode_m, &decode_m, &segment_m}) m->drive();
        auto beat = [](const Source &s) { return s.valid ? s.beats[s.at] : Beat{static_cast<uint32_t>(noise()), true, 0}; };
        top.encode_s_tvalid = encode_s.valid;
        top.encode_s_tdata = beat(encode_s).data & 0xffff;
        top.decode_s_tvalid = decode_s.valid;
        top.decode_s_tdata = beat(decode_s).data;
        top.decode_s_tlast = beat(decode_s).last;
        top.segment_s_tvalid = segment_s.valid;
        top.segment_s_tdata = beat(segment_s).data & 0xffff;
        top.segment_s_tlast = beat(segment_s).last;
        top.encode_m_tready = encode_m.ready;
        top.decode_m_tready = decode_m.ready;
        top.segment_m_tready = segment_m.ready;
        top.eval();
        encode_s.clock(top.encode_s_tready);
        decode_s.clock(top.decode_s_tready);
        segment_s.clock(top.segment_s_tready);
        encode_m.clock(top.encode_m_tvalid, {top.encode_m_tdata, bool(top.encode_m_tlast), 0});
        decode_m.clock(top.decode_m_tvalid, {top.decode_m_tdata, bool(top.decode_m_tlast), top.decode_m_tuser});
        segment_m.clock(top.segment_m_tvalid, {top.segment_m_tdata, bool(top.segment_m_tlast),
                                               top.segment_m_tlast ? top.segment_m_tuser : 0});
        rising_edge();
    }
};

size_t segment_end(const Chunk &c, size_t at) { return std::min(c.samples.size(), at - at % c.segment + c.segment); }

void append(std::vector<Beat> &to, const std::vector<Beat> &from) { to.insert(to.end(), from.begin(), from.end()); }

std::vector<Beat> chunk_beats(const Chunk &c) {
    std::vector<Beat> beats;
    for (size_t i = 0; i < c.words.size(); i++) beats.push_back({c.words[i], i + 1 == c.words.size(), 0});
    return beats;
}

// The samples as the chunk decoder returns them (TLAST per chunk), or as the segment encoder takes
// them.
std::vector<Beat> sample_beats(const Chunk &c, bool by_segment) {
    std::vector<Beat> beats;
    for (size_t i = 0; i < c.samples.size(); i++) {
        bool ends_segment = i + 1 == segment_end(c, i), ends_chunk = i + 1 == c.samples.size();
        beats.push_back({c.samples[i], by_segment ? ends_segment : ends_chunk, by_segment ? 0u : ends_segment});
    }
    return beats;
}

std::vector<Beat> payload_beats(const Chunk &c) {
    std::vector<Beat> beats;
    for (size_t at = 1; at < c.words.size();) {
        uint32_t n = c.words[at++];
        for (uint32_t i = 1; i <= n; i++, at++) beats.push_back({c.words[at], i == n, i == n ? n : 0});
    }
    return beats;
}

void compare(const char *what, const Chunk &c, const Sink &sink, const std::vector<Beat> &wanted) {
    if (!sink.kept_offer) fail("an offered beat changed or vanished", c, sink.beats.size());
    for (size_t i = 0; i < std::min(sink.beats.size(), wanted.size()); i++)
        if (!(sink.beats[i] == wanted[i])) fail(what, c, i);
    if (sink.beats.size() != wanted.size()) fail(what, c, std::min(sink.beats.size(), wanted.size()));
}

void run(Bench &bench, const Chunk &c, int times) {
    bool has_pauses = below(3) != 0;
    auto pause = [&] { return has_pauses ? below(4) * 70 : 0; };
    Source encode_s, decode_s, segment_s;
    Sink encode_m, decode_m, segment_m;
    for (Source *s : {&encode_s, &decode_s, &segment_s}) s->pause = pause();
    for (Sink *m : {&encode_m, &decode_m, &segment_m}) m->pause = pause();
    std::vector<Beat> chunks, samples, payloads;
    for (int i = 0; i < times; i++) {
        append(chunks, chunk_beats(c));
        append(samples, sample_beats(c, false));
        append(payloads, payload_beats(c));
        append(segment_s.beats, sample_beats(c, true));
    }
    encode_s.beats = samples;
    decode_s.beats = chunks;
    bench.configure(c);
    if (bench.top.configuration_error) fail("configuration error", c, 0);
    // Enough clocks even if every interface has the most pauses.
    size_t limit = 100 + 16 * (samples.size() + chunks.size());
    for (size_t i = 0; encode_m.beats.size() < chunks.size() || decode_m.beats.size() < samples.size() ||
                       segment_m.beats.size() < payloads.size();
         i++) {
        if (i == limit) fail("no end", c, i);
        bench.step(encode_s, encode_m, decode_s, decode_m, segment_s, segment_m);
    }
    // No beat may follow.
    for (int i = 0; i < 20; i++) bench.step(encode_s, encode_m, decode_s, decode_m, segment_s, segment_m);
    compare("encoded chunk", c, encode_m, chunks);
    compare("decoded samples", c, decode_m, samples);
    compare("encoded segments", c, segment_m, payloads);
    if (!has_pauses && segment_s.stalled) fail("the segment encoder made a sample wait", c, 0);
    if (!has_pauses && encode_s.stalled && c.segment >= 10 && c.samples.size() % c.segment == 0)
        fail("the chunk encoder made a sample wait", c, 0);
}

// Decodes bit by bit. Returns false if the chunk is damaged.
bool slow_decode(const Chunk &c, std::vector<uint16_t> &out) {
    const Words &w = c.words;
    if (w.empty()) return false;
    size_t at = 1;
    for (size_t left = w[0]; left > 0;) {
        size_t n = std::min<size_t>(left, c.segment);
        if (at >= w.size()) return false;
        size_t length = w[at++];
        if (length == 0 || length > w.size() - at) return false;
        size_t bit = 0, bits = 32 * length;
        auto read = [&](unsigned count, uint32_t &value) {
            value = 0;
            for (; count > 0; count--, bit++) {
                if (bit == bits) return false;
                value = value << 1 | (w[at + bit / 32] >> (31 - bit % 32) & 1);
            }
            return true;
        };
        uint16_t previous = 0;
        for (size_t i = 0; i < n; i++) {
            uint32_t q = 0, one = 0, low = 0;
            while (true) {
                if (!read(1, one)) return false;
                if (one) break;
                if (++q > 8) return false;
            }
            if (!read(q == 8 ? 16 : c.k, low)) return false;
            uint16_t z = static_cast<uint16_t>(q == 8 ? low : q << c.k | low);
            uint16_t y = static_cast<uint16_t>((z >> 1) ^ -(z & 1));
            previous = static_cast<uint16_t>(c.delta ? previous + y : y);
            out.push_back(previous);
        }
        if (bits - bit >= 32) return false;
        uint32_t rest = 0;
        read(static_cast<unsigned>(bits - bit), rest);
        if (rest != 0) return false;
        at += length;
        left -= n;
    }
    return at == w.size();
}

// Decodes a damaged chunk and then a whole one, which must not be affected.
void run_damaged(Bench &bench, const Chunk &c) {
    Chunk damaged = c;
    Words &w = damaged.words;
    size_t payload = 2 + below(static_cast<uint32_t>(w.size() - 2));
    switch (below(6)) {
        case 0: w.resize(1 + below(static_cast<uint32_t>(w.size() - 1))); break;
        case 1: w.push_back(noise()); break;
        case 2: w[1] += below(5) - 2; break;
        case 3: w[0] += below(9) - 4; break;
        case 4: w[payload] = 0; break;
        default: w[payload] ^= 1u << below(32);
    }
    if (w[0] > 2 * c.samples.size() + 8) w[0] = 1;    // to simulate a huge N would only take long
    std::vector<uint16_t> samples;
    bool is_valid = slow_decode(damaged, samples);
    Source decode_s, none;
    Sink decode_m, unused;
    decode_s.beats = chunk_beats(damaged);
    append(decode_s.beats, chunk_beats(c));
    decode_s.pause = below(2) * 100;
    decode_m.pause = below(2) * 100;
    bench.configure(c);
    size_t limit = 100 + 16 * (decode_s.beats.size() + 3 * c.samples.size() + 8);
    for (size_t i = 0, quiet = 0; quiet < 40; i++) {
        if (i == limit) fail("no end after damage", c, i);
        size_t before = decode_m.beats.size();
        bench.step(none, unused, decode_s, decode_m, none, unused);
        quiet = decode_s.at == decode_s.beats.size() && decode_m.beats.size() == before ? quiet + 1 : 0;
    }
    std::vector<Beat> whole = sample_beats(c, false);
    std::vector<Beat> &got = decode_m.beats;
    size_t first = got.size() - whole.size();
    if (got.size() < whole.size()) fail("samples after damage", c, got.size());
    for (size_t i = 0; i < whole.size(); i++)
        if (!(got[first + i] == whole[i])) fail("samples after damage", c, i);
    bool has_error = first > 0 && (got[first - 1].user & 2);
    if (has_error == is_valid) fail(is_valid ? "an error in a valid chunk" : "damage without an error", c, first);
    if (first > 0 && !got[first - 1].last) fail("no end of a damaged chunk", c, first);
    for (size_t i = 0; i + 1 < first; i++)
        if (got[i].last || (got[i].user & 2)) fail("a chunk ends twice", c, i);
    if (is_valid && first != samples.size()) fail("samples of a valid chunk", c, first);
    for (size_t i = 0; is_valid && i < first; i++)
        if (got[i].data != samples[i]) fail("samples of a valid chunk", c, i);
}

// Checks that a configuration that does not fit is refused, and no sample is taken.
void run_misconfigured(Bench &bench) {
    const uint32_t too_long = (1u << 16) * 32 / 25 + 1;
    for (auto [chunk, segment] : {std::pair<uint32_t, uint32_t>{100, too_long}, {100, 0}, {0, 100}}) {
        Chunk c{3, 1, segment, std::vector<uint16_t>(chunk), {}};
        bench.configure(c);
        bench.top.encode_s_tvalid = 1;
        bench.top.eval();
        if (!bench.top.configuration_error || bench.top.encode_s_tready) fail("a bad configuration is taken", c, 0);
    }
}

bool read_number(unsigned base, uint32_t &value) {
    int c;
    do c = std::getchar();
    while (c == ' ' || c == '\n');
    value = 0;
    for (; c > ' '; c = std::getchar()) value = value * base + (c <= '9' ? c - '0' : c - 'a' + 10);
    return c != EOF;
}

bool read_chunk(Chunk &c) {
    uint32_t samples, words, value;
    if (!read_number(10, c.k)) return false;
    bool is_whole = read_number(10, c.delta) && read_number(10, c.segment) && read_number(10, samples) &&
                    read_number(10, words);
    c.samples.clear();
    c.words.clear();
    for (uint32_t i = 0; is_whole && i < samples; i++) {
        is_whole = read_number(16, value);
        c.samples.push_back(static_cast<uint16_t>(value));
    }
    for (uint32_t i = 0; is_whole && i < words; i++) {
        is_whole = read_number(16, value);
        c.words.push_back(value);
    }
    if (!is_whole) fail("the vectors are cut off", c, 0);
    return true;
}

}  // namespace

int main(int argc, char **argv) {
    noise.seed(argc > 1 ? static_cast<uint32_t>(std::atoi(argv[1])) : 1);
    Bench bench;
    Chunk c;
    size_t chunks = 0, samples = 0, damaged = 0;
    run_misconfigured(bench);
    for (; read_chunk(c); chunks++) {
        int times = c.samples.size() < 2000 ? 1 + static_cast<int>(below(3)) : 1;
        run(bench, c, times);
        size_t millions = samples / 1'000'000;
        samples += times * c.samples.size();
        if (samples / 1'000'000 != millions) {
            std::printf("%zu chunks, %zu samples so far\n", chunks + 1, samples);
            std::fflush(stdout);
        }
        for (int i = 0; i < 3 && c.samples.size() < 3000; i++, damaged++) run_damaged(bench, c);
    }
    if (chunks == 0) {
        std::printf("failed: no vectors\n");
        return 1;
    }
    std::printf("ok: %zu chunks, %zu samples, %zu damaged chunks, %llu clocks\n", chunks, samples, damaged,
                static_cast<unsigned long long>(bench.clocks));
}
