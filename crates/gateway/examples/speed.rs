//! Decode speed compared with zlib-rs and libzstd in one process: `speed FILE.zlib FILE.zst ...`
//!
//! Files are messages, each preceded by its length in four bytes, as `linerate gateway` reads them. Three rows
//! per file:
//!
//! * `whole`: one connection from its beginning.
//! * `live`: the same, timed after the first twentieth of its messages, which are large.
//! * `cold`: 2,500 connections from that point on, one message each in turn.
//!
//! Results are MB/s of payload in CPU time of the thread (median of alternating rounds) and nanoseconds per
//! message. `CONNECTIONS=0` omits the last row, which takes a minute.

use std::fs::File;
use std::io::BufReader;
use std::time::Duration;

use linerate_gateway::{Limits, Messages, Scratch, Session, Transport};
use rustix::time::{ClockId, clock_gettime};
use zlib_rs::{Inflate, InflateFlush};
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

const ROUNDS: usize = 15;
/// Messages per connection in the `cold` row.
const TURNS: usize = 10;

fn cpu_time() -> Duration {
    let t = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
}

fn read(path: &str) -> Vec<Vec<u8>> {
    let file = BufReader::new(File::open(path).expect("a file"));
    Messages::new(file).collect::<Result<_, _>>().expect("messages")
}

/// A connection of a decoder under test. Returns the payload length of each message.
trait Connection {
    fn message(&mut self, frame: &[u8], shared: &mut Shared) -> usize;
}

/// Buffers that all connections of a thread share.
struct Shared {
    scratch: Scratch,
    out: Vec<u8>,
}

impl Connection for Session {
    fn message(&mut self, frame: &[u8], shared: &mut Shared) -> usize {
        Session::message(self, frame, &mut shared.scratch).expect("valid").expect("complete").payload.len()
    }
}

impl Connection for Inflate {
    fn message(&mut self, frame: &[u8], shared: &mut Shared) -> usize {
        let before = self.total_out();
        self.decompress(frame, &mut shared.out, InflateFlush::NoFlush).expect("valid");
        (self.total_out() - before) as usize
    }
}

impl Connection for DCtx<'static> {
    fn message(&mut self, frame: &[u8], shared: &mut Shared) -> usize {
        let mut input = InBuffer::around(frame);
        let mut bytes = 0;
        while input.pos() < frame.len() {
            let mut output = OutBuffer::around(&mut shared.out[..]);
            self.decompress_stream(&mut output, &mut input).expect("valid");
            bytes += output.pos();
        }
        bytes
    }
}

fn ours(transport: Transport) -> Box<dyn Connection> {
    Box::new(Session::new(transport, Limits::new()))
}

fn theirs(transport: Transport) -> Box<dyn Connection> {
    match transport {
        Transport::Zlib => Box::new(Inflate::new(true, 15)),
        _ => {
            let mut context = DCtx::create();
            context.set_parameter(DParameter::WindowLogMax(16)).expect("a parameter");
            Box::new(context)
        }
    }
}

/// Seconds and bytes of the messages after the first `untimed`.
fn one(
    mut connection: Box<dyn Connection>,
    messages: &[Vec<u8>],
    untimed: usize,
    shared: &mut Shared,
) -> (f64, usize) {
    let (before, timed) = messages.split_at(untimed);
    for message in before {
        connection.message(message, shared);
    }
    let start = cpu_time();
    let bytes = timed.iter().map(|message| connection.message(message, shared)).sum();
    ((cpu_time() - start).as_secs_f64(), bytes)
}

/// Seconds and bytes of one message for each of many connections.
fn turn(all: &mut [Box<dyn Connection>], message: &[u8], shared: &mut Shared) -> (f64, usize) {
    let start = cpu_time();
    let bytes = all.iter_mut().map(|connection| connection.message(message, shared)).sum();
    ((cpu_time() - start).as_secs_f64(), bytes)
}

fn report(row: &str, transport: Transport, times: [Vec<f64>; 2], bytes: usize, messages: usize) {
    let [ours, theirs] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    let rate = |t: f64| (bytes as f64 / 1e6 / t, 1e9 * t / messages as f64);
    let ((a, a_ns), (b, b_ns)) = (rate(ours), rate(theirs));
    let name = if transport == Transport::Zlib { "zlib-rs" } else { "libzstd" };
    println!(
        "  {row}: linerate {a:.0} MB/s, {a_ns:.0} ns; {name} {b:.0} MB/s, {b_ns:.0} ns; {:.3}x",
        theirs / ours
    );
}

fn single(row: &str, transport: Transport, messages: &[Vec<u8>], untimed: usize, shared: &mut Shared) {
    let mut times = [const { Vec::new() }; 2];
    let mut bytes = 0;
    for _ in 0..ROUNDS {
        let (ours, decoded) = one(ours(transport), messages, untimed, shared);
        let (theirs, expected) = one(theirs(transport), messages, untimed, shared);
        assert_eq!(decoded, expected);
        times[0].push(ours);
        times[1].push(theirs);
        bytes = decoded;
    }
    report(row, transport, times, bytes, messages.len() - untimed);
}

fn many(transport: Transport, messages: &[Vec<u8>], connections: usize, shared: &mut Shared) {
    let live = messages.len() / 20;
    let mut sides = [ours, theirs].map(|make| (0..connections).map(|_| make(transport)).collect::<Vec<_>>());
    for side in &mut sides {
        for connection in side {
            for message in &messages[..live] {
                connection.message(message, shared);
            }
        }
    }
    let mut times = [const { Vec::new() }; 2];
    let mut bytes = 0;
    for message in &messages[live..live + TURNS] {
        let [(ours, decoded), (theirs, expected)] = sides.each_mut().map(|side| turn(side, message, shared));
        assert_eq!(decoded, expected);
        times[0].push(ours);
        times[1].push(theirs);
        bytes += decoded;
    }
    let sums = times.map(|times| vec![times.iter().sum::<f64>()]);
    report("cold", transport, sums, bytes, TURNS * connections);
}

fn main() {
    let mut shared = Shared { scratch: Scratch::new(), out: vec![0; 1 << 20] };
    let connections = std::env::var("CONNECTIONS").map_or(2500, |n| n.parse().expect("a number"));
    for path in std::env::args().skip(1) {
        let messages = read(&path);
        let transport = if path.ends_with(".zlib") { Transport::Zlib } else { Transport::Zstd };
        println!("{path}");
        single("whole", transport, &messages, 0, &mut shared);
        single("live", transport, &messages, messages.len() / 20, &mut shared);
        if connections > 0 {
            many(transport, &messages, connections, &mut shared);
        }
    }
}
