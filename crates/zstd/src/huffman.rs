//! Huffman trees of literals: from the description to a table sized to the longest code.
//!
//! A cell is two bytes, the symbol above the length of its code, so that the cell itself can serve
//! as a shift count. Eleven bits make 4 KiB.

use linerate_core::{Error, Kind, Result};

use crate::bits::Backward;
use crate::fse::{self, Counts};
use crate::tables::HuffmanTable;

/// The longest code, in bits.
pub(crate) const MAX_LOG: u32 = 11;
/// Cells of the largest table.
pub(crate) const MAX_CELLS: usize = 1 << MAX_LOG;
/// Logarithm of the largest table of coded weights.
const WEIGHTS_LOG: u32 = 6;
/// Weights that a description can hold; one more follows from them.
const MAX_DESCRIBED: usize = 255;

/// A tree, as the weight of each symbol: 0 for none, else one more than the difference to the
/// longest code.
pub(crate) struct Weights {
    of: [u8; 256],
    /// Symbols, counting from 0 to the last that has a code.
    len: usize,
    /// Length of the longest code.
    pub(crate) log: u32,
}

const fn corrupt(what: &'static str) -> Error {
    Error::new(Kind::Corrupt, 0, what)
}

const CUT_OFF: Error = Error::new(Kind::Truncated, 0, "a Huffman tree is cut off");
const TOO_LONG: Error = corrupt("a Huffman tree has codes of more than 11 bits");

impl Weights {
    pub(crate) const fn new() -> Self {
        Weights { of: [0; 256], len: 0, log: 0 }
    }

    /// Reads a description from the beginning of `src`; returns its length in bytes.
    pub(crate) fn read(&mut self, src: &[u8]) -> Result<usize> {
        let header = usize::from(*src.first().ok_or(CUT_OFF)?);
        let used = if header >= 128 {
            let count = header - 127;
            let packed = src.get(1..1 + count.div_ceil(2)).ok_or(CUT_OFF)?;
            for (pair, byte) in self.of.chunks_exact_mut(2).zip(packed) {
                (pair[0], pair[1]) = (byte >> 4, byte & 15);
            }
            self.len = count;
            1 + packed.len()
        } else {
            self.read_coded(src.get(1..1 + header).ok_or(CUT_OFF)?)?;
            1 + header
        };
        self.complete()?;
        Ok(used)
    }

    /// Weights coded by two states that take turns on one table.
    fn read_coded(&mut self, src: &[u8]) -> Result<()> {
        let mut counts = Counts::new();
        let used = counts.read(src, WEIGHTS_LOG, 255)?;
        let mut cells = [0; 1 << WEIGHTS_LOG];
        counts.build(&[0; 256], &mut cells);
        let mut input =
            Backward::new(&src[used..]).ok_or(corrupt("the weights of a Huffman tree have no end mark"))?;
        let mut turn = input.take(counts.log) as usize;
        let mut other = input.take(counts.log) as usize;
        if input.left() < 0 {
            return Err(corrupt("the weights of a Huffman tree end in their first states"));
        }
        self.len = 0;
        loop {
            if self.len + 2 > MAX_DESCRIBED {
                return Err(corrupt("a Huffman tree has more weights than there are symbols"));
            }
            let cell = cells[turn];
            self.of[self.len] = fse::code(cell) as u8;
            self.len += 1;
            let next = fse::base(cell) as usize + input.take(fse::bits(cell)) as usize;
            if input.left() < 0 {
                self.of[self.len] = fse::code(cells[other]) as u8;
                self.len += 1;
                return Ok(());
            }
            (turn, other) = (other, next);
        }
    }

    /// Adds the weight that is not described, the one that completes the tree.
    fn complete(&mut self) -> Result<()> {
        let described = &self.of[..self.len];
        if described.iter().any(|&w| u32::from(w) > MAX_LOG) {
            return Err(TOO_LONG);
        }
        let sum: u32 = described.iter().map(|&w| 1u32 << w >> 1).sum();
        if sum == 0 {
            return Err(corrupt("a Huffman tree has no codes"));
        }
        self.log = sum.ilog2() + 1;
        let rest = (1u32 << self.log) - sum;
        if self.log > MAX_LOG {
            return Err(TOO_LONG);
        }
        if !rest.is_power_of_two() {
            return Err(corrupt("the weights of a Huffman tree do not add up"));
        }
        self.of[self.len] = rest.ilog2() as u8 + 1;
        self.len += 1;
        let longest = self.of[..self.len].iter().filter(|&&w| w == 1).count();
        if longest < 2 || longest % 2 == 1 {
            return Err(corrupt("the longest codes of a Huffman tree are not in pairs"));
        }
        Ok(())
    }

    /// Lays the table out in `cells`, of which it fills the first `1 << log`.
    pub(crate) fn build(&self, cells: &mut [u16]) {
        let cells = &mut cells[..1 << self.log];
        // Symbols by rising weight, and within a weight in their order.
        let mut first = [0usize; MAX_LOG as usize + 2];
        for &weight in &self.of[..self.len] {
            first[usize::from(weight) + 1] += 1;
        }
        for weight in 1..first.len() {
            first[weight] += first[weight - 1];
        }
        let mut sorted = [0u8; 256];
        let mut next = first;
        for (symbol, &weight) in self.of[..self.len].iter().enumerate() {
            sorted[next[usize::from(weight)]] = symbol as u8;
            next[usize::from(weight)] += 1;
        }
        let mut at = 0;
        for weight in 1..=self.log as usize {
            let cell = |symbol| u16::from(symbol) << 8 | (self.log + 1 - weight as u32) as u16;
            let run = 1 << (weight - 1);
            for &symbol in &sorted[first[weight]..next[weight]] {
                cells[at..at + run].fill(cell(symbol));
                at += run;
            }
        }
    }
}

/// Decodes one stream into all of `out`, safely: what the kernels must match.
pub(crate) fn decode_stream(table: HuffmanTable<'_>, src: &[u8], out: &mut [u8]) -> Result<()> {
    let mut input = Backward::new(src).ok_or(corrupt("a stream of literals has no end mark"))?;
    for byte in out {
        let cell = table.cells[input.peek(table.log) as usize];
        *byte = (cell >> 8) as u8;
        input.skip(u32::from(cell & 15));
    }
    if input.left() != 0 {
        return Err(corrupt("a stream of literals is not used up exactly"));
    }
    Ok(())
}
