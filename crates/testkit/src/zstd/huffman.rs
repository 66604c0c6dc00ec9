//! Builds Huffman trees from weights, and writes their descriptions, in either form, and the
//! streams of literals that they code (RFC 8878, section 4.2).

use super::bits::Bits;
use super::fse::{Table, describe, normalise};

/// A tree of literals, by the weight of each symbol.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The weight of each symbol, without zeros at the end. A description leaves out the last
    /// weight, since the others imply it.
    pub weights: Vec<u8>,
    /// The form in which the description is written.
    pub form: Form,
}

/// The form in which the weights in a tree's description are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Four bits each.
    Direct,
    /// Coded by FSE, with a table of this log.
    Fse(u32),
}

impl Tree {
    pub fn new(weights: &[u8], form: Form) -> Tree {
        Tree { weights: weights.to_vec(), form }
    }

    /// A tree of 2^`bits` symbols from `first`, all with codes of `bits` bits.
    pub fn flat(first: u8, bits: u32, form: Form) -> Tree {
        let mut weights = vec![0; usize::from(first)];
        weights.resize(usize::from(first) + (1 << bits), 1);
        Tree { weights, form }
    }

    /// A tree of `bits + 1` symbols from `first`, with codes of 1, 2, 3, ... `bits` and again
    /// `bits` bits.
    pub fn skewed(first: u8, bits: u8, form: Form) -> Tree {
        let mut weights = vec![0; usize::from(first)];
        weights.extend((1..=bits).rev());
        weights.push(1);
        Tree { weights, form }
    }

    /// Length of the longest code, in bits.
    pub fn bits(&self) -> u32 {
        let sum: u32 = self.weights.iter().filter(|w| **w > 0).map(|w| 1u32 << (w - 1)).sum();
        assert!(sum.is_power_of_two(), "weights that fill no tree");
        sum.ilog2()
    }

    /// The code of a symbol, and its length.
    fn code(&self, symbol: u8) -> (u64, u32) {
        let own = self.weights[usize::from(symbol)];
        assert!(own > 0, "symbol {symbol} has no code");
        let cells = |w: u8| if w == 0 { 0 } else { 1u64 << (w - 1) };
        let lower = self.weights.iter().filter(|w| **w < own).map(|w| cells(*w)).sum::<u64>();
        let equal = self.weights[..usize::from(symbol)].iter().filter(|w| **w == own).count() as u64;
        (lower / cells(own) + equal, self.bits() + 1 - u32::from(own))
    }

    /// The description of the tree, which precedes the streams, and is part of dictionaries.
    pub fn describe(&self) -> Vec<u8> {
        let stored = &self.weights[..self.weights.len() - 1];
        match self.form {
            Form::Direct => direct(stored),
            Form::Fse(log) => {
                let counts = weight_counts(stored, log);
                let body = [describe(&counts, log), fse_stream(stored, &Table::new(&counts, log))].concat();
                assert!(body.len() < 128, "weights that take {} bytes", body.len());
                [&[body.len() as u8][..], &body].concat()
            }
        }
    }

    /// Codes literals as one stream.
    pub fn stream(&self, literals: &[u8]) -> Vec<u8> {
        let mut bits = Bits::default();
        for &literal in literals.iter().rev() {
            let (code, len) = self.code(literal);
            bits.push(code, len);
        }
        bits.backward()
    }

    /// Codes literals as one stream, or as four after the jump table with the sizes of the first
    /// three.
    pub fn streams(&self, literals: &[u8], streams: usize) -> Vec<u8> {
        if streams == 1 {
            return self.stream(literals);
        }
        let quarter = literals.len().div_ceil(4);
        let edge = |i: usize| (i * quarter).min(literals.len());
        let ends = [edge(1), edge(2), edge(3), literals.len()];
        let parts = [0, 1, 2, 3].map(|i| self.stream(&literals[edge(i)..ends[i]]));
        let jumps = parts[..3].iter().flat_map(|part| (part.len() as u16).to_le_bytes());
        [jumps.collect(), parts.concat()].concat()
    }
}

/// Normalised counts of weights. At least two different weights get cells, even if only one occurs,
/// so that some states take bits to leave.
fn weight_counts(weights: &[u8], log: u32) -> Vec<i16> {
    let mut counts = normalise(weights, log);
    if let Some(only) = counts.iter().position(|count| *count == 1 << log) {
        counts[only] -= 1;
        let other = usize::from(only == 0);
        counts.resize(counts.len().max(other + 1), 0);
        counts[other] = 1;
    }
    counts
}

/// Weights in the direct form: a byte of 127 plus the number of weights, then four bits for each,
/// the first of two in the high half of a byte.
pub fn direct(weights: &[u8]) -> Vec<u8> {
    let mut bytes = vec![127 + u8::try_from(weights.len()).expect("at most 128 weights")];
    bytes.extend(weights.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).unwrap_or(&0)));
    bytes
}

/// Codes weights, at least two, by two states in turn. Leaving the state of the last weight but one
/// must take bits: the decoder knows that the weights end when there are no bits left for this.
pub fn fse_stream(weights: &[u8], table: &Table) -> Vec<u8> {
    let n = weights.len();
    let mut states = [0; 2];
    states[(n - 1) % 2] = table.state(weights[n - 1], false);
    states[n % 2] = table.state(weights[n - 2], true);
    let mut bits = Bits::default();
    for i in (0..n - 2).rev() {
        let (state, value, width) = table.before(weights[i], states[i % 2]);
        bits.push(value, width);
        states[i % 2] = state;
    }
    bits.push(u64::from(states[1]), table.log);
    bits.push(u64::from(states[0]), table.log);
    bits.backward()
}
