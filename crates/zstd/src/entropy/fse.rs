//! FSE (finite state entropy, tANS: Duda 2013; RFC 8878, section 4.1): builds the cells of a table
//! from its description.
//!
//! A cell has four bytes. Its fields are, from the lowest bit: total bits to read (8), extra bits
//! of the value among them (8), the code (7), and the base of the next state (9). A table of 512
//! cells therefore takes 2 KiB. The low byte of the sum of three cells is the total number of bits
//! of a sequence, at most 89.

use linerate_core::{Error, Kind, Result};

use super::bits::ForwardBitReader;

/// Number of cells of the largest table.
pub(crate) const MAX_CELLS: usize = 512;

/// Number of cells of the largest table that [`build_small`](NormalizedCounts::build_small) builds:
/// tables of Huffman weights, and of blocks with few sequences.
const SMALL_CELLS: usize = 64;

/// One cell of a table.
pub(crate) type Cell = u32;

/// Packs a cell: `base` below 512, `code` below 128, and two bit counts below 128.
#[inline(always)]
pub(crate) const fn cell(base: u32, code: u32, extra: u32, bits: u32) -> Cell {
    base << 23 | code << 16 | extra << 8 | (extra + bits)
}

/// Number of bits to read: extra bits of the value plus bits of the next state.
#[inline(always)]
pub(crate) const fn total_bits(cell: Cell) -> u32 {
    cell & 0xff
}

/// Number of extra bits of the value.
#[inline(always)]
pub(crate) const fn extra_bits(cell: Cell) -> u32 {
    cell >> 8 & 0xff
}

/// Number of bits of the next state.
#[inline(always)]
pub(crate) const fn state_bits(cell: Cell) -> u32 {
    total_bits(cell).wrapping_sub(extra_bits(cell))
}

/// The next state if its bits are zero.
#[inline(always)]
pub(crate) const fn base_state(cell: Cell) -> u32 {
    cell >> 23
}

/// The code of the state.
#[inline(always)]
pub(crate) const fn code(cell: Cell) -> u32 {
    cell >> 16 & 0x7f
}

/// Normalized probabilities of an alphabet of at most `N` symbols. They sum to the table size; -1
/// means "less than 1".
pub(crate) struct NormalizedCounts<const N: usize> {
    pub(crate) probabilities: [i16; N],
    /// Number of symbols described.
    pub(crate) len: usize,
    /// Accuracy_Log: the table has `1 << log` cells.
    pub(crate) log: u32,
}

/// Bit position of a cell's number while its table is built. The number is the probability of the
/// cell's symbol (1 for -1) plus the index of the cell among those of the symbol. It is below 1024,
/// and codes, beneath it, are below 64.
const NUMBER: u32 = 22;

/// Computes the multiplicative inverse of an odd number modulo 2^12 (Newton's iteration).
fn inverse(odd: usize) -> usize {
    // Each step doubles the correct low bits; the number itself has three.
    let next = |guess: usize| guess.wrapping_mul(2usize.wrapping_sub(odd.wrapping_mul(guess)));
    next(next(odd))
}

const TOO_MANY: Error =
    Error::new(Kind::Corrupt, 0, "an FSE table describes more symbols than its alphabet has");

impl<const N: usize> NormalizedCounts<N> {
    pub(crate) const fn new() -> Self {
        NormalizedCounts { probabilities: [0; N], len: 0, log: 0 }
    }

    /// Reads a description from the beginning of `src`, and returns its length in bytes.
    pub(crate) fn read(&mut self, src: &[u8], max_log: u32, max_symbol: usize) -> Result<usize> {
        let mut input = ForwardBitReader::new(src);
        let log = (input.peek() & 15) + 5;
        input.skip(4);
        if log > max_log {
            return Err(Error::new(Kind::Corrupt, 0, "an FSE table is larger than allowed"));
        }
        let symbols = &mut self.probabilities[..max_symbol + 1];
        let mut remaining = (1i32 << log) + 1;
        let mut symbol = 0;
        while remaining > 1 {
            input.refill();
            // The lowest of the values 0..=remaining take one bit less.
            let width = remaining.ilog2();
            let threshold = 1 << width;
            let short = 2 * threshold - 1 - remaining;
            let word = input.peek() as i32;
            let (low, all) = (word & (threshold - 1), word & (2 * threshold - 1));
            let is_short = low < short;
            input.skip(width + u32::from(!is_short));
            let value = if is_short { low } else { all - if all >= threshold { short } else { 0 } };
            let count = value - 1;
            remaining -= count.abs();
            *symbols.get_mut(symbol).ok_or(TOO_MANY)? = count as i16;
            symbol += 1;
            if count == 0 {
                loop {
                    input.refill();
                    let zeros = (input.peek() & 3) as usize;
                    input.skip(2);
                    symbols.get_mut(symbol..symbol + zeros).ok_or(TOO_MANY)?.fill(0);
                    symbol += zeros;
                    if zeros < 3 {
                        break;
                    }
                }
            }
        }
        if remaining < 1 {
            return Err(Error::new(Kind::Corrupt, 0, "the probabilities of an FSE table exceed its size"));
        }
        self.len = symbol;
        self.log = log;
        input.bytes_taken().ok_or(Error::new(Kind::Truncated, src.len() as u64, "an FSE table is cut off"))
    }

    /// Builds the decoding table in the first `1 << log` of `cells`. `extra_bits[code]` is the
    /// number of extra bits of a code's value. Codes are below 64.
    #[inline(always)]
    pub(crate) fn build(&self, extra_bits: &[u8], cells: &mut [Cell]) {
        if 1 << self.log <= SMALL_CELLS {
            self.build_small(extra_bits, cells);
        } else {
            self.build_large(extra_bits, cells);
        }
    }

    /// Builds a table of at most [`SMALL_CELLS`], like [`build`](Self::build). Most blocks of short
    /// messages have such tables, with many symbols of probability -1.
    #[inline(always)]
    pub(crate) fn build_small(&self, extra_bits: &[u8], cells: &mut [Cell]) {
        let size = 1usize << self.log;
        let mut symbols = [0u32; N];
        // Each symbol repeated by its probability, with slack for stores of eight.
        let mut runs = [0u8; SMALL_CELLS + 8];
        let mut rare = [0u8; N];
        let (mut end, mut rares) = (0, 0);
        for (symbol, (&count, place)) in self.probabilities[..self.len].iter().zip(&mut symbols).enumerate() {
            let extra = u32::from(extra_bits[symbol]);
            *place = cell(0, symbol as u32, extra, self.log) | u32::from(count.unsigned_abs()) << NUMBER;
            // The next symbol overwrites this store unless the probability is negative.
            rare[rares & (N - 1)] = symbol as u8;
            rares += usize::from(count < 0);
            let mut at = end;
            end += count.max(0) as usize;
            loop {
                runs[at..at + 8].copy_from_slice(&[symbol as u8; 8]);
                at += 8;
                if at >= end {
                    break;
                }
            }
        }
        // Symbols are spread in steps over the table. The last cells belong to the rare symbols,
        // and what a step places in one of them is overwritten below.
        let top = size - rares;
        let step = size / 2 + size / 8 + 3;
        let mut spread = [0u8; SMALL_CELLS];
        let (mut position, mut run) = (0, 0);
        for _ in 0..size {
            spread[position & (SMALL_CELLS - 1)] = runs[run & (SMALL_CELLS - 1)];
            run += usize::from(position < top);
            position = (position + step) & (size - 1);
        }
        for (place, &symbol) in spread[top..size].iter_mut().rev().zip(&rare) {
            *place = symbol;
        }
        for (place, &symbol) in cells[..size].iter_mut().zip(&spread) {
            let entry = &mut symbols[usize::from(symbol) & (N - 1)];
            *place = *entry;
            *entry = entry.wrapping_add(1 << NUMBER);
        }
        self.finish(&mut cells[..size]);
    }

    /// Builds a table of any size, like [`build`](Self::build).
    #[inline(always)]
    fn build_large(&self, extra_bits: &[u8], cells: &mut [Cell]) {
        let size = 1usize << self.log;
        let mask = size - 1;
        // Entries have the bits common to all cells of a symbol and, from bit 22, the number of its
        // next cell.
        let mut symbols = [0u32; N];
        // Each symbol repeated by its probability, with slack for stores of eight.
        let mut runs = [0u8; MAX_CELLS + 8];
        let (mut end, mut top) = (0, size);
        let mut rare = [0u8; N];
        for (symbol, (&count, place)) in self.probabilities[..self.len].iter().zip(&mut symbols).enumerate() {
            let extra = u32::from(extra_bits[symbol]);
            *place = cell(0, symbol as u32, extra, self.log) | u32::from(count.unsigned_abs()) << NUMBER;
            if count == -1 {
                rare[(size - top) & (N - 1)] = symbol as u8;
                top -= 1;
                continue;
            }
            let mut at = end;
            end += count as usize;
            while at < end {
                runs[at..at + 8].copy_from_slice(&[symbol as u8; 8]);
                at += 8;
            }
        }
        // Symbols are spread in steps over the table, skipping the cells from `top`, which belong
        // to symbols with probability -1. Each of these symbols is inserted at the step that would
        // reach its cell.
        let step = size / 2 + size / 8 + 3;
        let back = inverse(step) & mask;
        if top < size {
            // The steps that reach those cells, and their symbols.
            let mut steps = [0u64; MAX_CELLS / 64];
            let mut rare_symbol = [0u8; MAX_CELLS];
            for (place, &symbol) in (top..size).rev().zip(&rare) {
                let position = place.wrapping_mul(back) & mask & (MAX_CELLS - 1);
                steps[position / 64] |= 1 << (position % 64);
                rare_symbol[position] = symbol;
            }
            // Insert from the last step down: everything after a step moves by the number of
            // insertions up to it.
            let (mut moved, mut before) = (size, size - top);
            for (i, &word) in steps.iter().enumerate().rev() {
                let mut word = word;
                while word != 0 {
                    let position = 64 * i + word.ilog2() as usize;
                    word ^= 1 << (position % 64);
                    before -= 1;
                    runs.copy_within(position - before..moved - before - 1, position + 1);
                    runs[position] = rare_symbol[position];
                    moved = position;
                }
            }
        }
        // This serial loop stores the number of each cell; `finish` computes the rest, vectorized.
        let mut position = 0;
        for place in &mut cells[..size] {
            let symbol = runs[position & (MAX_CELLS - 1)];
            position = (position + back) & mask;
            let entry = &mut symbols[usize::from(symbol) & (N - 1)];
            *place = *entry;
            *entry = entry.wrapping_add(1 << NUMBER);
        }
        self.finish(&mut cells[..size]);
    }

    /// Computes cells from their numbers and the bits common to all cells of a symbol.
    #[inline(always)]
    fn finish(&self, cells: &mut [Cell]) {
        let size = cells.len() as u32;
        for place in cells {
            let number = *place >> NUMBER;
            // Computes ilog2 as the exponent of the number as a float, which is exact and available
            // in vectors.
            let high = ((number as i32 as f32).to_bits() >> 23).wrapping_sub(127);
            let base = (number << (self.log.wrapping_sub(high) & 31)).wrapping_sub(size);
            *place = (*place & ((1 << NUMBER) - 1)).wrapping_sub(high).wrapping_add(base << 23);
        }
    }

    /// Builds the table literally as RFC 8878 describes it.
    pub(crate) const fn build_reference(&self, extra_bits: &[u8], cells: &mut [Cell]) {
        let size = 1usize << self.log;
        let mut symbols = [0u8; MAX_CELLS];
        let mut next = [0u16; N];
        let mut top = size;
        let mut symbol = 0;
        while symbol < self.len {
            if self.probabilities[symbol] == -1 {
                top -= 1;
                symbols[top] = symbol as u8;
                next[symbol] = 1;
            } else {
                next[symbol] = self.probabilities[symbol] as u16;
            }
            symbol += 1;
        }
        let step = size / 2 + size / 8 + 3;
        let (mut place, mut symbol) = (0, 0);
        while symbol < self.len {
            let mut left = self.probabilities[symbol];
            while left > 0 {
                symbols[place] = symbol as u8;
                place = (place + step) & (size - 1);
                while place >= top {
                    place = (place + step) & (size - 1);
                }
                left -= 1;
            }
            symbol += 1;
        }
        let mut state = 0;
        while state < size {
            let symbol = symbols[state] as usize;
            let x = next[symbol] as u32;
            next[symbol] += 1;
            let bits = self.log - x.ilog2();
            let code = if symbol < 128 { symbol as u32 } else { 127 };
            cells[state] = cell((x << bits) - size as u32, code, extra_bits[symbol] as u32, bits);
            state += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_matches_the_reference() {
        let extra: Vec<u8> = (0..64).map(|i| i % 32).collect();
        let mut state = 1u32;
        for round in 0..if cfg!(miri) { 20 } else { 2000 } {
            let mut counts = NormalizedCounts::<64>::new();
            counts.log = 5 + round % 5;
            let mut left = 1i32 << counts.log;
            while left > 0 && counts.len < 53 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let most = left.min(1 + (state >> 8) as i32 % 64);
                let count = match state >> 28 {
                    0..4 => -1,
                    4 => 0,
                    _ => 1 + (state >> 16 & 0xff) as i32 % most,
                };
                counts.probabilities[counts.len] = count as i16;
                left -= count.abs();
                counts.len += 1;
            }
            counts.probabilities[counts.len] = left as i16;
            counts.len += 1;
            let (mut fast, mut plain) = ([0; MAX_CELLS], [0; MAX_CELLS]);
            counts.build(&extra, &mut fast);
            counts.build_reference(&extra, &mut plain);
            assert_eq!(fast, plain);
        }
    }
}
