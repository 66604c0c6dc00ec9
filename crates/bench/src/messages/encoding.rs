//! Measures encoding: messages of one connection, or of many in turn, in raw deflate. Each message
//! is flushed, so that it can be decoded when it arrives.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use linerate_deflate::session::{Session, SessionOptions, message_bound};
use linerate_deflate::{Format, Level, Scratch};
use zlib_rs::{Deflate, DeflateFlush, Inflate, InflateFlush};

use super::input::Input;
use crate::harness::{Contender, Rounds, measure as harness, message, progress, row};
#[cfg(feature = "zlib")]
use crate::kernel::zlib::Zlib;
use crate::records::Measurement;
use linerate_candidates::{footprint, thread_time};
use linerate_gateway_sim::traffic::feeds;

/// Encodes and flushes a message of one connection to the start of a buffer. Returns the number of
/// bytes written.
type Encode = Box<dyn FnMut(&[u8], &mut [u8]) -> Result<usize, String>>;

/// A contender: its name, and a function that makes an encoder for a connection.
struct Entry {
    name: String,
    open: Box<dyn Fn() -> Result<Encode, String>>,
}

/// Maximum number of messages in a feed.
const COUNT: usize = 2_000;
/// Maximum bytes of a gateway event that is measured. Longer events are rare, but would be most of
/// the bytes.
const LONGEST: usize = 4_000;

/// Number of messages that each of many connections encodes before the clock starts.
const WARM: usize = 4;
/// Number of messages that each of many connections encodes while the clock runs.
const TIMED: usize = 2;

/// Messages of one kind, and the name of the kind.
struct Feed {
    name: &'static str,
    messages: Vec<Vec<u8>>,
}

/// The three feeds. The gateway's feed has the first live events of the first connection, without
/// long events; it is an error if no event is left.
fn all_feeds(input: &Input) -> Result<[Feed; 3], String> {
    let connection = &input.connections[0];
    let events = connection.payloads[connection.live..].iter().filter(|event| event.len() <= LONGEST);
    let events: Vec<_> = events.take(COUNT).cloned().collect();
    if events.is_empty() {
        return Err(format!("{}: no live event of at most {LONGEST} bytes", input.name));
    }
    let [sent, rows] = feeds(COUNT);
    Ok([
        Feed { name: "gateway events", messages: events },
        Feed { name: "server-sent events", messages: sent },
        Feed { name: "JSON rows", messages: rows },
    ])
}

/// The contenders: ours with no window and with windows of 2, 8 and 32 KiB; zlib-rs and, in builds
/// with the feature, zlib with 32 KiB, zlib 6 also with 2 KiB.
fn contenders() -> Vec<Entry> {
    let window = |bits: u8| if bits == 0 { "none".into() } else { format!("{} KiB", (1 << bits) >> 10) };
    let entry = |name: String, open: Box<dyn Fn() -> Result<Encode, String>>| Entry { name, open };
    // All connections of a thread share one scratch.
    let scratch = Rc::new(RefCell::new(Scratch::boxed()));
    let windows =
        [(1, 11), (1, 15), (2, 0), (2, 11), (2, 13), (2, 15), (4, 13), (4, 15), (6, 11), (6, 13), (6, 15)];
    let ours = |(level, bits): (u8, u8)| {
        let scratch = Rc::clone(&scratch);
        let open = move || ours(level, bits, Rc::clone(&scratch));
        entry(format!("linerate {level}, {}", window(bits)), Box::new(open))
    };
    let mut all: Vec<Entry> = windows.map(ours).into();
    #[cfg(feature = "zlib")]
    for (name, level, bits) in [("zlib 1", 1, 15), ("zlib 6", 6, 15), ("zlib 6, 2 KiB", 6, 11)] {
        all.push(entry(name.into(), Box::new(move || zlib(level, bits))));
    }
    let peer = |level| entry(format!("zlib-rs {level}"), Box::new(move || Ok(zlib_rs(level))));
    all.extend([1, 2, 4, 6].map(peer));
    all
}

pub(super) fn names() -> impl Iterator<Item = String> {
    contenders().into_iter().map(|entry| entry.name)
}

/// The contender that the others are compared with.
const BASE: &str = if cfg!(feature = "zlib") { "zlib 1" } else { "zlib-rs 1" };

fn ours(level: u8, window_bits: u8, scratch: Rc<RefCell<Box<Scratch>>>) -> Result<Encode, String> {
    let level = Level::from_number(level).map_err(message)?;
    let options = SessionOptions::new(Format::Deflate).level(level).window_bits(window_bits);
    let mut session = Session::new(options).map_err(message)?;
    Ok(Box::new(move |input, out| session.message(&mut scratch.borrow_mut(), input, out).map_err(message)))
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
fn zlib(level: i32, window_bits: u8) -> Result<Encode, String> {
    let mut zlib = Zlib::in_window(level, window_bits)?;
    Ok(Box::new(move |input, out| zlib.flushed(input, out)))
}

/// Measures encoding each feed with every contender: by one connection, then by `many` connections
/// in turn unless that is 0.
///
/// # Errors
/// A sentence, if the input has no short live event, a contender fails, or a message does not
/// decode to what was encoded.
pub(super) fn measure(input: &Input, rounds: usize, many: usize) -> Result<Vec<Measurement>, String> {
    let all = contenders();
    let base = all.iter().position(|one| one.name == BASE).unwrap_or(0);
    let mut found = Vec::new();
    for feed in all_feeds(input)? {
        progress(&format!("{}: checking", feed.name));
        let bytes: usize = feed.messages.iter().map(Vec::len).sum();
        let sizes = all.iter().map(|one| check(one, &feed)).collect::<Result<Vec<_>, _>>()?;
        for connections in [1, many].into_iter().filter(|n| *n > 0) {
            let order = order(&feed, connections);
            let timed_bytes = order.timed.iter().map(|(_, message)| message.len()).sum();
            let timed = all.iter().zip(&sizes).map(|(one, (size, heap))| {
                let measurement = row("messages-encode", feed.name, one.name.as_str())
                    .param("connections", connections)
                    .param("messages", feed.messages.len())
                    .exact("ratio", bytes as f64 / (*size).max(1) as f64)
                    .size("heap", *heap);
                let (order, feed) = (&order, &feed);
                let turn = move |_| time(one, connections, order, capacity(feed));
                Contender::new(measurement, turn).bytes(timed_bytes).units(order.timed.len()).base(base, BASE)
            });
            found.extend(harness(timed.collect(), Rounds::warm(rounds))?);
        }
    }
    Ok(found)
}

/// Messages in the order in which they are encoded, first untimed and then timed, each with the
/// index of its connection.
struct Order<'f> {
    warm: Vec<(usize, &'f [u8])>,
    timed: Vec<(usize, &'f [u8])>,
}

/// Returns the messages in the order in which they are encoded. One connection encodes all messages
/// of the feed, timed. Several connections take turns. Each encodes six consecutive messages, the
/// last two timed, and begins where the connection before it ended; after the last message of the
/// feed comes the first.
fn order(feed: &Feed, connections: usize) -> Order<'_> {
    let message = |number: usize| feed.messages[number % feed.messages.len()].as_slice();
    if connections == 1 {
        return Order { warm: Vec::new(), timed: feed.messages.iter().map(|one| (0, &one[..])).collect() };
    }
    let turn = |turn: usize| (0..connections).map(move |i| (i, message(i * (WARM + TIMED) + turn)));
    Order { warm: (0..WARM).flat_map(turn).collect(), timed: (WARM..WARM + TIMED).flat_map(turn).collect() }
}

fn capacity(feed: &Feed) -> usize {
    message_bound(feed.messages.iter().map(Vec::len).max().unwrap_or(0)) + 64
}

/// Encodes a feed and verifies that each message decodes to itself. Returns the compressed size,
/// and the number of bytes by which the heap grew when the encoder was made, if it is known.
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
    Ok((size, heap))
}

fn time(contender: &Entry, connections: usize, order: &Order, capacity: usize) -> Result<Duration, String> {
    let encoders = (0..connections).map(|_| (contender.open)()).collect::<Result<Vec<_>, _>>();
    let (mut encoders, mut out) = (encoders?, vec![0; capacity]);
    let mut encode = |messages: &[(usize, &[u8])]| {
        for (connection, message) in messages {
            std::hint::black_box(encoders[*connection](message, &mut out)?);
        }
        Ok::<_, String>(())
    };
    encode(&order.warm)?;
    let begun = thread_time();
    encode(&order.timed)?;
    Ok(thread_time() - begun)
}
