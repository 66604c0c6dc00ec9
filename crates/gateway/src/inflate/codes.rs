//! What cells of a table say: a symbol, the bits of its code, and those behind it.

/// Bits of a code that index its first table. The rest of longer ones index a table of their own.
pub(crate) const SYMBOL_ROOT: u32 = 10;
pub(crate) const DISTANCE_ROOT: u32 = 8;
/// The longest code.
pub(crate) const MAX_LEN: u32 = 15;

/// Cells of all tables of any sound code: 286 symbols from 10 bits, 30 from 8. The code that is not
/// sent has no more.
pub(crate) const SYMBOL_CELLS: usize = 1332;
pub(crate) const DISTANCE_CELLS: usize = 400;

/// A cell. The lowest byte counts the bits of the code and the extra bits behind them; the next four
/// bits count those of the code alone, or index a further table; then it says what it is; and the upper
/// half is its value: a literal, a base, or where the further table begins.
pub(crate) type Cell = u32;

const KIND: u32 = 13;
const LITERAL: Cell = 4 << KIND;
const END: Cell = 1 << KIND;
const TABLE: Cell = 2 << KIND;
const INVALID: Cell = 3 << KIND;

/// What no code leads to.
pub(crate) const NOTHING: Cell = INVALID | 1 << 8 | 1;

/// Bits of the code in this table and extra bits.
#[inline(always)]
pub(crate) fn bits(cell: Cell) -> u32 {
    cell & 0xff
}

/// Bits of the code in this table, or index bits of the further one.
#[inline(always)]
pub(crate) fn code_bits(cell: Cell) -> u32 {
    cell >> 8 & 15
}

#[inline(always)]
pub(crate) fn value(cell: Cell) -> u32 {
    cell >> 16
}

/// The base with the extra bits, which stand in `buffer` behind the code.
#[inline(always)]
pub(crate) fn sum(cell: Cell, buffer: u64) -> usize {
    value(cell) as usize + ((buffer & ((1 << bits(cell)) - 1)) >> code_bits(cell)) as usize
}

#[inline(always)]
pub(crate) fn is_literal(cell: Cell) -> bool {
    cell & LITERAL != 0
}

/// Whether it is neither a literal nor a base.
#[inline(always)]
pub(crate) fn is_special(cell: Cell) -> bool {
    cell & (3 << KIND) != 0
}

#[inline(always)]
pub(crate) fn is_table(cell: Cell) -> bool {
    cell & (3 << KIND) == TABLE
}

#[inline(always)]
pub(crate) fn is_end(cell: Cell) -> bool {
    cell & (3 << KIND) == END
}

/// A cell that leads to a table of `1 << bits` cells at `at`.
pub(crate) fn further(at: usize, bits: u32, root: u32) -> Cell {
    (at as u32) << 16 | TABLE | bits << 8 | root
}

/// The cell of a symbol whose code has `len` bits in this table.
#[inline(always)]
pub(crate) fn coded(cell: Cell, len: u32) -> Cell {
    cell + (len << 8 | len)
}

/// The cell of each literal, of the end of a block, and of each length, without the bits of its code.
pub(crate) static SYMBOLS: [Cell; 288] = {
    const BASES: [u32; 29] = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163,
        195, 227, 258,
    ];
    let mut cells = [INVALID; 288];
    let mut symbol = 0;
    while symbol < 286 {
        cells[symbol] = match symbol {
            0..256 => (symbol as u32) << 16 | LITERAL,
            256 => END,
            257..265 | 285 => BASES[symbol - 257] << 16,
            _ => (BASES[symbol - 257] << 16) | ((symbol as u32 - 261) / 4),
        };
        symbol += 1;
    }
    cells
};

/// The cell of each distance, without the bits of its code.
pub(crate) static DISTANCES: [Cell; 32] = {
    let mut cells = [INVALID; 32];
    let mut symbol = 0;
    while symbol < 30 {
        cells[symbol as usize] = if symbol < 4 {
            (symbol + 1) << 16
        } else {
            let extra = symbol / 2 - 1;
            ((((2 + symbol % 2) << extra) + 1) << 16) | extra
        };
        symbol += 1;
    }
    cells
};

/// The cell of each length of a code that describes codes.
pub(crate) static LENGTHS: [Cell; 19] = {
    let mut cells = [0; 19];
    let mut symbol = 0;
    while symbol < 19 {
        cells[symbol] = (symbol as u32) << 16;
        symbol += 1;
    }
    cells
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Each base is the one before it and all that its extra bits count.
    #[test]
    fn bases_follow_each_other() {
        let mut next = 3;
        for &cell in &SYMBOLS[257..285] {
            assert_eq!(value(cell), next);
            assert!(!is_literal(cell) && !is_special(cell));
            next += 1 << bits(cell);
        }
        // The last length of the code before also has one of its own.
        assert_eq!((next, value(SYMBOLS[285]), bits(SYMBOLS[285])), (259, 258, 0));
        let mut next = 1;
        for &cell in &DISTANCES[..30] {
            assert_eq!(value(cell), next);
            next += 1 << bits(cell);
        }
        assert_eq!(next, (32 << 10) + 1);
        assert!(is_special(SYMBOLS[286]) && is_special(DISTANCES[30]));
        assert!(is_end(SYMBOLS[256]) && is_literal(SYMBOLS[255]) && value(SYMBOLS[255]) == 255);
    }
}
