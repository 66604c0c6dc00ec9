//! The shape "websocket": permessage-deflate with takeover, that is with matches into earlier
//! messages. It encodes and decodes messages beside zlib with a window of 32 KiB, in CPU time of
//! one thread. `websocket-broadcast` sends a message to many connections, and `websocket-idle`
//! measures the memory of connections that wait.

mod idle;
mod prepared;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress};
use linerate_candidates::thread_time;
use linerate_gateway::Messages;
use linerate_gateway_sim::traffic::Random;
use linerate_websocket::{Decoder, Direction, Encoder, Level, Options, Scratch};

pub use self::idle::child;
use crate::harness::{Common, Contender, Rounds, Spent, measure as harness, message, row, same};
use crate::http::words;
use crate::records::Measurement;

/// Bytes of zlib's state for one connection in both directions, as `zlib.h` and `zconf.h` count it:
/// windows, hash tables and pending buffers of `deflateInit2` with windowBits 15 and memLevel 8,
/// and of `inflateInit2`.
const ZLIB_STATE: usize = (1 << 17) + (1 << 17) + 6_000 + (1 << 15) + 7_200;
/// Name of the contender that others are compared with.
const BASE: &str = "zlib 6, 32 KiB";

/// Options of `linerate-bench websocket`.
#[derive(Args, Clone, Debug)]
pub struct WebsocketArgs {
    /// Number of idle connections; 0 leaves them out [default: 10000, with --quick 200]
    #[arg(long, value_name = "N")]
    connections: Option<usize>,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Files of length-prefixed messages, as `linerate gateway generate` writes them, to measure
    /// beside a chat and JSON-RPC
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Measures messages, broadcasts and idle connections.
///
/// # Errors
/// A sentence for the user.
pub fn run(args: &WebsocketArgs) -> Result<(), String> {
    let mut output = args.common.open_pinned()?;
    let count = if args.common.quick { 2_000 } else { 20_000 };
    let made = |message: fn(&mut Random, usize) -> String| {
        let mut random = Random::stream(1, 0);
        (0..count).map(|i| message(&mut random, i).into_bytes()).collect::<Vec<_>>()
    };
    let mut all = vec![("chat".to_owned(), made(chat)), ("json-rpc".to_owned(), made(json_rpc))];
    for path in &args.files {
        let at = |e: std::io::Error| format!("{}: {e}", path.display());
        let file = std::io::BufReader::new(std::fs::File::open(path).map_err(at)?);
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        all.push((name, Messages::new(file).collect::<Result<_, _>>().map_err(at)?));
    }
    for (name, messages) in &all {
        output.add("Messages, CPU time of the thread", measure(name, messages, args.common.rounds(7))?)?;
    }
    let broadcast = prepared::measure(args.common.rounds(7), args.common.quick)?;
    output.add("A message for many, CPU time of the thread", broadcast)?;
    let connections = args.connections.unwrap_or(if args.common.quick { 200 } else { 10_000 });
    if connections > 0 {
        output.add("Memory of idle connections", idle::measure(connections)?)?;
    }
    output.finish()
}

/// The encoder and the decoder of one connection.
trait Codec {
    /// Appends the compressed message to `out`.
    fn encode(&mut self, message: &[u8], out: &mut Vec<u8>) -> Result<(), String>;
    /// Decodes the output of one call of `encode`, and appends the message to `out`.
    fn decode(&mut self, wire: &[u8], out: &mut Vec<u8>) -> Result<(), String>;
    /// Bytes that the encoder and the decoder hold between messages.
    fn state(&self) -> usize;
}

type Make = Box<dyn Fn() -> Result<Box<dyn Codec>, String>>;

fn contenders() -> Vec<(String, Make)> {
    let ours = |name: String, bits, level| {
        (name, Box::new(move || Ok(Box::new(Ours::new(bits, level)?) as Box<dyn Codec>)) as Make)
    };
    let zlib = |name: &str, level| {
        (name.to_owned(), Box::new(move || Ok(Box::new(Zlib::new(level)) as Box<dyn Codec>)) as Make)
    };
    let mut all = vec![zlib(BASE, 6), zlib("zlib 1, 32 KiB", 1)];
    all.extend(
        [9, 10, 11, 13, 15]
            .map(|bits| ours(format!("linerate 2, {} bytes", 1 << bits), bits, Level::Default)),
    );
    all.extend([11, 15].map(|bits| ours(format!("linerate 6, {} bytes", 1 << bits), bits, Level::Deeper)));
    all
}

/// Names of the contenders.
pub fn names() -> Vec<String> {
    contenders().into_iter().map(|(name, _)| name).chain(prepared::names()).collect()
}

fn measure(name: &str, messages: &[Vec<u8>], rounds: usize) -> Result<Vec<Measurement>, String> {
    let plain: usize = messages.iter().map(Vec::len).sum();
    let mut timed = Vec::new();
    let mut base_bytes = None;
    for (contender, make) in contenders() {
        let (bytes, state, ..) = round(&mut *make()?, messages).map_err(|e| format!("{contender}: {e}"))?;
        let base = *base_bytes.get_or_insert(bytes);
        let row = row("websocket", name, contender)
            .param("messages", messages.len())
            .exact("ratio", plain as f64 / bytes as f64)
            .exact("ratio_by_base", base as f64 / bytes as f64)
            .size("state", state);
        let turn = move |_| {
            let (_, _, encoding, decoding) = round(&mut *make()?, messages)?;
            let each = |time: Duration| time.as_secs_f64() * 1e6 / messages.len() as f64;
            let more = vec![("encode_time", each(encoding)), ("decode_time", each(decoding))];
            Ok(Spent { time: encoding + decoding, more })
        };
        timed.push(Contender::new(row, turn).base(0, BASE).by_cost());
    }
    harness(timed, Rounds::parts(rounds, 1))
}

/// Encodes all messages of a connection, then decodes them and compares the content. Returns the
/// compressed size, the bytes that the connection holds, and the CPU times of encoding and of
/// decoding.
fn round(codec: &mut dyn Codec, messages: &[Vec<u8>]) -> Result<(usize, usize, Duration, Duration), String> {
    let (mut wire, mut ends, mut plain) =
        (Vec::with_capacity(1 << 24), Vec::new(), Vec::with_capacity(1 << 21));
    let begun = thread_time();
    for message in messages {
        codec.encode(message, &mut wire)?;
        ends.push(wire.len());
    }
    let encoding = thread_time() - begun;
    let (mut at, mut decoding) = (0, Duration::ZERO);
    for (message, end) in messages.iter().zip(ends) {
        plain.clear();
        let begun = thread_time();
        codec.decode(&wire[at..end], &mut plain)?;
        decoding += thread_time() - begun;
        same(&plain, message)?;
        at = end;
    }
    Ok((wire.len(), codec.state(), encoding, decoding))
}

struct Ours {
    scratch: Scratch,
    encoder: Encoder,
    decoder: Decoder,
    buffer: Box<[u8]>,
}

impl Ours {
    fn new(bits: u8, level: Level) -> Result<Self, String> {
        let direction = Direction::window_bits(bits);
        Ok(Ours {
            scratch: Scratch::new(),
            encoder: Encoder::new(direction, level).map_err(message)?,
            decoder: Decoder::new(direction, &Options::default()).map_err(message)?,
            buffer: vec![0; 1 << 17].into(),
        })
    }
}

impl Codec for Ours {
    fn encode(&mut self, message: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        out.extend_from_slice(
            self.encoder.part(&mut self.scratch, message, true).map_err(|e| e.to_string())?,
        );
        Ok(())
    }

    fn decode(&mut self, mut wire: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        loop {
            let part = self.decoder.part(&mut self.scratch, wire, &mut self.buffer);
            let (read, n) = part.map_err(message)?;
            out.extend_from_slice(&self.buffer[..n]);
            wire = &wire[read..];
            if wire.is_empty() && n < self.buffer.len() {
                break;
            }
        }
        loop {
            let (n, done) = self.decoder.finish(&mut self.scratch, &mut self.buffer).map_err(message)?;
            out.extend_from_slice(&self.buffer[..n]);
            if done {
                return Ok(());
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
        let encoder = Compress::new(Compression::new(level), false);
        Zlib { encoder, decoder: Decompress::new(false), tailed: Vec::new() }
    }
}

impl Codec for Zlib {
    fn encode(&mut self, message: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        out.reserve(message.len() + message.len() / 8 + 100);
        let start = self.encoder.total_in();
        self.encoder.compress_vec(message, out, FlushCompress::Sync).map_err(|e| e.to_string())?;
        if self.encoder.total_in() - start != message.len() as u64 {
            return Err("the encoder did not take the whole message".into());
        }
        out.truncate(out.len() - 4);
        Ok(())
    }

    fn decode(&mut self, wire: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        self.tailed.clear();
        self.tailed.extend_from_slice(wire);
        self.tailed.extend_from_slice(&[0, 0, 0xff, 0xff]);
        let (start, mut read) = (self.decoder.total_in(), 0);
        while read < self.tailed.len() || out.len() == out.capacity() {
            out.reserve(1 << 14);
            let tail = &self.tailed[read..];
            self.decoder.decompress_vec(tail, out, FlushDecompress::Sync).map_err(message)?;
            read = (self.decoder.total_in() - start) as usize;
        }
        Ok(())
    }

    fn state(&self) -> usize {
        ZLIB_STATE
    }
}

fn chat(random: &mut Random, i: usize) -> String {
    let channel = ["general", "random", "help", "dev"][random.below(4)];
    let (count, user, id, time) =
        (2 + random.below(28), random.below(400), random.below(usize::MAX), 1_790_000_000 + 3 * i);
    format!(
        r#"{{"type":"message","id":"{id:016x}","channel":"{channel}","user":{{"id":{user},"name":"user{user}"}},"text":"{}","ts":{time}.{:03}}}"#,
        words(random, count),
        random.below(1000)
    )
}

fn json_rpc(random: &mut Random, i: usize) -> String {
    let (id, block) = (i / 2, 19_000_000 + i);
    let mut word = || random.below(usize::MAX);
    let (address, data) = (format!("0x{:016x}{:016x}{:08x}", word(), word(), word() as u32), word());
    if i.is_multiple_of(2) {
        let method = ["eth_call", "eth_getLogs", "eth_getBalance", "eth_getBlockByNumber"][random.below(4)];
        return format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":["{address}","0x{block:x}"]}}"#
        );
    }
    let topics: Vec<String> =
        (0..1 + random.below(3)).map(|_| format!("\"0x{:064x}\"", random.below(50))).collect();
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"address":"{address}","blockNumber":"0x{block:x}","data":"0x{data:064x}","topics":[{}],"removed":false,"logIndex":"0x{:x}"}}}}"#,
        topics.join(","),
        i % 300
    )
}
