//! Prints sizes and speeds of version 2 streams per tier:
//!
//! ```text
//! cargo run --release -p linerate-rice --example v2 -- FILE.npy...
//! ```
//!
//! A file must hold 16- or 32-bit little-endian integers; the last axis is a row. Speeds are millions of raw
//! bytes per second on one thread, the best of several rounds.

use std::time::Instant;

use linerate_rice::v2::{Element, StreamOptions, bound, decode_into, encode_into, info};
use linerate_rice::{Options, Tier};

/// The samples of an array and the length of its rows.
fn read(path: &str) -> (Vec<u8>, usize, Option<u32>) {
    let bytes = std::fs::read(path).expect("a file that can be read");
    let header_len = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..header_len]).expect("the header of an array");
    let shape = header.split('(').nth(1).and_then(|s| s.split(')').next()).expect("a shape");
    let axes: Vec<u32> = shape.split(',').filter_map(|n| n.trim().parse().ok()).collect();
    let width = if header.contains("4'") { 4 } else { 2 };
    (bytes[header_len..].to_vec(), width, axes.last().copied().filter(|_| axes.len() > 1))
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
    println!(
        "{:<24} {:>7} {:>8} {:>7} {:>12} {:>12}",
        "file", "size %", "channels", "tier", "encode MB/s", "decode MB/s"
    );
    for path in std::env::args().skip(1) {
        let (bytes, width, row) = read(&path);
        let settings = StreamOptions::new().row(row.and_then(|row| row.try_into().ok()));
        let name = path.rsplit('/').next().unwrap_or(&path);
        match width {
            2 => {
                let samples: Vec<i16> = bytes.as_chunks().0.iter().map(|&b| i16::from_le_bytes(b)).collect();
                measure(name, &settings, &samples);
            }
            _ => {
                let samples: Vec<i32> = bytes.as_chunks().0.iter().map(|&b| i32::from_le_bytes(b)).collect();
                measure(name, &settings, &samples);
            }
        }
    }
}

fn measure<T: Element>(name: &str, settings: &StreamOptions, samples: &[T]) {
    let mut stream = vec![0; bound::<T>(settings, samples.len())];
    let mut decoded = vec![T::default(); samples.len()];
    let raw = size_of_val(samples) as f64;
    // LINERATE_CPU lowers the highest of them.
    for tier in Tier::ALL.into_iter().filter(|&t| t <= linerate_core::cpu::tier()) {
        let options = Options::new().tier(tier);
        let mut n = 0;
        let encode = best(5, || n = encode_into(settings, samples, &mut stream, options).expect("bound"));
        let decode =
            best(15, || assert_eq!(decode_into(&stream[..n], &mut decoded, options), Ok(samples.len())));
        assert!(decoded == samples);
        let channels = info(&stream).expect("a stream").channels;
        println!(
            "{name:<24} {:>7.2} {channels:>8} {:>7} {:>12.0} {:>12.0}",
            100.0 * n as f64 / raw,
            tier.name(),
            raw / 1e6 / encode,
            raw / 1e6 / decode
        );
    }
}
