//! FSE tables (RFC 8878, section 4.1.1): normalises counts, rescales to a smaller table, parses,
//! and serializes.

use linerate_core::{Error, Kind, Result};

const DAMAGED: Error = Error::new(Kind::Corrupt, 0, "a table of a dictionary is damaged");

/// The probability of each symbol, in table cells; -1 means "less than one" and takes one cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FseTable {
    pub(crate) probabilities: Vec<i32>,
    pub(crate) log: u32,
}

/// Reads bits, the lowest bit of each byte first.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn peek(&self, count: u32) -> u32 {
        let bit = |i: usize| self.bytes.get(i / 8).map_or(0, |byte| u32::from(byte >> (i % 8) & 1));
        (0..count).map(|i| bit(self.at + i as usize) << i).sum()
    }

    fn take(&mut self, count: u32) -> u32 {
        let value = self.peek(count);
        self.at += count as usize;
        value
    }
}

/// State of the variable-width code of probabilities. `rest` is the number of remaining cells, plus
/// one. Values take `bits` bits, or one bit less if they are below `short()`.
struct Width {
    rest: u32,
    threshold: u32,
    bits: u32,
}

impl Width {
    fn new(log: u32) -> Self {
        Width { rest: (1 << log) + 1, threshold: 1 << log, bits: log + 1 }
    }

    /// The number of values that take one bit less: those below it.
    fn short(&self) -> u32 {
        2 * self.threshold - 1 - self.rest
    }

    fn use_up(&mut self, count: i32) -> Option<()> {
        self.rest = self.rest.checked_sub(count.unsigned_abs()).filter(|&rest| rest > 0)?;
        while self.rest < self.threshold {
            self.bits -= 1;
            self.threshold /= 2;
        }
        Some(())
    }
}

impl FseTable {
    /// Parses a description. Also returns its length in bytes.
    pub(crate) fn read(bytes: &[u8]) -> Result<(FseTable, usize)> {
        let mut bits = Bits { bytes, at: 0 };
        let log = bits.take(4) + 5;
        let mut width = Width::new(log);
        let mut of = Vec::new();
        while width.rest > 1 {
            if of.len() > 255 || bits.at > 8 * bytes.len() {
                return Err(DAMAGED);
            }
            let mut value = bits.peek(width.bits - 1);
            if value < width.short() {
                bits.at += width.bits as usize - 1;
            } else {
                value = bits.take(width.bits);
                if value >= width.threshold {
                    value -= width.short();
                }
            }
            let count = value as i32 - 1;
            of.push(count);
            if count == 0 {
                loop {
                    let zeros = bits.take(2);
                    of.extend((0..zeros).map(|_| 0));
                    if zeros < 3 || of.len() > 255 {
                        break;
                    }
                }
            }
            width.use_up(count).ok_or(DAMAGED)?;
        }
        let len = bits.at.div_ceil(8);
        if len > bytes.len() {
            return Err(DAMAGED);
        }
        Ok((FseTable { probabilities: of, log }, len))
    }

    /// Serializes the description.
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out: Vec<bool> = Vec::new();
        let mut put = |value: u32, count: u32| out.extend((0..count).map(|i| value >> i & 1 == 1));
        put(self.log - 5, 4);
        let mut width = Width::new(self.log);
        let mut symbol = 0;
        while let Some(&count) = self.probabilities.get(symbol).filter(|_| width.rest > 1) {
            let value = (count + 1) as u32;
            let short = width.short();
            match value {
                v if v < short => put(v, width.bits - 1),
                v if v < width.threshold => put(v, width.bits),
                v => put(v + short, width.bits),
            }
            symbol += 1;
            if count == 0 {
                let mut zeros = self.probabilities[symbol..].iter().take_while(|&&count| count == 0).count();
                symbol += zeros;
                while zeros >= 3 {
                    put(3, 2);
                    zeros -= 3;
                }
                put(zeros as u32, 2);
            }
            if width.use_up(count).is_none() {
                break;
            }
        }
        out.chunks(8).map(|byte| byte.iter().rev().fold(0, |all, &bit| all << 1 | u8::from(bit))).collect()
    }

    /// Distributes `1 << log` cells so that symbols with these counts take few bits. Each counted
    /// symbol gets at least one cell, so the table is larger if it has more symbols than cells. It
    /// has at least 32 cells.
    pub(crate) fn from_counts(counts: &[u64], log: u32) -> FseTable {
        let present = counts.iter().filter(|&&count| count > 0).count();
        let log = log.max(5).max(present.next_power_of_two().ilog2());
        let total: u64 = counts.iter().sum::<u64>().max(1);
        let share = |count: u64| ((u128::from(count) << log) + u128::from(total / 2)) / u128::from(total);
        let mut cells: Vec<i32> =
            counts.iter().map(|&count| if count == 0 { 0 } else { share(count).max(1) as i32 }).collect();
        // Rounding errors are corrected cell by cell, each time where the coded bits grow least.
        let cost = |i: usize, from: i32, to: i32| {
            i128::from(counts[i]) * i128::from(log2(from as u32) as i64 - log2(to as u32) as i64)
        };
        loop {
            let step = ((1 << log) - cells.iter().sum::<i32>()).signum();
            let able = (0..cells.len()).filter(|&i| cells[i] > 0 && cells[i] + step > 0);
            match able.min_by_key(|&i| cost(i, cells[i], cells[i] + step)) {
                Some(i) if step != 0 => cells[i] += step,
                _ => break,
            }
        }
        FseTable { probabilities: cells, log }
    }

    /// Rescales to a table of at most `1 << log` cells; a table that is not larger stays as it is.
    /// Each present symbol keeps at least one cell, so the table stays larger if there are more
    /// symbols than cells.
    pub(crate) fn rescaled(&self, log: u32) -> FseTable {
        let counts: Vec<u64> =
            self.probabilities.iter().map(|cells| u64::from(cells.unsigned_abs())).collect();
        let mut rescaled = FseTable::from_counts(&counts, log);
        if rescaled.log >= self.log {
            return self.clone();
        }
        // "Less than one" stays "less than one" in a smaller table.
        for (cells, before) in rescaled.probabilities.iter_mut().zip(&self.probabilities) {
            if *before == -1 && *cells == 1 {
                *cells = -1;
            }
        }
        rescaled
    }

    /// Returns the states of the decoder (RFC 8878, section 4.1.1).
    pub(crate) fn cells(&self) -> Vec<Cell> {
        let size = 1usize << self.log;
        let mut symbols = vec![0; size];
        let mut end = size;
        for (symbol, _) in self.probabilities.iter().enumerate().filter(|(_, cells)| **cells == -1) {
            end -= 1;
            symbols[end] = symbol;
        }
        let mut places = (0..size).map(|i| i * ((size >> 1) + (size >> 3) + 3) % size).filter(|&at| at < end);
        for (symbol, &cells) in self.probabilities.iter().enumerate() {
            (0..cells).for_each(|_| _ = places.next().map(|at| symbols[at] = symbol));
        }
        let mut next: Vec<usize> =
            self.probabilities.iter().map(|cells| cells.unsigned_abs() as usize).collect();
        let cell = |&symbol: &usize| {
            let state = next[symbol].max(1);
            next[symbol] += 1;
            let bits = self.log - state.ilog2();
            Cell { symbol: symbol as u8, bits, base: (state << bits) - size }
        };
        symbols.iter().map(cell).collect()
    }
}

/// A state of the decoder: its symbol, and the next state, which is `base` plus a number of `bits`
/// bits.
pub(crate) struct Cell {
    pub(crate) symbol: u8,
    pub(crate) bits: u32,
    pub(crate) base: usize,
}

/// Computes the binary logarithm in units of 1 / 65,536, the same on every machine. Returns 0 for
/// 0.
pub(crate) fn log2(n: u32) -> u64 {
    let whole = n.max(1).ilog2();
    // The mantissa, from 1 to 2, is a number of 32 bits. Each squaring gives a bit of the
    // logarithm.
    let mut mantissa = u64::from(n.max(1)) << (31 - whole);
    let mut log = u64::from(whole);
    for _ in 0..16 {
        mantissa = (mantissa * mantissa) >> 31;
        let bit = mantissa >> 32;
        log = log << 1 | bit;
        mantissa >>= bit;
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Generates pseudorandom probabilities that fill a table.
    fn some(seed: u32) -> FseTable {
        let mut state = seed.wrapping_mul(2_654_435_761) | 1;
        let mut random = |n: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 16) % n) as i32
        };
        let log = 5 + random(5) as u32;
        let mut rest = 1 << log;
        let mut of = Vec::new();
        while rest > 0 {
            let count = match random(4) {
                0 => 0,
                1 => -1,
                _ => 1 + random(1 + rest as u32 / 3).min(rest - 1),
            };
            rest -= count.abs();
            of.push(count);
        }
        FseTable { probabilities: of, log }
    }

    #[test]
    fn written_tables_round_trip() {
        for seed in 0..3000 {
            let table = some(seed);
            let bytes = table.write();
            assert_eq!(FseTable::read(&bytes), Ok((table.clone(), bytes.len())));
            let cut = FseTable::read(&bytes[..bytes.len() - 1]);
            assert!(cut.is_err_and(|e| e.kind == Kind::Corrupt) || bytes.len() == 1);
        }
    }

    #[test]
    fn rescaled_tables_are_full_and_keep_all_symbols() {
        for seed in 0..3000 {
            let table = some(seed);
            for log in 5..table.log {
                let rescaled = table.rescaled(log);
                assert_eq!(rescaled.probabilities.iter().map(|c| c.abs()).sum::<i32>(), 1 << rescaled.log);
                assert!(rescaled.log <= table.log);
                assert!(
                    rescaled
                        .probabilities
                        .iter()
                        .zip(&table.probabilities)
                        .all(|(a, b)| (*a == 0) == (*b == 0))
                );
            }
        }
    }
}
