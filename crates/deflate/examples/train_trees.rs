//! Prints code lengths for a built-in pair of trees of level 1, trained on the given files.
//!
//! It decodes level 1's output to count its symbols, smooths the counts so that every symbol gets a
//! code, and computes lengths of at most 12 bits by package-merge.
//!
//! ```text
//! cargo run --release -p linerate-deflate --example train_trees -- FILE...
//! ```

use linerate_deflate::{Format, Level, Scratch, Stream, bound, finish_bound};

const LIMIT: usize = 12;
/// Bytes of input in each call, as in a proxy.
const CHUNK: usize = 16 << 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut counts = Counts { litlens: vec![0; 286], distances: vec![0; 30] };
    for path in std::env::args().skip(1) {
        // Each file has the same weight, whatever its size, and only its first 64 chunks count.
        let mut of_file = Counts { litlens: vec![0; 286], distances: vec![0; 30] };
        for chunk in std::fs::read(path)?.chunks(CHUNK).take(64) {
            of_file.add(&compress(chunk)?)?;
        }
        let total: u64 = of_file.litlens.iter().sum::<u64>().max(1);
        let scale = |c: &u64| c * 1_000_000 / total;
        counts.litlens.iter_mut().zip(&of_file.litlens).for_each(|(a, c)| *a += scale(c));
        counts.distances.iter_mut().zip(&of_file.distances).for_each(|(a, c)| *a += scale(c));
    }
    println!("litlens: {:?}", lengths(&counts.litlens));
    println!("distances: {:?}", lengths(&counts.distances));
    Ok(())
}

fn compress(chunk: &[u8]) -> linerate_deflate::Result<Vec<u8>> {
    let mut out = vec![0; bound(chunk.len()) + finish_bound()];
    let mut stream = Stream::new(Format::Deflate, Level::Fast);
    let mut n = stream.encode(&mut Scratch::boxed(), chunk, &mut out, false)?;
    n += stream.finish(&mut out[n..])?;
    out.truncate(n);
    Ok(out)
}

/// Returns code lengths of at most [`LIMIT`] bits for all symbols. A symbol that never occurred
/// gets one too, as if it had occurred once in about 8,000 symbols.
fn lengths(counts: &[u64]) -> Vec<u8> {
    let total: u64 = counts.iter().sum();
    let rare = (total >> (LIMIT + 1)).max(1);
    // Package-merge (Larmore and Hirschberg 1990): the length of a symbol is the number of chosen
    // packages that contain it.
    let mut leaves: Vec<(u64, Vec<usize>)> =
        counts.iter().enumerate().map(|(s, &c)| (c.max(rare), vec![s])).collect();
    leaves.sort_by_key(|l| l.0);
    let mut packages: Vec<(u64, Vec<usize>)> = Vec::new();
    for _ in 0..LIMIT {
        let mut all = leaves.clone();
        all.append(&mut packages);
        all.sort_by_key(|l| l.0);
        packages =
            all.as_chunks().0.iter().map(|[a, b]| (a.0 + b.0, [&a.1[..], &b.1[..]].concat())).collect();
    }
    let mut lengths = vec![0; counts.len()];
    packages.iter().take(counts.len() - 1).flat_map(|p| &p.1).for_each(|&s| lengths[s] += 1);
    lengths
}

/// Counts of the symbols in deflate streams.
struct Counts {
    litlens: Vec<u64>,
    distances: Vec<u64>,
}

impl Counts {
    fn add(&mut self, stream: &[u8]) -> Result<(), String> {
        let mut bits = Bits { data: stream, at: 0 };
        loop {
            let last = bits.take(1)? == 1;
            match bits.take(2)? {
                0 => bits.skip_stored()?,
                1 => self.add_block(&mut bits, &fixed(), &Code::new(&[5; 30]))?,
                2 => {
                    let (litlens, distances) = bits.trees()?;
                    self.add_block(&mut bits, &litlens, &distances)?;
                }
                _ => return Err("block type 3".into()),
            }
            if last {
                return Ok(());
            }
        }
    }

    fn add_block(&mut self, bits: &mut Bits<'_>, litlens: &Code, distances: &Code) -> Result<(), String> {
        loop {
            let symbol = litlens.read(bits)?;
            self.litlens[symbol] += 1;
            match symbol {
                0..256 => {}
                256 => return Ok(()),
                _ => {
                    let code = symbol - 257;
                    bits.take(if code < 8 || code == 28 { 0 } else { code / 4 - 1 })?;
                    let distance = distances.read(bits)?;
                    self.distances[distance] += 1;
                    bits.take(if distance < 4 { 0 } else { distance / 2 - 1 })?;
                }
            }
        }
    }
}

fn fixed() -> Code {
    let length = |s: usize| match s {
        0..144 | 280.. => 8,
        144..256 => 9,
        _ => 7,
    };
    Code::new(&(0..288).map(length).collect::<Vec<u8>>())
}

struct Bits<'a> {
    data: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn take(&mut self, n: usize) -> Result<usize, String> {
        let mut value = 0;
        for i in 0..n {
            let byte = self.data.get(self.at / 8).ok_or("the stream ends early")?;
            value |= usize::from(byte >> (self.at % 8) & 1) << i;
            self.at += 1;
        }
        Ok(value)
    }

    fn skip_stored(&mut self) -> Result<(), String> {
        self.at = self.at.next_multiple_of(8);
        let len = self.take(16)?;
        self.at += 16 + 8 * len;
        Ok(())
    }

    fn trees(&mut self) -> Result<(Code, Code), String> {
        const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
        let (litlens, distances, sent) = (self.take(5)? + 257, self.take(5)? + 1, self.take(4)? + 4);
        let mut of_lengths = [0; 19];
        for &symbol in &ORDER[..sent] {
            of_lengths[symbol] = self.take(3)? as u8;
        }
        let code = Code::new(&of_lengths);
        let mut all = Vec::new();
        while all.len() < litlens + distances {
            let (value, times) = match code.read(self)? {
                16 => (*all.last().ok_or("a repeat of nothing")?, 3 + self.take(2)?),
                17 => (0, 3 + self.take(3)?),
                18 => (0, 11 + self.take(7)?),
                length => (length as u8, 1),
            };
            all.extend(std::iter::repeat_n(value, times));
        }
        Ok((Code::new(&all[..litlens]), Code::new(&all[litlens..])))
    }
}

/// A canonical Huffman code, decoded bit by bit.
struct Code {
    /// Symbols that have a code, in the order of code length and symbol.
    symbols: Vec<usize>,
    /// Number of symbols of each code length.
    of_length: [usize; 16],
}

impl Code {
    fn new(lengths: &[u8]) -> Self {
        let mut symbols: Vec<usize> = (0..lengths.len()).filter(|&s| lengths[s] > 0).collect();
        symbols.sort_by_key(|&s| (lengths[s], s));
        let mut of_length = [0; 16];
        symbols.iter().for_each(|&s| of_length[usize::from(lengths[s])] += 1);
        Code { symbols, of_length }
    }

    fn read(&self, bits: &mut Bits<'_>) -> Result<usize, String> {
        let (mut code, mut first, mut index) = (0, 0, 0);
        for length in 1..16 {
            code = code << 1 | bits.take(1)?;
            let count = self.of_length[length];
            if code < first + count {
                return Ok(self.symbols[index + code - first]);
            }
            index += count;
            first = (first + count) << 1;
        }
        Err("no such code".into())
    }
}
