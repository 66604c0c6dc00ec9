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

/// Encodes and flushes a message of one connection at the beginning of a buffer; returns the number of bytes.
type Encode = Box<dyn FnMut(&[u8], &mut [u8]) -> Result<usize, String>>;

/// A row of the comparison.
struct Entry {
    name: String,
    open: Box<dyn Fn() -> Result<Encode, String>>,
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

/// Ours with windows of 0, 2, 8 and 32 KiB, level 1 with 2 and 32, level 4 with 8 and level 6 with 2 and 8;
/// zlib and zlib-rs with theirs of 32 KiB.
fn contenders() -> Vec<Entry> {
    let window = |bits: u8| if bits == 0 { "none".into() } else { format!("{} KiB", (1 << bits) >> 10) };
    let entry = |name: String, open: Box<dyn Fn() -> Result<Encode, String>>| Entry { name, open };
    let windows = [(1, 11), (1, 15), (2, 0), (2, 11), (2, 13), (2, 15), (4, 13), (6, 11), (6, 13)];
    let ours = |(level, bits): (u8, u8)| {
        entry(format!("linerate {level}, {}", window(bits)), Box::new(move || ours(level, bits)))
    };
    let mut all: Vec<Entry> = windows.map(ours).into();
    #[cfg(feature = "zlib")]
    all.extend([1, 6].map(|level| entry(format!("zlib {level}"), Box::new(move || zlib(level)))));
    all.push(entry("zlib-rs 1".into(), Box::new(|| Ok(zlib_rs(1)))));
    all
}

pub(super) fn names() -> impl Iterator<Item = String> {
    contenders().into_iter().map(|entry| entry.name)
}

/// The contender that the others are compared with.
const BASE: &str = if cfg!(feature = "zlib") { "zlib 1" } else { "zlib-rs 1" };

fn ours(level: u8, window_bits: u8) -> Result<Encode, String> {
    let level = Level::from_number(level).map_err(message)?;
    let options = SessionOptions::new(Format::Deflate).level(level).window_bits(window_bits);
    let (mut session, mut scratch) = (Session::new(options).map_err(message)?, Scratch::boxed());
    Ok(Box::new(move |input, out| session.message(&mut scratch, input, out).map_err(message)))
}

fn zlib_rs(level: i32) -> Encode {
    let mut stream = Deflate::new(level, false, 15);
    Box::new(move |input, out| {
        let before = stream.total_out();
        stream.compress(input, out, DeflateFlush::SyncFlush).map_err(|e| format!("{e:?}"))?;
        Ok((stream.total_out() - before) as usize)
    })
}

#[cfg(feature = "zlib")]
fn zlib(level: i32) -> Result<Encode, String> {
    let mut zlib = Zlib::new(level, Strategy::Default)?;
    Ok(Box::new(move |input, out| zlib.flushed(input, out)))
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
    let (encoder, heap) = footprint(|| (contender.open)());
    let (mut encoder, mut out, mut size) = (encoder?, vec![0; capacity(feed)], 0);
    let mut inflate = Inflate::new(false, 15);
    let mut plain = vec![0; capacity(feed)];
    for (i, message) in feed.messages.iter().enumerate() {
        let n = encoder(message, &mut out)?;
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
    let (mut encoder, mut out) = ((contender.open)()?, vec![0; capacity(feed)]);
    let begun = thread_time();
    for message in &feed.messages {
        std::hint::black_box(encoder(message, &mut out)?);
    }
    Ok(thread_time() - begun)
}
