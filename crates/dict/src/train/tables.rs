//! Makes the entropy tables of a dictionary from counts (RFC 8878, section 5).

use twox_hash::XxHash64;

use crate::train::fse_table::FseTable;
use crate::train::huffman_table;
use crate::train::statistics::{LITERAL_LENGTHS, MATCH_LENGTHS, Statistics};

/// Magic number of a dictionary with tables.
const MAGIC: [u8; 4] = 0xec30_a437_u32.to_le_bytes();
/// Range from which Dictionary_IDs are made. The format reserves those below 2^15 and from 2^31.
const IDS: (u64, u64) = (1 << 15, (1 << 31) - (1 << 15));
/// Repeat offsets before the first block.
const OFFSETS: [u32; 3] = [1, 4, 8];
/// Weight of a symbol that occurs once in the samples. A symbol that does not occur has weight 1.
const SEEN: u64 = 16;
/// Size of the largest zstd block, in bytes. Offsets reach this far back before they reach the
/// content.
const MAX_BLOCK: usize = 128 << 10;

/// Which symbols have codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coverage {
    /// All symbols that a block can have. Up to level 4, libzstd uses such a table for blocks of up
    /// to 1,000 sequences, or 1 KiB of literals, without comparing it with others.
    All,
    /// The symbols of the samples, which then take fewer bits. libzstd uses such a table only for
    /// blocks that become smallest with it.
    Seen,
}

/// Coverage of the literal table and of the three sequence tables, and whether the sequence tables
/// are small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableForm {
    pub(crate) literals: Coverage,
    pub(crate) sequences: Coverage,
    pub(crate) small: bool,
}

/// Serializes everything between the ID and the content, which has at most `content_len` bytes.
/// Returns `None` if the Huffman table cannot be described.
pub(crate) fn describe(counts: &Statistics, form: TableForm, content_len: usize) -> Option<Vec<u8>> {
    let mut literals = counts.literals;
    weigh(&mut literals, 256, form.literals);
    // libzstd 1.5.4 refuses to compress with a Huffman table that lacks a code for the last symbol.
    literals[255] = literals[255].max(1);
    let mut out = huffman_table::describe(&literals)?;
    // At level 16 and above, libzstd takes the costs of codes from a dictionary whose literals are
    // complete. Builds with assertions, such as Debian's of 1.5.4, then abort at a length without a
    // code in a table of 512 cells.
    let is_complete = literals.iter().all(|&count| count > 0);
    let lengths = if form.small || is_complete && form.sequences == Coverage::Seen { 8 } else { 9 };
    let logs = [if form.small { 7 } else { 8 }, lengths, lengths];
    let mut offsets = counts.offsets;
    let reachable = (content_len.saturating_add(MAX_BLOCK).ilog2() as usize + 1).min(offsets.len());
    weigh(&mut offsets, reachable, form.sequences);
    let (mut matches, mut runs) = (counts.match_lengths, counts.literal_lengths);
    weigh(&mut matches, MATCH_LENGTHS, form.sequences);
    weigh(&mut runs, LITERAL_LENGTHS, form.sequences);
    for (counts, log) in [(&offsets[..], logs[0]), (&matches[..], logs[1]), (&runs[..], logs[2])] {
        out.extend(FseTable::from_counts(counts, log).write());
    }
    out.extend(OFFSETS.into_iter().flat_map(u32::to_le_bytes));
    Some(out)
}

/// Multiplies counts by their weight, and gives a weight of 1 to those of the first `all` symbols
/// that did not occur. With [`Coverage::Seen`] it does so only for as many as a table needs.
fn weigh(counts: &mut [u64], all: usize, coverage: Coverage) {
    counts.iter_mut().for_each(|count| *count *= SEEN);
    let few = counts.iter().filter(|&&count| count > 0).count() < 2;
    let missing = match coverage {
        Coverage::All => all,
        // A table needs two symbols.
        Coverage::Seen if few => 2,
        Coverage::Seen => 0,
    };
    counts[..missing].iter_mut().for_each(|count| *count = (*count).max(1));
}

/// Joins tables and the end of the content into a dictionary of at most `size` bytes.
pub(crate) fn assemble(tables: &[u8], content: &[u8], size: usize) -> Vec<u8> {
    let room = size.saturating_sub(MAGIC.len() + 4 + tables.len());
    let content = &content[content.len().saturating_sub(room)..];
    let id = XxHash64::oneshot(0, content) % (IDS.1 - IDS.0) + IDS.0;
    [&MAGIC[..], &(id as u32).to_le_bytes(), tables, content].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::statistics::OFFSETS as OFFSET_CODES;

    /// Returns the logarithms of the sizes of the tables of offsets, match lengths and literal
    /// lengths.
    fn logs(literals: [u64; 256], sequences: Coverage) -> [u32; 3] {
        let mut counts = Statistics {
            literals,
            literal_lengths: [0; LITERAL_LENGTHS],
            match_lengths: [0; MATCH_LENGTHS],
            offsets: [0; OFFSET_CODES],
        };
        (counts.offsets[3], counts.match_lengths[5], counts.literal_lengths[2]) = (9, 900, 70);
        let form = TableForm { literals: Coverage::Seen, sequences, small: false };
        let tables = describe(&counts, form, 4096).expect("a description");
        // The first byte is the length of the FSE-coded weights.
        let mut rest = &tables[1 + usize::from(tables[0])..];
        [(); 3].map(|()| {
            let (table, len) = FseTable::read(rest).expect("a table");
            rest = &rest[len..];
            table.log
        })
    }

    #[test]
    fn tables_that_lack_lengths_are_smaller_if_literals_are_complete() {
        let mut literals = [1; 256];
        literals[..20].fill(500);
        assert_eq!(logs(literals, Coverage::Seen), [8, 8, 8]);
        assert_eq!(logs(literals, Coverage::All), [8, 9, 9]);
        literals[7] = 0;
        assert_eq!(logs(literals, Coverage::Seen), [8, 9, 9]);
    }
}
