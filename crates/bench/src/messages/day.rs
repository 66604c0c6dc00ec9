//! The shape "day": a day of thousands of generated connections, decoded in three ways. With
//! `--logs` it writes statistics logs with the times of a day, from which
//! `linerate gateway stats --set` makes tables and a page.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use linerate_candidates::cpu_time;
use linerate_gateway::stats::{Clock, LogEntry, LogFiles, LogOptions, MessageRecord, Stats, Verdict};
use linerate_gateway::{Encoder, Limits, Scratch, Session, Transport};
use linerate_gateway_sim::traffic::{Random, Traffic};

use crate::harness::{Common, message, progress, row};
use crate::records::Measurement;

/// Text after the options in the help of the shape "day".
pub const EXAMPLES: &str = "\
Examples:
  linerate-bench day                                   2,500 connections, 10 million messages a set
  linerate-bench day --shards 100 --messages 200000
  linerate-bench day --logs logs                       also statistics logs A-000001.stats, B-, C-;
    linerate gateway stats --set A=logs/A-*.stats --report day.html draws them

Sets:
  A: zlib-stream, B: zstd-stream, both taken in pieces of 8 KiB; C: zstd-stream in pieces of 128 KiB.
    Every set decodes the same messages at the same times of the day. Nothing waits between
    messages, so a day takes as long as decoding does.";

/// Maximum number of different connections that are generated. Further shards, which is what a
/// gateway calls connections, play one of these, each at its own times.
const STREAMS: usize = 50;
/// Maximum messages of a generated connection. A shard that reaches the end connects again.
const MAX_STREAM: u64 = 20_000;
/// Seed of the random generator.
const SEED: u64 = 1;
const HOUR_NS: i64 = 3_600_000_000_000;
/// Number of messages between two updates of the progress line.
const STEP: u64 = 10_000;

/// Options of `linerate-bench day`.
#[derive(clap::Args, Clone, Debug)]
pub struct DayArgs {
    /// Number of connections
    #[arg(long, value_name = "N", default_value_t = 2500, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    shards: u32,
    /// Hours of the day, from midnight
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..=24))]
    hours: u32,
    /// Messages of each set [default: 10 million, with --quick 20,000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    messages: Option<u64>,
    /// Guilds of each connection
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(..=Traffic::MAX_GUILDS as u64))]
    guilds: u64,
    /// Write statistics logs of each set into this folder
    #[arg(long, value_name = "FOLDER")]
    logs: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

impl DayArgs {
    fn messages(&self) -> u64 {
        self.messages.unwrap_or(if self.common.quick { 20_000 } else { 10_000_000 })
    }
}

/// A way of decoding.
struct Way {
    name: &'static str,
    /// Prefix of the names of the logs, and name of the set in records.
    log: &'static str,
    transport: Transport,
    /// Bytes of the buffer that payloads are copied through.
    buffer: usize,
}

const WAYS: [Way; 3] = [
    Way { name: "A: zlib, 8 KiB", log: "A", transport: Transport::Zlib, buffer: 8 << 10 },
    Way { name: "B: zstd, 8 KiB", log: "B", transport: Transport::Zstd, buffer: 8 << 10 },
    Way { name: "C: zstd, 128 KiB", log: "C", transport: Transport::Zstd, buffer: 128 << 10 },
];

/// Names of the ways of decoding.
pub fn names() -> Vec<String> {
    WAYS.iter().map(|way| way.name.to_owned()).collect()
}

/// Decodes the day in each way.
///
/// # Errors
/// A sentence for the user.
pub fn run(args: &DayArgs) -> Result<(), String> {
    let mut output = args.common.open(&[])?;
    let mut found = Vec::new();
    for way in &WAYS {
        progress(&format!("{}: connections are generated", way.name));
        let streams = streams(args, way.transport)?;
        found.extend(decode(args, way, &streams)?.iter().map(|part| measurement(args, way, part)));
    }
    progress("");
    output.add("A day of many connections", found)?;
    output.finish()
}

/// The whole day, or an hour of it.
#[derive(Default)]
struct Part {
    /// `None` for the whole day.
    hour: Option<usize>,
    /// Sizes of the messages, and the elapsed time to decode each and take its payload.
    stats: Stats,
    /// CPU time, which includes choosing the messages, counting them in statistics, and writing
    /// logs.
    cpu: Duration,
}

fn measurement(args: &DayArgs, way: &Way, Part { hour, stats, cpu }: &Part) -> Measurement {
    let row = row("gateway-day", "a day", "linerate")
        .param("transport", way.transport.name())
        .param("window", way.name.split_once(", ").map_or("", |(_, window)| window))
        .param("set", way.log)
        .param("clock", "wall")
        .param("connections", args.shards)
        .param("messages", stats.messages())
        .exact("errors", stats.errors() as f64)
        .exact("output", stats.compressed_bytes() as f64)
        .exact("content", stats.payload_bytes() as f64)
        .exact("ratio", stats.ratio())
        .exact("speed", stats.bytes_per_second() / 1e6)
        .exact("cpu", cpu.as_secs_f64());
    let quantiles = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999)];
    let row =
        quantiles.into_iter().fold(row, |row, (name, q)| row.exact(name, stats.quantile_ns(q) as f64 / 1e3));
    match hour {
        Some(hour) => row.param("hour", *hour),
        None => row,
    }
}

/// The compressed messages of each different connection.
fn streams(args: &DayArgs, transport: Transport) -> Result<Vec<Vec<Box<[u8]>>>, String> {
    let each = (args.messages() / u64::from(args.shards)).clamp(1, MAX_STREAM);
    let events = each.saturating_sub(2 + args.guilds) as usize;
    let traffic = Traffic::new(SEED).guilds(args.guilds as usize).events(events);
    let stream = |index: u64| {
        let mut encoder = Encoder::new(transport).map_err(message)?;
        let mut frames = Vec::new();
        for payload in traffic.shard(index) {
            let mut wire = Vec::new();
            encoder.message(&payload, &mut wire).map_err(message)?;
            frames.push(wire.into_boxed_slice());
        }
        Ok(frames)
    };
    (0..STREAMS.min(args.shards as usize) as u64).map(stream).collect()
}

/// A connection, and how many messages of its stream it has received since it last connected.
struct Shard {
    session: Session,
    at: usize,
}

/// Decodes the day in one way. Returns the whole day, then each hour that has messages.
fn decode(args: &DayArgs, way: &Way, streams: &[Vec<Box<[u8]>>]) -> Result<Vec<Part>, String> {
    let midnight = midnight();
    let mut all = vec![Part::default()];
    all.extend((0..args.hours as usize).map(|hour| Part { hour: Some(hour), ..Part::default() }));
    let written = |folder: &PathBuf, e: std::io::Error| format!("{}: cannot write: {e}", folder.display());
    let log = |folder: &PathBuf| {
        // The limit is so high that no log file of the day is deleted.
        let options = LogOptions::new(folder).name(way.log).max_files(usize::MAX);
        LogFiles::create(options, Clock::Monotonic, midnight).map_err(|e| written(folder, e))
    };
    let mut log = args.logs.as_ref().map(log).transpose()?.zip(args.logs.as_ref());
    let shard = |_| Shard { session: Session::new(way.transport, Limits::new()), at: 0 };
    let mut shards: Vec<Shard> = (0..args.shards).map(shard).collect();
    let (mut scratch, mut buffer) = (Scratch::new(), vec![0; way.buffer]);
    let mut random = Random::stream(SEED, 1 << 32);
    let mut done = 0;
    for (hour, messages) in messages_by_hour(args).into_iter().enumerate() {
        let begun_cpu = cpu_time();
        for i in 0..messages {
            if done % STEP == 0 {
                progress(&format!("{}: {hour:02}:00, {done} of {} messages", way.name, args.messages()));
            }
            done += 1;
            let connection = random.below(args.shards as usize) as u32;
            let shard = &mut shards[connection as usize];
            let frames = &streams[connection as usize % streams.len()];
            if shard.at == frames.len() {
                shard.session.reset();
                shard.at = 0;
            }
            let frame = &frames[shard.at];
            shard.at += 1;
            let begun = Instant::now();
            let message = shard.session.message(frame, &mut scratch).map_err(message)?;
            let payload = message.map_or(&[][..], |message| message.payload);
            take(payload, &mut buffer);
            let decode_ns = u32::try_from(begun.elapsed().as_nanos()).unwrap_or(u32::MAX);
            let within = (i128::from(i) * i128::from(HOUR_NS) / i128::from(messages)) as i64;
            let record = MessageRecord {
                time: midnight + hour as i64 * HOUR_NS + within,
                connection,
                transport: way.transport,
                verdict: Verdict::Decoded,
                compressed: frame.len() as u32,
                payload: payload.len() as u32,
                decode_ns: Some(decode_ns),
            };
            all[0].stats.add(&record);
            all[1 + hour].stats.add(&record);
            if let Some((log, folder)) = &mut log {
                log.add(&LogEntry::Message(record), record.time).map_err(|e| written(folder, e))?;
            }
        }
        all[1 + hour].cpu = cpu_time() - begun_cpu;
    }
    all[0].cpu = all[1..].iter().map(|part| part.cpu).sum();
    if let Some((log, folder)) = &mut log {
        log.flush().map_err(|e| written(folder, e))?;
    }
    all.retain(|part| part.stats.messages() > 0);
    Ok(all)
}

/// Copies a payload through a buffer in pieces, as a client with a buffer of that size does.
fn take(payload: &[u8], buffer: &mut [u8]) {
    for piece in payload.chunks(buffer.len()) {
        buffer[..piece.len()].copy_from_slice(piece);
        black_box(&mut *buffer);
    }
}

/// Number of messages in each hour: most at 20:00, a quarter of that at 8:00.
fn messages_by_hour(args: &DayArgs) -> Vec<u64> {
    let weight = |hour: u32| 1.0 + 0.6 * ((f64::from(hour) - 20.0) / 24.0 * std::f64::consts::TAU).cos();
    let total: f64 = (0..args.hours).map(weight).sum();
    let mut left = args.messages();
    let mut messages: Vec<u64> = (0..args.hours)
        .map(|hour| {
            let messages = ((args.messages() as f64 * weight(hour) / total) as u64).min(left);
            left -= messages;
            messages
        })
        .collect();
    // The last hour gets the messages lost in rounding.
    if let Some(last) = messages.last_mut() {
        *last += left;
    }
    messages
}

/// The beginning of the current day, UTC, in nanoseconds since 1970.
fn midnight() -> i64 {
    let day = 24 * HOUR_NS;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64);
    now / day * day
}
