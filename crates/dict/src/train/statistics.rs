//! Counts literals and the codes of sequences, from which a dictionary's tables are made.

use linerate_core::Result;

use crate::sys::SequenceFinder;

/// Numbers of codes of literal lengths, of match lengths and of offsets (RFC 8878, section
/// 3.1.1.3.2.1.1). Offsets have as many codes as libzstd supports.
pub(crate) const LITERAL_LENGTHS: usize = 36;
pub(crate) const MATCH_LENGTHS: usize = 53;
pub(crate) const OFFSETS: usize = 32;
/// Length of the shortest match, in bytes.
const MIN_MATCH: u32 = 3;

/// Smallest literal length of each of the codes 16 to 35. Lengths below 16 are their own codes.
const LITERAL_BASES: [u32; 20] =
    [16, 18, 20, 22, 24, 28, 32, 40, 48, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536];
/// Smallest match length of each of the codes 32 to 52, minus [`MIN_MATCH`]. With the same
/// subtraction, lengths below 32 are their own codes.
const MATCH_BASES: [u32; 21] =
    [32, 34, 36, 38, 40, 44, 48, 56, 64, 80, 96, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536];

/// Number of times that each symbol occurs in blocks compressed with a dictionary.
pub(crate) struct Statistics {
    pub(crate) literals: [u64; 256],
    pub(crate) literal_lengths: [u64; LITERAL_LENGTHS],
    pub(crate) match_lengths: [u64; MATCH_LENGTHS],
    pub(crate) offsets: [u64; OFFSETS],
}

impl Statistics {
    /// Counts the symbols into which libzstd codes `blocks`, at `level` with this content.
    pub(crate) fn count(content: &[u8], blocks: &[&[u8]], level: i32) -> Result<Statistics> {
        let mut counts = Statistics {
            literals: [0; 256],
            literal_lengths: [0; LITERAL_LENGTHS],
            match_lengths: [0; MATCH_LENGTHS],
            offsets: [0; OFFSETS],
        };
        let mut finder = SequenceFinder::new(content, level)?;
        for block in blocks {
            let mut at = 0;
            for sequence in finder.sequences(block) {
                let end = at + sequence.litLength as usize;
                block
                    .get(at..end)
                    .unwrap_or_default()
                    .iter()
                    .for_each(|&b| counts.literals[usize::from(b)] += 1);
                at = end + sequence.matchLength as usize;
                if sequence.matchLength >= MIN_MATCH {
                    counts.literal_lengths[code(sequence.litLength, 16, &LITERAL_BASES)] += 1;
                    counts.match_lengths[code(sequence.matchLength - MIN_MATCH, 32, &MATCH_BASES)] += 1;
                    // Values 1 to 3 are repeat offsets.
                    let value = if sequence.rep > 0 { sequence.rep } else { sequence.offset + 3 };
                    counts.offsets[value.ilog2() as usize] += 1;
                }
            }
        }
        Ok(counts)
    }
}

/// Returns the code of a length. Below `direct` it is the length itself. From there on it is
/// `direct` plus the index of the last of the `bases` that is not larger than the length.
fn code(length: u32, direct: u32, bases: &[u32]) -> usize {
    match length {
        _ if length < direct => length as usize,
        _ => direct as usize + bases.partition_point(|&base| base <= length) - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_the_codes_of_the_format() {
        let literals = |length| code(length, 16, &LITERAL_BASES);
        assert_eq!(
            [0, 15, 16, 17, 18, 47, 48, 63, 64, 65_536].map(literals),
            [0, 15, 16, 16, 17, 23, 24, 24, 25, 35]
        );
        let matches = |length: u32| code(length - 3, 32, &MATCH_BASES);
        assert_eq!(
            [3, 34, 35, 36, 37, 66, 67, 131, 65_539].map(matches),
            [0, 31, 32, 32, 33, 39, 40, 43, 52]
        );
    }
}
