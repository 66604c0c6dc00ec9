//! Builds FSE tables from counts, writes their descriptions, and finds the states that code
//! symbols (RFC 8878, section 4.1).

use super::bits::Bits;

/// A state of the decoding table: its symbol, the number of bits to read after it, and the base to
/// which they are added to get the next state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    pub symbol: u8,
    pub bits: u32,
    pub base: u32,
}

/// A decoding table of `1 << log` states.
#[derive(Clone, Debug)]
pub struct Table {
    pub log: u32,
    pub cells: Vec<Cell>,
}

impl Table {
    /// The table of normalised counts, which sum to `1 << log`. A count of -1 means "less than
    /// one", and counts as 1 in the sum.
    ///
    /// # Panics
    /// If the sum is another.
    pub fn new(counts: &[i16], log: u32) -> Table {
        let size = 1usize << log;
        let mut symbols = vec![None; size];
        let mut top = size;
        for (symbol, _) in counts.iter().enumerate().filter(|(_, count)| **count == -1) {
            top -= 1;
            symbols[top] = Some(symbol as u8);
        }
        let mut at = 0;
        for (symbol, &count) in counts.iter().enumerate() {
            for _ in 0..count.max(0) {
                symbols[at] = Some(symbol as u8);
                at = (at + size / 2 + size / 8 + 3) % size;
                while at >= top {
                    at = (at + size / 2 + size / 8 + 3) % size;
                }
            }
        }
        assert_eq!(at, 0, "counts that do not fill the table");
        let mut next: Vec<u32> = counts.iter().map(|&count| u32::from(count.unsigned_abs())).collect();
        let cell = |symbol: Option<u8>| {
            let symbol = symbol.expect("a table that is full");
            let x = next[usize::from(symbol)];
            next[usize::from(symbol)] += 1;
            let bits = log - x.ilog2();
            Cell { symbol, bits, base: (x << bits) - size as u32 }
        };
        Table { log, cells: symbols.into_iter().map(cell).collect() }
    }

    /// The table of one symbol, whose state needs no bits.
    pub fn rle(symbol: u8) -> Table {
        Table { log: 0, cells: vec![Cell { symbol, bits: 0, base: 0 }] }
    }

    /// A state of the symbol. With `moving`, one that takes at least one bit to leave.
    pub fn state(&self, symbol: u8, moving: bool) -> u32 {
        let fits = |cell: &Cell| cell.symbol == symbol && (cell.bits > 0 || !moving);
        self.cells.iter().position(fits).expect("a symbol that the table has") as u32
    }

    /// The state of `symbol` from which the state `next` is reached, then the value and the number
    /// of the bits that lead there.
    pub fn before(&self, symbol: u8, next: u32) -> (u32, u64, u32) {
        let leads =
            |cell: &Cell| cell.symbol == symbol && next >= cell.base && next - cell.base < 1 << cell.bits;
        let state = self.cells.iter().position(leads).expect("a symbol that the table has");
        let cell = self.cells[state];
        (state as u32, u64::from(next - cell.base), cell.bits)
    }
}

/// The description of a table of `1 << log` states with these counts, in whole bytes.
pub fn describe(counts: &[i16], log: u32) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.push(u64::from(log) - 5, 4);
    let mut left = (1i32 << log) + 1;
    let mut threshold = 1i32 << log;
    let mut width = log + 1;
    let mut i = 0;
    while left > 1 {
        let count = counts[i];
        i += 1;
        let value = i32::from(count) + 1;
        let short = 2 * threshold - 1 - left;
        if value < short {
            bits.push(value as u64, width - 1);
        } else {
            let shift = if value >= threshold { short } else { 0 };
            bits.push((value + shift) as u64, width);
        }
        left -= i32::from(count).abs();
        while left < threshold {
            width -= 1;
            threshold /= 2;
        }
        if count == 0 {
            let zeros = counts[i..].iter().take_while(|count| **count == 0).count();
            (0..zeros / 3).for_each(|_| bits.push(3, 2));
            bits.push((zeros % 3) as u64, 2);
            i += zeros;
        }
    }
    bits.forward()
}

/// Normalised counts, which sum to `1 << log`, in proportion to the frequency of each symbol in
/// `symbols`. Each symbol that occurs gets a count of at least 1.
pub fn normalise(symbols: &[u8], log: u32) -> Vec<i16> {
    let most = symbols.iter().copied().max().expect("at least one symbol");
    let mut seen = vec![0usize; usize::from(most) + 1];
    symbols.iter().for_each(|&symbol| seen[usize::from(symbol)] += 1);
    let size = 1usize << log;
    let share = |n: usize| if n == 0 { 0 } else { (n * size / symbols.len()).max(1) as i16 };
    let mut counts: Vec<i16> = seen.into_iter().map(share).collect();
    loop {
        let sum: i32 = counts.iter().map(|&count| i32::from(count)).sum();
        let largest = counts.iter_mut().max().expect("at least one symbol");
        match size as i32 - sum {
            0 => return counts,
            // Corrects the sum: the largest count gets all that is missing, or loses 1 at a time.
            more @ 1.. => *largest += more as i16,
            _ => {
                assert!(*largest > 1, "more symbols than a table of log {log} holds");
                *largest -= 1;
            }
        }
    }
}
