//! The cost of each symbol, for a parse that minimizes their sum.

use super::frequencies::Frequencies;
use super::log2::{self, log2};
use super::tables::{DISTANCES, LITLENS};
use super::token::{LENGTH_CODES, distance_extra_bits};

/// The cost of one bit.
pub(crate) const BIT: u32 = 1 << 6;
/// Upper bound of a symbol's cost with its extra bits.
pub(crate) const MAX_COST: u32 = 40 * BIT;
/// The cost of symbols that a parse must not choose.
pub(crate) const NEVER: u32 = 1 << 17;
/// The unused distance symbol that marks an entry without a match.
pub(crate) const NO_DISTANCE: usize = 31;

/// The cost of each symbol with its extra bits, in 1/64 bit.
#[derive(Clone)]
pub(crate) struct Costs {
    pub(crate) literals: [u32; 256],
    /// Costs of lengths 3 to 258, and eight zeros, so that eight entries can be read from any
    /// length.
    pub(crate) lengths: [u32; 256 + 8],
    /// Costs of distances, by symbol.
    pub(crate) distances: [u32; 32],
}

impl Costs {
    /// Sets the costs for a block with these symbol counts and code lengths.
    pub(crate) fn set(&mut self, freqs: &Frequencies, litlens: &[u8; LITLENS], distances: &[u8; DISTANCES]) {
        self.set_symbols(&costs(&freqs.litlens, litlens), &costs(&freqs.distances, distances));
    }

    /// Sets the costs to the code lengths of the fixed trees (RFC 1951, 3.2.6), with extra bits.
    pub(crate) fn set_fixed(&mut self) {
        let mut litlens = [8 * BIT; LITLENS];
        litlens[144..256].fill(9 * BIT);
        litlens[256..280].fill(7 * BIT);
        self.set_symbols(&litlens, &[5 * BIT; DISTANCES]);
    }

    fn set_symbols(&mut self, litlens: &[u32; LITLENS], distances: &[u32; DISTANCES]) {
        self.literals.copy_from_slice(&litlens[..256]);
        for (i, (length, extra)) in LENGTH_CODES.iter().enumerate() {
            let end = LENGTH_CODES.get(i + 1).map_or(259, |next| next.0);
            let cost = litlens[257 + i] + u32::from(*extra) * BIT;
            self.lengths[usize::from(length - 3)..usize::from(end - 3)].fill(cost);
        }
        for (symbol, (sum, cost)) in self.distances.iter_mut().zip(distances).enumerate() {
            *sum = cost + distance_extra_bits(symbol) * BIT;
        }
        self.distances[NO_DISTANCE] = NEVER;
    }
}

/// Returns the cost of each symbol: 3/4 of its code length plus 1/4 of its information content (at
/// least one bit), which shows how cheap the symbol would get if it were slightly more frequent. A
/// symbol that does not occur costs as much as one that occurs half a time.
fn costs<const N: usize>(freqs: &[u32; N], lengths: &[u8; N]) -> [u32; N] {
    let bits = |n: u32| log2(n.max(1).into()) * BIT / log2::ONE;
    let all = bits(freqs.iter().sum());
    core::array::from_fn(|symbol| match (freqs[symbol], u32::from(lengths[symbol]) * BIT) {
        (0, _) => all + BIT,
        (freq, length) => ((all - bits(freq)).max(BIT) + 3 * length) / 4,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_bits_and_extra_bits() {
        let mut freqs = Frequencies::new();
        freqs.litlens[usize::from(b'a')] = 512;
        freqs.litlens[257] = 256;
        freqs.litlens[257 + 27] = 256;
        freqs.distances[29] = 1;
        let mut costs = Costs { literals: [0; 256], lengths: [0; 256 + 8], distances: [0; 32] };
        let (mut litlens, mut distances) = ([0; LITLENS], [0; DISTANCES]);
        (litlens[usize::from(b'a')], litlens[257], litlens[257 + 27], distances[29]) = (1, 2, 2, 1);
        costs.set(&freqs, &litlens, &distances);
        assert_eq!(costs.literals[usize::from(b'a')], BIT);
        assert_eq!(costs.literals[usize::from(b'b')], 11 * BIT);
        assert_eq!([costs.lengths[0], costs.lengths[254], costs.lengths[255]], [2 * BIT, 7 * BIT, 11 * BIT]);
        assert_eq!([costs.distances[0], costs.distances[29]], [BIT, (1 + 13) * BIT]);
    }

    #[test]
    fn no_symbol_costs_more_than_max_cost() {
        let mut freqs = Frequencies::new();
        freqs.litlens[0] = u32::MAX >> 8;
        freqs.distances[0] = u32::MAX >> 8;
        let mut costs = Costs { literals: [0; 256], lengths: [0; 256 + 8], distances: [0; 32] };
        costs.set(&freqs, &[15; LITLENS], &[15; DISTANCES]);
        let most = costs.lengths.iter().chain(&costs.literals).chain(&costs.distances[..DISTANCES]).max();
        assert!(most <= Some(&MAX_COST), "{most:?}");
    }
}
