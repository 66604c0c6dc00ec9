//! Finite state entropy: from the description of a table to its cells.
//!
//! A cell is four bytes: from the lowest bit, the bits to read for the next state (8), those and the
//! extra bits of the value together (8), the code (7), and the next state when its bits are zero (9).
//! So a table of 512 cells takes 2 KiB, and the sum of three cells holds the sums of both counts,
//! because neither overflows its byte: at most 26 and 89.

use linerate_core::{Error, Kind, Result};

use crate::bits::Forward;

/// Cells of the largest table.
pub(crate) const MAX_CELLS: usize = 512;

/// One cell of a table.
pub(crate) type Cell = u32;

/// Makes a cell of a base below 512, a code below 128, and two counts below 128.
#[inline(always)]
pub(crate) const fn cell(base: u32, code: u32, extra: u32, bits: u32) -> Cell {
    base << 23 | code << 16 | (extra + bits) << 8 | bits
}

/// Bits to read for the next state.
#[inline(always)]
pub(crate) const fn bits(cell: Cell) -> u32 {
    cell & 0xff
}

/// Bits to read for the value and for the next state.
#[inline(always)]
pub(crate) const fn all_bits(cell: Cell) -> u32 {
    cell >> 8 & 0xff
}

/// Bits to read for the value.
#[inline(always)]
pub(crate) const fn extra(cell: Cell) -> u32 {
    all_bits(cell).wrapping_sub(bits(cell))
}

/// The next state when the bits read for it are zero.
#[inline(always)]
pub(crate) const fn base(cell: Cell) -> u32 {
    cell >> 23
}

/// The code that the state stands for.
#[inline(always)]
pub(crate) const fn code(cell: Cell) -> u32 {
    cell >> 16 & 0x7f
}

/// The probabilities of an alphabet, in units of the size of the table; -1 is "less than one".
pub(crate) struct Counts {
    pub(crate) of: [i16; 256],
    /// Symbols described.
    pub(crate) len: usize,
    /// Logarithm of the table's size.
    pub(crate) log: u32,
}

impl Counts {
    pub(crate) const fn new() -> Self {
        Counts { of: [0; 256], len: 0, log: 0 }
    }

    /// Reads a description from the beginning of `src`; returns its length in bytes.
    pub(crate) fn read(&mut self, src: &[u8], max_log: u32, max_symbol: usize) -> Result<usize> {
        let corrupt = |what| Err(Error::new(Kind::Corrupt, 0, what));
        let mut input = Forward::new(src);
        let log = (input.peek() & 15) + 5;
        input.skip(4);
        if log > max_log {
            return corrupt("an FSE table is larger than allowed");
        }
        let mut threshold = 1i32 << log;
        let mut remaining = threshold + 1;
        let mut width = log + 1;
        let mut symbol = 0;
        while remaining > 1 {
            if symbol > max_symbol {
                return corrupt("an FSE table describes more symbols than there are");
            }
            let max = 2 * threshold - 1 - remaining;
            let word = input.peek() as i32;
            let low = word & (threshold - 1);
            let value = if low < max {
                input.skip(width - 1);
                low
            } else {
                input.skip(width);
                let value = word & (2 * threshold - 1);
                if value >= threshold { value - max } else { value }
            };
            let count = value - 1;
            remaining -= count.abs();
            self.of[symbol] = count as i16;
            symbol += 1;
            if count == 0 {
                loop {
                    let zeros = (input.peek() & 3) as usize;
                    input.skip(2);
                    if symbol + zeros > max_symbol + 1 {
                        return corrupt("an FSE table describes more symbols than there are");
                    }
                    self.of[symbol..symbol + zeros].fill(0);
                    symbol += zeros;
                    if zeros < 3 {
                        break;
                    }
                }
            }
            while remaining < threshold {
                width -= 1;
                threshold >>= 1;
            }
        }
        if remaining < 1 {
            return corrupt("the probabilities of an FSE table exceed its size");
        }
        self.len = symbol;
        self.log = log;
        input.bytes_taken().ok_or(Error::new(Kind::Truncated, src.len() as u64, "an FSE table is cut off"))
    }

    /// Lays the cells out in `cells`, of which it fills the first `1 << log`. `extra_bits[code]`
    /// bits follow a code for its value.
    pub(crate) const fn build(&self, extra_bits: &[u8], cells: &mut [Cell]) {
        let size = 1usize << self.log;
        let mut symbols = [0u8; MAX_CELLS];
        let mut next = [0u16; 256];
        let mut top = size;
        let mut symbol = 0;
        while symbol < self.len {
            if self.of[symbol] == -1 {
                top -= 1;
                symbols[top] = symbol as u8;
                next[symbol] = 1;
            } else {
                next[symbol] = self.of[symbol] as u16;
            }
            symbol += 1;
        }
        let step = size / 2 + size / 8 + 3;
        let (mut place, mut symbol) = (0, 0);
        while symbol < self.len {
            let mut left = self.of[symbol];
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
            // Only weights of Huffman trees have codes above 127, none of which is valid.
            let code = if symbol < 128 { symbol as u32 } else { 127 };
            cells[state] = cell((x << bits) - size as u32, code, extra_bits[symbol] as u32, bits);
            state += 1;
        }
    }
}
