//! Huffman tables of dictionaries: code lengths by package-merge (Larmore and Hirschberg 1990), and
//! their description (RFC 8878, section 4.2.1).

use crate::train::fse_table::FseTable;

/// Length of the longest code that zstd allows, in bits.
const MAX_BITS: usize = 11;
/// Logarithm of the largest FSE table of weights.
const WEIGHTS_LOG: u32 = 6;
/// Largest number of weights that a description with 4 bits for each can have.
const MAX_DIRECT: usize = 128;
/// Length of the longest FSE-coded description, in bytes.
const MAX_CODED: usize = 127;

/// Returns the code length of each symbol, in bits. It is 0 for symbols without a count. All are 0
/// if fewer than two symbols have a count.
fn code_lengths(counts: &[u64; 256]) -> [u8; 256] {
    let mut leaves: Vec<(u64, Vec<u8>)> = (0..=255u8)
        .zip(counts)
        .filter(|(_, count)| **count > 0)
        .map(|(s, &count)| (count, vec![s]))
        .collect();
    leaves.sort();
    let mut packages = leaves.clone();
    for _ in 1..MAX_BITS {
        let pairs = packages.chunks_exact(2);
        let merged = pairs.map(|pair| (pair[0].0 + pair[1].0, [&pair[0].1[..], &pair[1].1].concat()));
        packages = merged.chain(leaves.iter().cloned()).collect();
        packages.sort();
    }
    let mut lengths = [0; 256];
    for (_, symbols) in packages.iter().take(2 * leaves.len().saturating_sub(1)) {
        symbols.iter().for_each(|&symbol| lengths[usize::from(symbol)] += 1);
    }
    lengths
}

/// Describes the optimal table for these counts. Returns `None` for fewer than two symbols, or if
/// no description is short enough.
pub(crate) fn describe(counts: &[u64; 256]) -> Option<Vec<u8>> {
    let lengths = code_lengths(counts);
    let longest = lengths.iter().copied().max().filter(|&longest| longest > 0)?;
    let last = lengths.iter().rposition(|&length| length > 0)?;
    // The decoder derives the last weight from the others.
    let weights: Vec<u8> =
        lengths[..last].iter().map(|&length| if length == 0 { 0 } else { longest + 1 - length }).collect();
    let coded = code_weights(&weights).filter(|coded| coded.len() <= MAX_CODED);
    let direct = (weights.len() <= MAX_DIRECT).then(|| pack_weights(&weights));
    match (coded, direct) {
        (Some(coded), Some(direct)) if direct.len() <= 1 + coded.len() => Some(direct),
        (Some(coded), _) => Some([&[coded.len() as u8][..], &coded].concat()),
        (None, direct) => direct,
    }
}

/// Describes weights with 4 bits each.
fn pack_weights(weights: &[u8]) -> Vec<u8> {
    let pairs = weights.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or_default());
    std::iter::once(127 + weights.len() as u8).chain(pairs).collect()
}

/// Describes weights by two interleaved FSE states. Returns `None` if all are equal, or there are
/// fewer than two.
fn code_weights(weights: &[u8]) -> Option<Vec<u8>> {
    let mut counts = [0u64; MAX_BITS + 2];
    weights.iter().for_each(|&weight| counts[usize::from(weight)] += 1);
    if weights.len() < 2 || counts.iter().filter(|&&count| count > 0).count() < 2 {
        return None;
    }
    let table = FseTable::from_counts(&counts, WEIGHTS_LOG);
    let cells = table.cells();
    // The encoder goes from the last weight to the first. The decoder notices the end where a state
    // needs more bits than there are. For the last two weights, states are therefore chosen that
    // read bits.
    let mut states: [Option<usize>; 2] = [None; 2];
    let mut bits: Vec<bool> = Vec::new();
    for (i, &weight) in weights.iter().enumerate().rev() {
        let of_symbol = || cells.iter().enumerate().filter(|(_, cell)| cell.symbol == weight);
        let state = &mut states[i % 2];
        *state = match *state {
            None => of_symbol().max_by_key(|(_, cell)| cell.bits).map(|(at, _)| at),
            Some(next) => {
                let (at, cell) = of_symbol()
                    .find(|(_, cell)| (next - cell.base.min(next)) >> cell.bits == 0 && next >= cell.base)?;
                put(&mut bits, next - cell.base, cell.bits);
                Some(at)
            }
        };
    }
    put(&mut bits, states[1]?, table.log);
    put(&mut bits, states[0]?, table.log);
    bits.push(true);
    let stream = bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |all, &bit| all << 1 | u8::from(bit)));
    Some(table.write().into_iter().chain(stream).collect())
}

fn put(bits: &mut Vec<bool>, value: usize, count: u32) {
    bits.extend((0..count).map(|i| value >> i & 1 == 1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_lengths_are_limited_and_complete() {
        // Fibonacci numbers, whose Huffman codes would have one bit for each symbol.
        let mut counts = [0; 256];
        (counts[7], counts[8]) = (1, 1);
        (9..90).for_each(|i| counts[i] = counts[i - 1] + counts[i - 2]);
        let lengths = code_lengths(&counts);
        assert_eq!(lengths.iter().max(), Some(&11));
        let kraft: u32 = lengths.iter().filter(|&&length| length > 0).map(|&length| 2048 >> length).sum();
        assert_eq!(kraft, 2048);
        assert_eq!(lengths.iter().filter(|&&length| length > 0).count(), 83);
        assert!(lengths[89] <= 2);
    }
}
