//! Decodes recorded connections beside zlib-rs and libzstd, in one process: `speed FILE.zlib FILE.zst ...`
//!
//! Files are messages, each behind its length in four bytes, as `linerate gateway` reads them. Figures are
//! MB/s of payload in CPU time of the thread, median of rounds that take turns, and nanoseconds per
//! message.

use std::fs::File;
use std::io::BufReader;
use std::time::Duration;

use linerate_gateway::{Limits, Messages, Scratch, Session, Transport};
use rustix::time::{ClockId, clock_gettime};
use zlib_rs::{Inflate, InflateFlush};
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

const ROUNDS: usize = 15;

fn cpu_time() -> Duration {
    let t = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
}

fn read(path: &str) -> Vec<Vec<u8>> {
    let file = BufReader::new(File::open(path).expect("a file"));
    Messages::new(file).collect::<Result<_, _>>().expect("messages")
}

fn ours(transport: Transport, messages: &[Vec<u8>], scratch: &mut Scratch) -> usize {
    let mut session = Session::new(transport, Limits::new());
    let mut bytes = 0;
    for message in messages {
        bytes += session.message(message, scratch).expect("sound").expect("whole").payload.len();
    }
    bytes
}

fn zlib_rs(messages: &[Vec<u8>], out: &mut [u8]) -> usize {
    let mut inflate = Inflate::new(true, 15);
    for message in messages {
        inflate.decompress(message, out, InflateFlush::NoFlush).expect("sound");
    }
    inflate.total_out() as usize
}

fn libzstd(messages: &[Vec<u8>], out: &mut [u8]) -> usize {
    let mut context = DCtx::create();
    context.set_parameter(DParameter::WindowLogMax(16)).expect("a parameter");
    let mut bytes = 0;
    for message in messages {
        let mut input = InBuffer::around(message);
        while input.pos() < message.len() {
            let mut output = OutBuffer::around(&mut *out);
            context.decompress_stream(&mut output, &mut input).expect("sound");
            bytes += output.pos();
        }
    }
    bytes
}

fn main() {
    let mut scratch = Scratch::new();
    let mut out = vec![0; 1 << 20];
    for path in std::env::args().skip(1) {
        let messages = read(&path);
        let transport = if path.ends_with(".zlib") { Transport::Zlib } else { Transport::Zstd };
        let startup = messages.len();
        let mut times = [const { Vec::new() }; 2];
        let mut bytes = 0;
        for _ in 0..ROUNDS {
            let start = cpu_time();
            bytes = ours(transport, &messages, &mut scratch);
            let between = cpu_time();
            let theirs = match transport {
                Transport::Zlib => zlib_rs(&messages, &mut out),
                Transport::Zstd => libzstd(&messages, &mut out),
            };
            times[0].push((between - start).as_secs_f64());
            times[1].push((cpu_time() - between).as_secs_f64());
            assert_eq!(bytes, theirs);
        }
        let [ours, theirs] = times.map(|mut t| {
            t.sort_by(f64::total_cmp);
            t[ROUNDS / 2]
        });
        let rate = |t: f64| (bytes as f64 / 1e6 / t, 1e9 * t / startup as f64);
        let ((a, a_ns), (b, b_ns)) = (rate(ours), rate(theirs));
        println!(
            "{path}: linerate {a:.0} MB/s, {a_ns:.0} ns; {} {b:.0} MB/s, {b_ns:.0} ns; {:.2}x",
            if transport == Transport::Zlib { "zlib-rs" } else { "libzstd" },
            theirs / ours
        );
    }
}
