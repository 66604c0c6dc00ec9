//! CPU time, size and state of messages that are encoded and decoded, beside zlib with takeover and a window of 32 KiB:
//! `speed ROUNDS [FILE]`. Messages are those of a chat and of JSON-RPC, which it makes up, and those of FILE: each after its
//! length in four bytes, little-endian, as `linerate gateway generate` writes them. Rounds alternate; prints a CSV row for
//! each contender.

use std::time::Duration;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress};
use linerate_websocket::{Decoder, Direction, Encoder, Level, Options, Scratch};
use rustix::time::{ClockId, clock_gettime};

/// zlib's state of one connection in both directions, as `zlib.h` and `zconf.h` count it: windows, hash tables and
/// pending buffers of `deflateInit2` with windowBits 15 and memLevel 8, and of `inflateInit2`.
const ZLIB_STATE: usize = (1 << 17) + (1 << 17) + 6_000 + (1 << 15) + 7_200;

fn now() -> Duration {
    let t = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
}

/// Bytes on the wire, and the times of encoding and of decoding.
#[derive(Clone, Copy, Default)]
struct Round {
    bytes: usize,
    encoding: Duration,
    decoding: Duration,
    state: usize,
}

trait Codec {
    fn encode(&mut self, message: &[u8], out: &mut Vec<u8>);
    /// Decodes what `encode` has written.
    fn decode(&mut self, wire: &[u8], out: &mut Vec<u8>);
    fn state(&self) -> usize;
}

struct Ours {
    scratch: Scratch,
    encoder: Encoder,
    decoder: Decoder,
    buffer: Box<[u8]>,
}

impl Ours {
    fn new(bits: u8, level: Level) -> Self {
        let direction = Direction::window_bits(bits);
        Ours {
            scratch: Scratch::new(),
            encoder: Encoder::new(direction, level).expect("valid"),
            decoder: Decoder::new(direction, &Options::default()).expect("valid"),
            buffer: vec![0; 1 << 17].into(),
        }
    }
}

impl Codec for Ours {
    fn encode(&mut self, message: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(self.encoder.part(&mut self.scratch, message, true).expect("encoded"));
    }

    fn decode(&mut self, mut wire: &[u8], out: &mut Vec<u8>) {
        loop {
            let (read, n) = self.decoder.part(&mut self.scratch, wire, &mut self.buffer).expect("decoded");
            out.extend_from_slice(&self.buffer[..n]);
            wire = &wire[read..];
            if wire.is_empty() && n < self.buffer.len() {
                break;
            }
        }
        loop {
            let (n, done) = self.decoder.finish(&mut self.scratch, &mut self.buffer).expect("decoded");
            out.extend_from_slice(&self.buffer[..n]);
            if done {
                return;
            }
        }
    }

    fn state(&self) -> usize {
        self.encoder.memory() + self.decoder.memory()
    }
}

struct Zlib {
    encoder: Compress,
    decoder: Decompress,
    tailed: Vec<u8>,
}

impl Zlib {
    fn new(level: u32) -> Self {
        Zlib {
            encoder: Compress::new(Compression::new(level), false),
            decoder: Decompress::new(false),
            tailed: Vec::new(),
        }
    }
}

impl Codec for Zlib {
    fn encode(&mut self, message: &[u8], out: &mut Vec<u8>) {
        out.reserve(message.len() + message.len() / 8 + 100);
        let start = self.encoder.total_in();
        self.encoder.compress_vec(message, out, FlushCompress::Sync).expect("encoded");
        assert_eq!(self.encoder.total_in() - start, message.len() as u64);
        out.truncate(out.len() - 4);
    }

    fn decode(&mut self, wire: &[u8], out: &mut Vec<u8>) {
        self.tailed.clear();
        self.tailed.extend_from_slice(wire);
        self.tailed.extend_from_slice(&[0, 0, 0xff, 0xff]);
        let (start, mut read) = (self.decoder.total_in(), 0);
        while read < self.tailed.len() || out.len() == out.capacity() {
            out.reserve(1 << 14);
            self.decoder.decompress_vec(&self.tailed[read..], out, FlushDecompress::Sync).expect("decoded");
            read = (self.decoder.total_in() - start) as usize;
        }
    }

    fn state(&self) -> usize {
        ZLIB_STATE
    }
}

fn round(codec: &mut dyn Codec, messages: &[Vec<u8>]) -> Round {
    let (mut wire, mut ends, mut plain) =
        (Vec::with_capacity(1 << 24), Vec::new(), Vec::with_capacity(1 << 21));
    let start = now();
    for message in messages {
        codec.encode(message, &mut wire);
        ends.push(wire.len());
    }
    let encoding = now() - start;
    let (mut at, mut decoding) = (0, Duration::ZERO);
    for (message, end) in messages.iter().zip(ends) {
        plain.clear();
        let start = now();
        codec.decode(&wire[at..end], &mut plain);
        decoding += now() - start;
        assert!(plain == *message, "a message is another one after decoding");
        at = end;
    }
    Round { bytes: wire.len(), encoding, decoding, state: codec.state() }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Numbers that look random, the same on every machine.
struct Source(u64);

impl Source {
    fn bits(&mut self, count: u32) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0.rotate_left(29) >> (64 - count)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.bits(32) % limit
    }
}

const WORDS: &str = "the of and to a in is it you that he was for on are with as his they be at one have this from or had by not \
    but some what there we can out other were all your when up use how said an each she which do their time if will way about \
    many then them write would like so these her long make thing see him two has look more day could go come did my sound no";

fn chat(source: &mut Source, i: u64) -> String {
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let text: Vec<&str> =
        (0..2 + source.below(28)).map(|_| words[source.below(words.len() as u64) as usize]).collect();
    let channel = ["general", "random", "help", "dev"][source.below(4) as usize];
    let (user, id, time) = (source.below(400), source.bits(63), 1_790_000_000 + 3 * i);
    format!(
        r#"{{"type":"message","id":"{id:016x}","channel":"{channel}","user":{{"id":{user},"name":"user{user}"}},"text":"{}","ts":{time}.{:03}}}"#,
        text.join(" "),
        source.below(1000)
    )
}

fn json_rpc(source: &mut Source, i: u64) -> String {
    let (id, block) = (i / 2, 19_000_000 + i);
    let address = format!("0x{:016x}{:016x}{:08x}", source.bits(63), source.bits(63), source.bits(32));
    if i.is_multiple_of(2) {
        let method =
            ["eth_call", "eth_getLogs", "eth_getBalance", "eth_getBlockByNumber"][source.below(4) as usize];
        return format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":["{address}","0x{block:x}"]}}"#
        );
    }
    let topics: Vec<String> =
        (0..1 + source.below(3)).map(|_| format!("\"0x{:064x}\"", source.below(50))).collect();
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"address":"{address}","blockNumber":"0x{block:x}","data":"0x{:064x}","topics":[{}],"removed":false,"logIndex":"0x{:x}"}}}}"#,
        source.bits(63),
        topics.join(","),
        i % 300
    )
}

fn made_up(message: fn(&mut Source, u64) -> String) -> Vec<Vec<u8>> {
    let mut source = Source(1);
    (0..20_000).map(|i| message(&mut source, i).into_bytes()).collect()
}

fn read(path: &str) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(path).expect("a file");
    let (mut messages, mut rest) = (Vec::new(), &bytes[..]);
    while let Some((len, more)) = rest.split_first_chunk() {
        let (message, more) = more.split_at(u32::from_le_bytes(*len) as usize);
        messages.push(message.to_vec());
        rest = more;
    }
    messages
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rounds = arguments.first().map_or(7, |n| n.parse().expect("a number of rounds"));
    println!(
        "traffic,messages,bytes,contender,ratio,encode_ns,decode_ns,cpu_vs_base,ratio_vs_base,state_bytes,rounds"
    );
    compare("chat", &made_up(chat), rounds);
    compare("json-rpc", &made_up(json_rpc), rounds);
    if let Some(path) = arguments.get(1) {
        compare("gateway", &read(path), rounds);
    }
}

fn compare(name: &str, messages: &[Vec<u8>], rounds: usize) {
    let plain: usize = messages.iter().map(Vec::len).sum();
    type Make = Box<dyn Fn() -> Box<dyn Codec>>;
    let ours = |bits, level| Box::new(move || Box::new(Ours::new(bits, level)) as Box<dyn Codec>) as Make;
    let zlib = |level| Box::new(move || Box::new(Zlib::new(level)) as Box<dyn Codec>) as Make;
    let peers = [("zlib 6, 32 KiB".to_owned(), zlib(6)), ("zlib 1, 32 KiB".to_owned(), zlib(1))];
    let small = [9, 10, 11, 13, 15]
        .map(|bits| (format!("linerate 2, {} bytes", 1 << bits), ours(bits, Level::Default)));
    let best = [11, 15].map(|bits| (format!("linerate 6, {} bytes", 1 << bits), ours(bits, Level::Best)));
    let contenders: Vec<(String, Make)> = peers.into_iter().chain(small).chain(best).collect();
    let mut all = vec![Vec::new(); contenders.len()];
    for _ in 0..rounds {
        for ((_, make), rounds) in contenders.iter().zip(&mut all) {
            rounds.push(round(&mut *make(), messages));
        }
    }
    let mut base = None;
    for ((contender, _), rounds) in contenders.iter().zip(all) {
        let each = |time: Duration| time.as_nanos() as f64 / messages.len() as f64;
        let encode = each(median(rounds.iter().map(|round: &Round| round.encoding).collect()));
        let decode = each(median(rounds.iter().map(|round| round.decoding).collect()));
        let ratio = plain as f64 / rounds[0].bytes as f64;
        let (base_time, base_ratio) = *base.get_or_insert((encode + decode, ratio));
        println!(
            "{name},{},{plain},\"{contender}\",{ratio:.3},{encode:.0},{decode:.0},{:.3},{:.3},{},{}",
            messages.len(),
            (encode + decode) / base_time,
            ratio / base_ratio,
            rounds[0].state,
            rounds.len()
        );
    }
}
