//! Prints sizes and speeds of version 2 streams per tier:
//!
//! ```text
//! cargo run --release -p linerate-rice --example v2 -- FILE.npy...
//! ```
//!
//! A file must hold 16-bit little-endian samples; the last axis is a row. Speeds are millions of raw
//! bytes per second on one thread, the best of several rounds.

use std::time::Instant;

use linerate_rice::v2::{StreamOptions, bound, decode_into, encode_into};
use linerate_rice::{Options, Tier};

/// The samples of an array and the length of its rows.
fn read(path: &str) -> (Vec<u16>, u32) {
    let bytes = std::fs::read(path).expect("a file that can be read");
    let header_len = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..header_len]).expect("the header of an array");
    let shape = header.split('(').nth(1).and_then(|s| s.split(')').next()).expect("a shape");
    let row = shape.rsplit(',').map(str::trim).find(|s| !s.is_empty()).expect("a length");
    let samples = bytes[header_len..].as_chunks().0.iter().map(|&b| u16::from_le_bytes(b));
    (samples.collect(), row.parse().expect("a number"))
}

fn best(rounds: usize, mut work: impl FnMut()) -> f64 {
    let time = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..rounds).map(|_| time(&mut work)).fold(f64::INFINITY, f64::min)
}

fn main() {
    println!("{:<24} {:>7} {:>7} {:>12} {:>12}", "file", "size %", "tier", "encode MB/s", "decode MB/s");
    for path in std::env::args().skip(1) {
        let (samples, row) = read(&path);
        let settings = StreamOptions::new().row(row.try_into().ok());
        let mut stream = vec![0; bound::<u16>(&settings, samples.len())];
        let mut decoded = vec![0u16; samples.len()];
        let megabytes = samples.len() as f64 * 2.0 / 1e6;
        let name = path.rsplit('/').next().unwrap_or(&path);
        // LINERATE_CPU lowers the highest of them.
        for tier in Tier::ALL.into_iter().filter(|&t| t <= linerate_core::cpu::tier()) {
            let options = Options::new().tier(tier);
            let mut n = 0;
            let encode =
                best(5, || n = encode_into(&settings, &samples, &mut stream, options).expect("bound"));
            let decode =
                best(15, || assert_eq!(decode_into(&stream[..n], &mut decoded, options), Ok(samples.len())));
            assert!(decoded == samples);
            let size = n as f64 / samples.len() as f64 * 50.0;
            println!(
                "{name:<24} {size:>7.2} {:>7} {:>12.0} {:>12.0}",
                tier.name(),
                megabytes / encode,
                megabytes / decode
            );
        }
    }
}
