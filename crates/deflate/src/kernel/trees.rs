//! The trees of one block: frequencies to code lengths to a header and emission tables.

use linerate_core::Result;

use super::bits::BitWriter;
use super::huffman::{canonical_codes, code_lengths};
use super::token::{FIRSTS, LENGTH_CODES, NONE, SECONDS, Tokens, distance_extra_bits};

pub(crate) const LITLENS: usize = 286;
/// The fixed tree has codes for two symbols more, which are never sent.
const CODED_LITLENS: usize = 288;
pub(crate) const DISTANCES: usize = 30;
pub(crate) const END_OF_BLOCK: usize = 256;

/// The order in which the code lengths of the code-length alphabet are sent.
const ORDER: [u8; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// Emission tables and what they are made from.
pub(crate) struct Trees {
    litlen_freqs: [u32; LITLENS],
    distance_freqs: [u32; DISTANCES],
    litlen_lengths: [u8; CODED_LITLENS],
    distance_lengths: [u8; DISTANCES],
    header: Header,
    /// Per `first`: value (code and extra bits of the length) << 8 | number of bits.
    pub(super) firsts: [u32; FIRSTS],
    /// Per `second`: code << 16 | bits of the code << 8 | bits with the extra ones.
    pub(super) seconds: [u32; SECONDS],
    pub(super) end_of_block: u32,
}

/// Code lengths in the run-length form of the dynamic block header.
struct Header {
    /// symbol | value of its extra bits << 8
    runs: [u16; LITLENS + DISTANCES],
    len: usize,
    litlens: usize,
    distances: usize,
    lengths: [u8; 19],
    sent: usize,
}

impl Trees {
    pub(crate) const fn new() -> Self {
        Trees {
            litlen_freqs: [0; LITLENS],
            distance_freqs: [0; DISTANCES],
            litlen_lengths: [0; CODED_LITLENS],
            distance_lengths: [0; DISTANCES],
            header: Header {
                runs: [0; LITLENS + DISTANCES],
                len: 0,
                litlens: 0,
                distances: 0,
                lengths: [0; 19],
                sent: 0,
            },
            firsts: [0; FIRSTS],
            seconds: [0; SECONDS],
            end_of_block: 0,
        }
    }

    /// Takes over the counts of a block; returns the bits its extra fields will take.
    pub(crate) fn count(&mut self, tokens: &Tokens) -> u64 {
        for literal in 0..256 {
            self.litlen_freqs[literal] =
                u32::from(tokens.firsts[literal]) + u32::from(tokens.seconds[32 + literal]);
        }
        self.litlen_freqs[END_OF_BLOCK] = 1;
        let mut extra_bits = 0;
        for (i, &(length, extra)) in LENGTH_CODES.iter().enumerate() {
            let first = 256 - 3 + length as usize;
            // Code 284 reaches to 257 only: 258 has a code of its own.
            let end = if i == 27 { FIRSTS - 1 } else { first + (1 << extra) };
            let freq = tokens.firsts[first..end].iter().map(|&f| u32::from(f)).sum();
            self.litlen_freqs[257 + i] = freq;
            extra_bits += u64::from(freq) * u64::from(extra);
        }
        for symbol in 0..DISTANCES {
            let freq = u32::from(tokens.seconds[symbol]);
            self.distance_freqs[symbol] = freq;
            extra_bits += u64::from(freq) * u64::from(distance_extra_bits(symbol));
        }
        extra_bits
    }

    /// Bits of the symbols counted, end of block included, in the fixed trees.
    pub(crate) fn fixed_cost(&self) -> u64 {
        let sum = |range: core::ops::Range<usize>| -> u64 {
            self.litlen_freqs[range].iter().map(|&f| u64::from(f)).sum()
        };
        let distances: u64 = self.distance_freqs.iter().map(|&f| u64::from(f)).sum();
        sum(0..144) * 8 + sum(144..256) * 9 + sum(256..280) * 7 + sum(280..LITLENS) * 8 + distances * 5
    }

    /// Makes the best trees for the symbols counted; returns the bits of header and symbols.
    pub(crate) fn make_dynamic(&mut self) -> u64 {
        let (litlens, unsent) = self.litlen_lengths.split_at_mut(LITLENS);
        code_lengths(&self.litlen_freqs, 15, litlens);
        unsent.fill(0);
        code_lengths(&self.distance_freqs, 15, &mut self.distance_lengths);
        let header = self.header.make(&self.litlen_lengths[..LITLENS], &self.distance_lengths);
        let cost = |freqs: &[u32], lengths: &[u8]| -> u64 {
            freqs.iter().zip(lengths).map(|(&f, &l)| u64::from(f * u32::from(l))).sum()
        };
        header
            + cost(&self.litlen_freqs, &self.litlen_lengths)
            + cost(&self.distance_freqs, &self.distance_lengths)
    }

    /// Writes the 3 header bits and the trees made last, and prepares the tables for them.
    pub(crate) fn begin_dynamic(&mut self, last: bool, bits: &mut BitWriter<'_>) -> Result<()> {
        bits.put(0b100 | u64::from(last), 3)?;
        self.header.put(bits)?;
        self.make_tables();
        Ok(())
    }

    /// Writes the 3 header bits of a block of the fixed trees, and prepares the tables for them.
    pub(crate) fn begin_fixed(&mut self, last: bool, bits: &mut BitWriter<'_>) -> Result<()> {
        bits.put(0b010 | u64::from(last), 3)?;
        self.litlen_lengths[..144].fill(8);
        self.litlen_lengths[144..256].fill(9);
        self.litlen_lengths[256..280].fill(7);
        self.litlen_lengths[280..].fill(8);
        self.distance_lengths.fill(5);
        self.make_tables();
        Ok(())
    }

    fn make_tables(&mut self) {
        let mut codes = [0u16; CODED_LITLENS];
        canonical_codes(&self.litlen_lengths, &mut codes);
        for literal in 0..256 {
            let (code, n) = (u32::from(codes[literal]), u32::from(self.litlen_lengths[literal]));
            self.firsts[literal] = code << 8 | n;
            self.seconds[32 + literal] = code << 16 | n << 8 | n;
        }
        self.end_of_block =
            u32::from(codes[END_OF_BLOCK]) << 8 | u32::from(self.litlen_lengths[END_OF_BLOCK]);
        for (i, &(length, extra)) in LENGTH_CODES.iter().enumerate() {
            let (code, n) = (u32::from(codes[257 + i]), u32::from(self.litlen_lengths[257 + i]));
            let first = 256 - 3 + length as usize;
            let end = if i == 27 { FIRSTS - 1 } else { first + (1 << extra) };
            let bits = n + u32::from(extra);
            for (value, entry) in self.firsts[first..end].iter_mut().enumerate() {
                *entry = ((value as u32) << n | code) << 8 | bits;
            }
        }
        canonical_codes(&self.distance_lengths, &mut codes[..DISTANCES]);
        for symbol in 0..DISTANCES {
            let n = u32::from(self.distance_lengths[symbol]);
            self.seconds[symbol] =
                u32::from(codes[symbol]) << 16 | n << 8 | (n + distance_extra_bits(symbol));
        }
        self.seconds[NONE as usize] = 0;
    }
}

impl Header {
    /// Run-length codes the two sets of lengths and makes a tree for that; returns its bits.
    fn make(&mut self, litlens: &[u8], distances: &[u8]) -> u64 {
        let used =
            |lengths: &[u8], least| lengths.iter().rposition(|&l| l != 0).map_or(0, |i| i + 1).max(least);
        self.litlens = used(litlens, 257);
        self.distances = used(distances, 1);
        let mut all = [0u8; LITLENS + DISTANCES + 1];
        let n = self.litlens + self.distances;
        all[..self.litlens].copy_from_slice(&litlens[..self.litlens]);
        all[self.litlens..n].copy_from_slice(&distances[..self.distances]);
        all[n] = 0xff; // ends the last run
        let mut freqs = [0u32; 19];
        self.len = 0;
        let mut i = 0;
        while i < n {
            let length = all[i];
            let mut run = 1;
            while all[i + run] == length {
                run += 1;
            }
            i += run;
            self.push_run(length, run, &mut freqs);
        }
        code_lengths(&freqs, 7, &mut self.lengths);
        self.sent = ORDER.iter().rposition(|&s| self.lengths[s as usize] != 0).map_or(0, |i| i + 1).max(4);
        let symbols: u32 = (0..19).map(|s| freqs[s] * (u32::from(self.lengths[s]) + run_extra_bits(s))).sum();
        u64::from(5 + 5 + 4 + 3 * self.sent as u32 + symbols)
    }

    fn push(&mut self, symbol: u8, extra: usize, freqs: &mut [u32; 19]) {
        freqs[symbol as usize] += 1;
        self.runs[self.len] = u16::from(symbol) | (extra as u16) << 8;
        self.len += 1;
    }

    fn push_run(&mut self, length: u8, mut run: usize, freqs: &mut [u32; 19]) {
        if length == 0 {
            while run >= 11 {
                let n = run.min(138);
                self.push(18, n - 11, freqs);
                run -= n;
            }
            if run >= 3 {
                self.push(17, run - 3, freqs);
                run = 0;
            }
        } else {
            self.push(length, 0, freqs);
            run -= 1;
            while run >= 3 {
                // 7 and 8 are split so that no short rest is left over: 4 + 3 and 4 + 4.
                let n = if run == 7 || run == 8 { 4 } else { run.min(6) };
                self.push(16, n - 3, freqs);
                run -= n;
            }
        }
        for _ in 0..run {
            self.push(length, 0, freqs);
        }
    }

    fn put(&self, bits: &mut BitWriter<'_>) -> Result<()> {
        let counts = (self.litlens - 257) | (self.distances - 1) << 5 | (self.sent - 4) << 10;
        bits.put(counts as u64, 14)?;
        for &symbol in &ORDER[..self.sent] {
            bits.put(u64::from(self.lengths[symbol as usize]), 3)?;
        }
        let mut codes = [0u16; 19];
        canonical_codes(&self.lengths, &mut codes);
        for &run in &self.runs[..self.len] {
            let (symbol, extra) = ((run & 0xff) as usize, u64::from(run >> 8));
            let n = u32::from(self.lengths[symbol]);
            bits.put(extra << n | u64::from(codes[symbol]), n + run_extra_bits(symbol))?;
        }
        Ok(())
    }
}

/// Extra bits of a symbol of the code-length alphabet.
const fn run_extra_bits(symbol: usize) -> u32 {
    match symbol {
        16 => 2,
        17 => 3,
        18 => 7,
        _ => 0,
    }
}
