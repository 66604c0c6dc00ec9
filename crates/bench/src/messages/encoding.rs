//! The encoding side: flushed messages of one connection, each decodable when it arrives, in raw deflate.

use std::time::Duration;

use linerate_deflate::session::{Session, SessionOptions, message_bound};
use linerate_deflate::{Format, Level, Scratch};
use zlib_rs::{Deflate, DeflateFlush, Inflate, InflateFlush};

use super::input::Input;
use crate::harness::{Contender, Rounds, measure as harness, message, progress, row};
use crate::records::Measurement;
#[cfg(feature = "zlib")]
use crate::{bytes::Strategy, kernel::zlib::Zlib};
use linerate_candidates::{footprint, thread_time};
use linerate_gateway_sim::traffic::feeds;

/// An encoder of one connection.
trait Encoder {
    /// Encodes and flushes a message at the beginning of `out`; returns the number of bytes.
    fn message(&mut self, input: &[u8], out: &mut [u8]) -> Result<usize, String>;
}

/// A row of the comparison.
struct Entry {
    name: String,
    open: fn(Setting) -> Result<Box<dyn Encoder>, String>,
    setting: Setting,
}

/// The level, and window bits for ours.
#[derive(Clone, Copy)]
struct Setting {
    level: u8,
    window_bits: u8,
}

/// Messages of a feed.
const COUNT: usize = 2_000;
/// Longest gateway event taken: larger ones are few, and would be most of the bytes.
const LONGEST: usize = 4_000;

/// A connection's messages.
struct Feed {
    name: &'static str,
    messages: Vec<Vec<u8>>,
}

/// The three feeds; the gateway's is the beginning of the live part of the first connection.
fn all_feeds(input: &Input) -> [Feed; 3] {
    let connection = &input.connections[0];
    let events = connection.payloads[connection.live..].iter().filter(|event| event.len() <= LONGEST);
    let [sent, rows] = feeds(COUNT);
    [
        Feed { name: "gateway events", messages: events.take(COUNT).cloned().collect() },
        Feed { name: "server-sent events", messages: sent },
        Feed { name: "JSON rows", messages: rows },
    ]
}

/// Ours with windows of 0, 2, 8 and 32 KiB, level 1 with 2 and 32, level 4 with 8 and the largest with 2 and 8;
/// zlib and zlib-rs with theirs of 32 KiB.
fn contenders() -> Vec<Entry> {
    let window = |bits: u8| if bits == 0 { "none".into() } else { format!("{} KiB", (1 << bits) >> 10) };
    let ours = |level: u8, window_bits: u8| Entry {
        name: format!("linerate {level}, {}", window(window_bits)),
        open: |setting| Ok(Box::new(Ours::new(setting)?)),
        setting: Setting { level, window_bits },
    };
    let windows = [(1, 11), (1, 15), (2, 0), (2, 11), (2, 13), (2, 15), (4, 13), (6, 11), (6, 13)];
    let mut all: Vec<Entry> = windows.into_iter().map(|(level, bits)| ours(level, bits)).collect();
    #[cfg(feature = "zlib")]
    all.extend([1, 6].map(|level| Entry {
        name: format!("zlib {level}"),
        open: |setting| Ok(Box::new(Zlib::new(i32::from(setting.level), Strategy::Default)?)),
        setting: Setting { level, window_bits: 15 },
    }));
    all.push(Entry {
        name: "zlib-rs 1".into(),
        open: |setting| Ok(Box::new(Deflate::new(i32::from(setting.level), false, setting.window_bits))),
        setting: Setting { level: 1, window_bits: 15 },
    });
    all
}

pub(super) fn names() -> impl Iterator<Item = String> {
    contenders().into_iter().map(|entry| entry.name)
}

/// The contender that the others are compared with.
const BASE: &str = if cfg!(feature = "zlib") { "zlib 1" } else { "zlib-rs 1" };

struct Ours {
    session: Session,
    scratch: Box<Scratch>,
}

impl Ours {
    fn new(setting: Setting) -> Result<Self, String> {
        let level = Level::from_number(setting.level).map_err(message)?;
        let options = SessionOptions::new(Format::Deflate).level(level).window_bits(setting.window_bits);
        let session = Session::new(options).map_err(message)?;
        Ok(Ours { session, scratch: Scratch::boxed() })
    }
}

impl Encoder for Ours {
    fn message(&mut self, input: &[u8], out: &mut [u8]) -> Result<usize, String> {
        self.session.message(&mut self.scratch, input, out).map_err(message)
    }
}

impl Encoder for Deflate {
    fn message(&mut self, input: &[u8], out: &mut [u8]) -> Result<usize, String> {
        let before = self.total_out();
        self.compress(input, out, DeflateFlush::SyncFlush).map_err(|e| format!("{e:?}"))?;
        Ok((self.total_out() - before) as usize)
    }
}

#[cfg(feature = "zlib")]
impl Encoder for Zlib {
    fn message(&mut self, input: &[u8], out: &mut [u8]) -> Result<usize, String> {
        self.flushed(input, out)
    }
}

/// Encodes each feed with every contender.
///
/// # Errors
/// A sentence: a contender's message, or a message that does not decode to what was sent.
pub(super) fn measure(input: &Input, rounds: usize) -> Result<Vec<Measurement>, String> {
    let all = contenders();
    let base = all.iter().position(|one| one.name == BASE).unwrap_or(0);
    let mut found = Vec::new();
    for feed in all_feeds(input) {
        progress(&format!("{}: checking", feed.name));
        let bytes: usize = feed.messages.iter().map(Vec::len).sum();
        let mut timed = Vec::new();
        for one in &all {
            let (size, heap) = check(one, &feed)?;
            let measurement = row("messages-encode", feed.name, one.name.as_str())
                .param("messages", feed.messages.len())
                .exact("ratio", bytes as f64 / size.max(1) as f64)
                .size("heap", heap);
            let feed = &feed;
            let contender = Contender::new(measurement, move |_| time(one, feed)).bytes(bytes);
            timed.push(contender.units(feed.messages.len()).base(base, BASE));
        }
        found.extend(harness(timed, Rounds::warm(rounds))?);
    }
    Ok(found)
}

fn capacity(feed: &Feed) -> usize {
    message_bound(feed.messages.iter().map(Vec::len).max().unwrap_or(0)) + 64
}

/// Compressed bytes, each message decoded, and what the heap grew by for the encoder.
fn check(contender: &Entry, feed: &Feed) -> Result<(usize, Option<usize>), String> {
    let (encoder, heap) = footprint(|| (contender.open)(contender.setting));
    let (mut encoder, mut out, mut size) = (encoder?, vec![0; capacity(feed)], 0);
    let mut inflate = Inflate::new(false, 15);
    let mut plain = vec![0; capacity(feed)];
    for (i, message) in feed.messages.iter().enumerate() {
        let n = encoder.message(message, &mut out)?;
        let before = inflate.total_out();
        let done = inflate.decompress(&out[..n], &mut plain, InflateFlush::SyncFlush);
        let written = (inflate.total_out() - before) as usize;
        if done.is_err() || plain[..written] != message[..] {
            return Err(format!("{}, {}: message {i} does not decode to itself", contender.name, feed.name));
        }
        size += n;
    }
    // The scratch of ours is shared by all connections of a thread.
    let own = contender.name.starts_with("linerate");
    Ok((size, heap.map(|heap| if own { heap.saturating_sub(size_of::<Scratch>()) } else { heap })))
}

fn time(contender: &Entry, feed: &Feed) -> Result<Duration, String> {
    let (mut encoder, mut out) = ((contender.open)(contender.setting)?, vec![0; capacity(feed)]);
    let begun = thread_time();
    for message in &feed.messages {
        std::hint::black_box(encoder.message(message, &mut out)?);
    }
    Ok(thread_time() - begun)
}
