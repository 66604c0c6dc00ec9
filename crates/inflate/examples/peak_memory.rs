//! Decodes content that makes chunks as large as possible, or a file, on several threads. Prints
//! peak memory, wall time, and CPU time of the calling thread. Fails if memory exceeds the limit
//! that `parallel::Options::threads` documents. Linux only.
//!
//! ```text
//! cargo run --release -p linerate-inflate --example peak_memory -- zeros 16
//! ```
//!
//! * `zeros`: 1 GB of zeros, in blocks by zlib-rs.
//! * `runs`: one block of 4 GiB, all matches of 258 bytes with codes of one bit: 4 MB.
//! * `words`: one block of 1 GiB with fixed codes: letters and short matches.
//! * `copies`: 32,000 bytes copied again and again, then noise, then zeros, so that a chunk that is
//!   decoded alone has both bytes and markers, which stand for bytes that earlier chunks have.
//! * Anything else is the name of a gzip file.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::time::Instant;

use linerate_inflate::{Format, Options, parallel};
use linerate_testkit::data::Noise;
use zlib_rs::{Deflate, DeflateFlush};

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [name, threads] = &args[..] else {
        eprintln!("usage: peak_memory zeros|runs|words|copies|FILE THREADS");
        std::process::exit(2);
    };
    let threads: usize = threads.parse().map_err(io::Error::other)?;
    let (format, reader): (_, Box<dyn Read>) = match &name[..] {
        "zeros" => (Format::Deflate, Box::new(compressed(|_| vec![0; 10_000_000], 100))),
        "runs" => (Format::Deflate, Box::new(block(dynamic_header(), run, 0b11, 4 << 30))),
        "words" => (Format::Deflate, Box::new(block(fixed_header(), word, 0, 1 << 30))),
        "copies" => (Format::Deflate, Box::new(compressed(copies, 60))),
        file => (Format::Gzip, Box::new(File::open(file)?)),
    };
    let stream = Options::new(format);
    // The memory of this program before it decodes, with the data that it has made.
    let held = memory("VmRSS:")?;
    let (start, before) = (Instant::now(), cpu("/proc/thread-self/schedstat")?);
    let totals =
        parallel::decode(reader, Counts(0), &parallel::Options::new(format).threads(threads).stream(stream))?;
    let seconds = start.elapsed().as_secs_f64();
    let own = (cpu("/proc/thread-self/schedstat")? - before) as f64 / 1e9;
    let (peak, most) = (memory("VmHWM:")? - held, (64 + 24 * threads as u64) << 10);
    println!(
        "{name}, {threads} threads: {} to {} bytes, {seconds:.2} s, calling thread {own:.3} s, {:.3} ms per MB; {} of {} MiB",
        totals.bytes_in,
        totals.bytes_out,
        own * 1e9 / totals.bytes_out as f64,
        peak >> 10,
        most >> 10
    );
    std::process::exit(i32::from(peak > most));
}

/// Returns the CPU time in a `schedstat` file, in nanoseconds.
fn cpu(path: &str) -> io::Result<u64> {
    let text = fs::read_to_string(path)?;
    text.split(' ').next().and_then(|word| word.parse().ok()).ok_or_else(|| io::Error::other("no CPU time"))
}

/// Returns the number in the line `name` of this process's status: its current memory (`VmRSS:`) or
/// its peak (`VmHWM:`), in KiB.
fn memory(name: &str) -> io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| io::Error::other("no such line"))
}

/// A writer that counts bytes.
struct Counts(u64);

impl Write for Counts {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Calls `part` as often as `parts` says, and compresses its results one after the other with
/// zlib-rs, as raw deflate.
fn compressed(mut part: impl FnMut(&mut Noise) -> Vec<u8>, parts: usize) -> io::Cursor<Vec<u8>> {
    let (mut noise, mut deflate) = (Noise::new(1), Deflate::new(6, false, 15));
    let (mut out, mut buffer) = (Vec::new(), vec![0; 4 << 20]);
    for i in 0..=parts {
        let (content, flush) = match i {
            _ if i == parts => (Vec::new(), DeflateFlush::Finish),
            _ => (part(&mut noise), DeflateFlush::SyncFlush),
        };
        let written = deflate.total_out();
        deflate.compress(&content, &mut buffer, flush).expect("zlib-rs compresses");
        out.extend_from_slice(&buffer[..(deflate.total_out() - written) as usize]);
    }
    io::Cursor::new(out)
}

fn copies(noise: &mut Noise) -> Vec<u8> {
    let window = noise.bytes(32_000);
    let mut out = window.repeat(160);
    // Random bytes in between, so that these copies compress to several hundred kilobytes.
    for at in (0..out.len()).step_by(60) {
        out[at] = noise.below(256) as u8;
    }
    out.extend(noise.bytes(70_000));
    out.resize(out.len() + 10_000_000, 0);
    out
}

/// Bits, with the first one lowest, and their number.
type Bits = (u32, u32);

/// Deflate data of one final block, made while it is read.
struct Block {
    /// Makes some symbols. Returns their bits, and about how many bytes of content they encode.
    symbol: fn(&mut Noise) -> (Vec<Bits>, u64),
    /// The code of the end of the block, the first bit lowest.
    end: u32,
    noise: Noise,
    left: u64,
    bits: u128,
    count: u32,
    is_over: bool,
}

fn block(header: Vec<Bits>, symbol: fn(&mut Noise) -> (Vec<Bits>, u64), end: u32, len: u64) -> impl Read {
    let noise = Noise::new(2);
    let mut block = Block { symbol, end, noise, left: len, bits: 0, count: 0, is_over: false };
    let mut first = Vec::new();
    for (value, len) in header {
        block.bits |= u128::from(value) << block.count;
        block.count += len;
        while block.count >= 8 {
            first.push(block.bits as u8);
            (block.bits, block.count) = (block.bits >> 8, block.count - 8);
        }
    }
    io::Cursor::new(first).chain(block)
}

impl Read for Block {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut written = 0;
        for byte in into.iter_mut() {
            while self.count < 8 && !self.is_over {
                let (symbol, len) = if self.left > 0 {
                    (self.symbol)(&mut self.noise)
                } else {
                    self.is_over = true;
                    (vec![(self.end, 16)], 0)
                };
                self.left = self.left.saturating_sub(len);
                for (value, len) in symbol {
                    self.bits |= u128::from(value) << self.count;
                    self.count += len;
                }
            }
            if self.count == 0 {
                break;
            }
            *byte = self.bits as u8;
            (self.bits, self.count) = (self.bits >> 8, self.count.saturating_sub(8));
            written += 1;
        }
        Ok(written)
    }
}

/// Returns the header of a block, and a first byte 0. The codes of the block have 1 bit for length
/// 258, 2 bits for the byte 0 and for the end, and 1 bit for distance 1.
fn dynamic_header() -> Vec<Bits> {
    // 286 and 1 codes, and 18 lengths for the code length code: symbol 18 takes 1 bit, symbols 2
    // and 1 take 2 bits.
    let mut header = vec![(0b101, 3), (29, 5), (0, 5), (14, 4)];
    let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1];
    header.extend(
        order.map(|symbol| (if symbol == 18 { 1 } else { 2 * u32::from(symbol == 1 || symbol == 2) }, 3)),
    );
    let (two, one, zeros) = ((0b11, 2), (0b01, 2), |count: u32| [(0, 1), (count - 11, 7)]);
    header.push(two);
    header.extend([zeros(138), zeros(117)].concat());
    header.push(two);
    header.extend(zeros(28));
    header.extend([one, one]);
    header.push((0b01, 2));
    header
}

/// Returns the header of a block with fixed codes, and 64 letters, to which the first matches
/// refer.
fn fixed_header() -> Vec<Bits> {
    let letters = (0..64).map(|_| ((0x30 + b'a').reverse_bits().into(), 8));
    [(0b011, 3)].into_iter().chain(letters).collect()
}

/// Returns four matches of 258 bytes at distance 1.
fn run(_: &mut Noise) -> (Vec<Bits>, u64) {
    (vec![(0, 8)], 4 * 258)
}

/// Returns eight letters and a match of 35 to 42 bytes, with fixed codes.
fn word(noise: &mut Noise) -> (Vec<Bits>, u64) {
    let letters = (0..8).map(|_| ((0x30 + b"etaoin shrdlu\n"[noise.below(14)]).reverse_bits().into(), 8));
    let mut symbols: Vec<Bits> = letters.collect();
    // Symbol 273: 35 to 42 bytes. Distance code 10: 33 to 48.
    symbols.push(((17u32).reverse_bits() >> 25, 7));
    symbols.push((noise.below(8) as u32, 3));
    symbols.push((10u32.reverse_bits() >> 27, 5));
    symbols.push((noise.below(16) as u32, 4));
    (symbols, 8 + 38)
}
