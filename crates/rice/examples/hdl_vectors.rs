//! Prints test vectors for the hardware in `accel/hdl`: chunks with their samples, as text.
//!
//! ```text
//! cargo run -p linerate-rice --example hdl_vectors -- random SAMPLES SEED
//! cargo run -p linerate-rice --example hdl_vectors -- goldens
//! ```
//!
//! A chunk begins with a line of five decimal numbers: k, 1 for taps [1, -1] or 0 for [1], samples
//! per segment, number of samples, number of words. The samples and the words of the chunk follow in
//! hexadecimal, separated by white space.
//!
//! `random` covers every k from 0 to 15, both taps, segments of one sample to thousands, and noise
//! from silence to escapes only. The encoder refuses k = 0, which not every decoder reads, so these
//! chunks are written bit by bit here, and checked by the decoder.

use std::io::{BufWriter, Result, Write};

use linerate_rice::{Filter, Options, Params, decode, encode};

/// Pseudorandom numbers from a seed: the upper half of a linear congruential generator with Knuth's
/// MMIX multiplier.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }

    fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.next()) * u64::from(n)) >> 32) as u32
    }
}

/// `n` samples of a random kind, of seven. `bits` is the width of the noise in them, 1 to 16.
fn waveform(noise: &mut Noise, n: usize, bits: u32) -> Vec<i16> {
    let kind = noise.below(8);
    let offset = noise.next() as i16;
    let mut x = offset;
    let sample = |i: usize| {
        let small = (noise.next() as i32 >> (32 - bits)) as i16;
        match kind {
            0 => small,
            1 | 2 => {
                x = x.wrapping_add(small);
                x
            }
            3 => [i16::MIN, i16::MAX][i % 2],
            4 => offset,
            5 => (i as i16).wrapping_add(offset),
            6 if noise.below(50) == 0 => noise.next() as i16,
            6 => small >> 2,
            _ => noise.next() as i16,
        }
    };
    (0..n).map(sample).collect()
}

/// The 32-bit words of a chunk.
fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect()
}

/// A chunk for k = 0, written by the definition of the format.
fn chunk_for_k0(samples: &[i16], is_delta: bool, segment: usize) -> Vec<u32> {
    let mut chunk = vec![samples.len() as u32];
    for segment in samples.chunks(segment) {
        let mut bits: Vec<bool> = Vec::new();
        let mut previous = 0i16;
        for &x in segment {
            let y = if is_delta { x.wrapping_sub(previous) } else { x };
            previous = x;
            let z = ((y << 1) ^ (y >> 15)) as u16;
            bits.extend(std::iter::repeat_n(false, z.min(8).into()).chain([true]));
            if z >= 8 {
                bits.extend((0..16).rev().map(|i| z >> i & 1 == 1));
            }
        }
        let word =
            |bits: &[bool]| bits.iter().enumerate().fold(0, |word, (i, &b)| word | u32::from(b) << (31 - i));
        chunk.push(bits.len().div_ceil(32) as u32);
        chunk.extend(bits.chunks(32).map(word));
    }
    chunk
}

fn print(
    out: &mut impl Write,
    params: &Params,
    samples: &[i16],
    segment: usize,
    chunk: &[u32],
) -> Result<()> {
    let is_delta = u32::from(*params.filter() == Filter::DELTA);
    writeln!(out, "{} {is_delta} {segment} {} {}", params.m().ilog2(), samples.len(), chunk.len())?;
    samples.chunks(16).try_for_each(|line| {
        line.iter().try_for_each(|x| write!(out, "{x:04x} ")).and_then(|()| writeln!(out))
    })?;
    chunk.chunks(8).try_for_each(|line| {
        line.iter().try_for_each(|x| write!(out, "{x:08x} ")).and_then(|()| writeln!(out))
    })
}

/// Prints random chunks until they have `total` samples in all. The maximum number of samples per
/// segment grows with `total` from 60 to 10,000.
fn print_random(out: &mut impl Write, total: usize, seed: u64) -> Result<()> {
    let noise = &mut Noise(seed);
    // If there are few samples in all, segments are short, so that each k and each filter occurs.
    let max_segment = (total / 400).clamp(60, 10_000) as u32;
    let (mut done, mut i) = (0, 0u32);
    while done < total {
        let (k, filter) = (i % 16, [Filter::DELTA, Filter::IDENTITY][i as usize / 16 % 2]);
        let largest = [8, 40, max_segment][noise.below(3) as usize];
        let segment = 1 + noise.below(largest);
        let len = (segment * noise.below(5) + 1 + noise.below(segment)) as usize;
        let params =
            Params::from_cd_values(&[1 << k, segment]).expect("valid parameters").with_filter(filter);
        let bits = (k + 3u32).saturating_sub(noise.below(4)).clamp(1, 16);
        let samples: Vec<i16> =
            (0..len).step_by(500).flat_map(|at| waveform(noise, (len - at).min(500), bits)).collect();
        let chunk = if k == 0 {
            let chunk = chunk_for_k0(&samples, filter == Filter::DELTA, segment as usize);
            let bytes: Vec<u8> = chunk.iter().flat_map(|word| word.to_le_bytes()).collect();
            assert_eq!(decode::<i16>(&params, &bytes, Options::new()).expect("a valid chunk"), samples);
            chunk
        } else {
            words(&encode(&params, &samples, Options::new()).expect("lossless parameters"))
        };
        print(out, &params, &samples, segment as usize, &chunk)?;
        (done, i) = (done + len, i + 1);
    }
    Ok(())
}

/// Prints the golden chunks of the original filter whose taps the hardware has.
fn print_goldens(out: &mut impl Write) -> Result<()> {
    for golden in linerate_testkit::rice::goldens() {
        let params = Params::from_cd_values(&golden.cd_values).expect("valid parameters");
        if ![Filter::DELTA, Filter::IDENTITY].contains(params.filter()) {
            continue;
        }
        let samples: Vec<i16> = golden.plain.as_chunks().0.iter().map(|b| i16::from_le_bytes(*b)).collect();
        let segment = params.segment().map_or(samples.len(), |s| samples.len().min(s.get() as usize));
        print(out, &params, &samples, segment, &words(&golden.chunk))?;
    }
    Ok(())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let out = &mut BufWriter::new(std::io::stdout().lock());
    let number = |i: usize| arguments.get(i).and_then(|text| text.parse().ok());
    match (arguments.first().map(String::as_str), number(1), number(2)) {
        (Some("random"), Some(samples), Some(seed)) => print_random(out, samples, seed as u64)?,
        (Some("goldens"), None, None) => print_goldens(out)?,
        _ => {
            eprintln!("usage: hdl_vectors random SAMPLES SEED | goldens");
            std::process::exit(2);
        }
    }
    out.flush()
}
