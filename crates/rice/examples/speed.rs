//! Prints sizes and speeds per tier, on generated waveforms and on `.npy` files given as
//! arguments: `cargo run --release -p linerate-rice --example speed [FILE.npy...]`.
//!
//! Speeds are millions of raw bytes per second of CPU time on one thread.
//! "plain" is a straightforward codec, one bit or one sample at a time, that is in this file.
//! A file must hold 16-bit little-endian samples; a row is a segment.

use std::fs;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use linerate_rice::{Exec, Filter, Params, Tier, decode_into, encode_into, tune};

fn main() {
    println!("{:<22} {:>6} {:>6}  {:<7} {:>8} {:>8}", "samples", "m", "size", "tier", "encode", "decode");
    show("generated, 7000", &generated(1000, 7000), 7000);
    for path in std::env::args().skip(1) {
        match fs::read(&path).ok().and_then(|bytes| read_npy(&bytes)) {
            Some((samples, row)) => show(path.rsplit('/').next().unwrap_or(&path), &samples, row),
            None => eprintln!("{path}: not a .npy file of 16-bit little-endian samples"),
        }
    }
}

fn show(name: &str, samples: &[i16], row: usize) {
    let segment = NonZeroU32::new(row as u32);
    let best = tune::best_m(samples, segment, &Filter::DELTA);
    let others = [8, best];
    for &m in if best == 8 { &others[..1] } else { &others } {
        let params = Params::new(m, segment).expect("a power of two");
        let mut chunk = vec![0; params.bound(samples.len())];
        let n = encode_into(&params, samples, &mut chunk, Exec::default()).expect("within the bound");
        let size = 100.0 * n as f64 / size_of_val(samples) as f64;
        let mut back = vec![0i16; samples.len()];
        let line = |tier: &str, encode: f64, decode: f64| {
            println!("{name:<22} {m:>6} {size:>5.1}%  {tier:<7} {encode:>8.0} {decode:>8.0}");
        };
        let plain = plain_encode(samples, row, m);
        assert_eq!(plain, chunk[..n]);
        let encode = speed(samples, || drop(plain_encode(samples, row, m)));
        let decode = speed(samples, || plain_decode(&chunk[..n], row, m, &mut back));
        assert_eq!(back, samples);
        line("plain", encode, decode);
        for tier in Tier::ALL.into_iter().filter(|t| t.is_supported()) {
            let exec = Exec::default().with_tier(tier);
            let encode = speed(samples, || {
                assert_eq!(encode_into(&params, samples, &mut chunk, exec), Ok(n));
            });
            let decode = speed(samples, || {
                assert_eq!(decode_into(&params, &chunk[..n], &mut back, exec), Ok(samples.len()));
            });
            assert_eq!(back, samples);
            line(tier.name(), encode, decode);
        }
    }
}

/// The best of five measurements of at least 50 ms each: the clock of a thread is coarse.
fn speed(samples: &[i16], mut work: impl FnMut()) -> f64 {
    let mut measure = || {
        let before = cpu_time();
        for runs in 1u32.. {
            work();
            let time = cpu_time() - before;
            if time >= Duration::from_millis(50) {
                return time / runs;
            }
        }
        unreachable!("the time passes")
    };
    let best = (0..5).map(|_| measure()).min().unwrap_or_default();
    size_of_val(samples) as f64 / 1e6 / best.as_secs_f64()
}

/// Time that this thread has run, or where the system does not tell, time that has passed.
fn cpu_time() -> Duration {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let stat = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = stat.and_then(|s| s.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// Pulses with a fast rise and a slow fall on a noisy baseline, as a silicon detector for beta
/// decay gives: 14-bit samples, white noise and noise shaped by the amplifier. Seeded.
fn generated(rows: usize, row: usize) -> Vec<i16> {
    let mut state = 20_240_621u64;
    let mut uniform = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    let mut out = Vec::with_capacity(rows * row);
    for _ in 0..rows {
        let amplitude = 30.0 - 400.0 * (1.0 - uniform()).ln();
        let (start, fall, rise) =
            (900.0 + 400.0 * uniform(), 1100.0 + 300.0 * uniform(), 4.0 + 8.0 * uniform());
        let mut shaped = 0.0;
        for t in 0..row {
            // The sum of four uniform numbers is near enough to a normal one; its variance is 1/3.
            let mut normal = || (uniform() + uniform() + uniform() + uniform() - 2.0) * 3f64.sqrt();
            shaped = 0.72 * shaped + 2.4 * normal();
            let since = t as f64 - start;
            let pulse =
                if since < 0.0 { 0.0 } else { amplitude * ((-since / fall).exp() - (-since / rise).exp()) };
            out.push((pulse + shaped + 3.4 * normal()).round() as i16);
        }
    }
    out
}

/// The samples of a `.npy` file and the length of its last dimension.
fn read_npy(bytes: &[u8]) -> Option<(Vec<i16>, usize)> {
    let head = bytes.strip_prefix(b"\x93NUMPY\x01\x00")?;
    let (length, rest) = head.split_first_chunk::<2>()?;
    let (text, data) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
    let text = std::str::from_utf8(text).ok()?;
    if !(text.contains("'<i2'") || text.contains("'<u2'")) || text.contains("'fortran_order': True") {
        return None;
    }
    let shape = text.split_once('(')?.1.split_once(')')?.0;
    let row = shape.trim_end_matches([',', ' ']).rsplit(',').next()?.trim().parse().ok()?;
    Some((data.chunks_exact(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect(), row))
}

/// One sample at a time into a 64-bit accumulator, as one writes it first.
fn plain_encode(samples: &[i16], row: usize, m: u32) -> Vec<u8> {
    let k = m.trailing_zeros();
    let mut out = (samples.len() as u32).to_le_bytes().to_vec();
    for row in samples.chunks(row) {
        let length_at = out.len();
        out.extend([0; 4]);
        let (mut acc, mut n, mut last) = (0u64, 0, 0i16);
        for &x in row {
            let y = x.wrapping_sub(last);
            last = x;
            let z = u64::from(((y << 1) ^ (y >> 15)) as u16);
            let q = (z >> k) as u32;
            let (value, len) =
                if q < 8 { (1 << k | (z & u64::from(m - 1)), q + 1 + k) } else { (1 << 16 | z, 25) };
            acc = acc << len | value;
            n += len;
            if n >= 32 {
                n -= 32;
                out.extend(((acc >> n) as u32).to_le_bytes());
            }
        }
        if n > 0 {
            out.extend(((acc << (32 - n)) as u32).to_le_bytes());
        }
        let words = ((out.len() - length_at) / 4 - 1) as u32;
        out[length_at..length_at + 4].copy_from_slice(&words.to_le_bytes());
    }
    out
}

/// The unary part bit by bit, the rest in one piece.
fn plain_decode(chunk: &[u8], row: usize, m: u32, out: &mut [i16]) {
    let word = |i: usize| u32::from_le_bytes(chunk[4 * i..4 * i + 4].try_into().expect("4 bytes"));
    let k = m.trailing_zeros();
    let mut at = 1;
    for row in out.chunks_mut(row) {
        let mut bit = 32 * (at + 1);
        at += 1 + word(at) as usize;
        let mut last = 0i16;
        let field = |bit: usize, n: u32| {
            if n == 0 {
                return 0;
            }
            let next = if bit / 32 + 1 < chunk.len() / 4 { word(bit / 32 + 1) } else { 0 };
            let pair = u64::from(word(bit / 32)) << 32 | u64::from(next);
            ((pair << (bit % 32)) >> (64 - n)) as u32
        };
        for x in row {
            let mut q = 0;
            while word(bit / 32) >> (31 - bit % 32) & 1 == 0 {
                bit += 1;
                q += 1;
            }
            bit += 1;
            let n = if q < 8 { k } else { 16 };
            let z = (if q < 8 { q << k } else { 0 } | field(bit, n)) as u16;
            bit += n as usize;
            last = last.wrapping_add(((z >> 1) ^ (z & 1).wrapping_neg()) as i16);
            *x = last;
        }
    }
}
