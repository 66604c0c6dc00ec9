//! The entropy tables of a dictionary, made of counts (RFC 8878, section 5).

use twox_hash::XxHash64;

use crate::train::fse_table::FseTable;
use crate::train::huffman_table;
use crate::train::statistics::{LITERAL_LENGTHS, MATCH_LENGTHS, Statistics};

/// Magic number of a dictionary with tables.
const MAGIC: [u8; 4] = 0xec30_a437_u32.to_le_bytes();
/// Range of the Dictionary_IDs that the format leaves to everyone.
const IDS: (u64, u64) = (1 << 15, (1 << 31) - (1 << 15));
/// Repeated offsets before the first block.
const OFFSETS: [u32; 3] = [1, 4, 8];
/// Weight of a counted symbol against one that the samples lack.
const SEEN: u64 = 16;
/// Bytes that offsets reach beyond the content, in a block of the largest size.
const MAX_BLOCK: usize = 128 << 10;

/// Which symbols have codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coverage {
    /// All that a block can have: libzstd uses such a table without comparing it with others, up to level 4 and up to
    /// 1,000 sequences or 1 KiB of literals.
    All,
    /// Those of the samples, which are coded in fewer bits: libzstd uses such a table where it is the smallest.
    Seen,
}

/// Coverage of the table of literals, and of the three of sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableForm {
    pub(crate) literals: Coverage,
    pub(crate) sequences: Coverage,
    pub(crate) small: bool,
}

/// Everything between the ID and the content. `None` if the literals cannot be described.
pub(crate) fn describe(counts: &Statistics, form: TableForm, content_len: usize) -> Option<Vec<u8>> {
    let logs = if form.small { [7, 8, 8] } else { [8, 9, 9] };
    let mut literals = counts.literals;
    weigh(&mut literals, 256, form.literals);
    // libzstd refuses to compress with a table without the last symbol, 1.5.4 for example.
    literals[255] = literals[255].max(1);
    let mut out = huffman_table::describe(&literals)?;
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

/// Gives the first `all` symbols a count, or at least two of them, which a table needs.
fn weigh(counts: &mut [u64], all: usize, coverage: Coverage) {
    counts.iter_mut().for_each(|count| *count *= SEEN);
    let few = counts.iter().filter(|&&count| count > 0).count() < 2;
    let missing = match coverage {
        Coverage::All => all,
        Coverage::Seen => {
            if few {
                2
            } else {
                0
            }
        }
    };
    counts[..missing].iter_mut().for_each(|count| *count = (*count).max(1));
}

/// A dictionary of at most `size` bytes with these tables and the end of the content.
pub(crate) fn assemble(tables: &[u8], content: &[u8], size: usize) -> Vec<u8> {
    let room = size.saturating_sub(MAGIC.len() + 4 + tables.len());
    let content = &content[content.len().saturating_sub(room)..];
    let id = XxHash64::oneshot(0, content) % (IDS.1 - IDS.0) + IDS.0;
    [&MAGIC[..], &(id as u32).to_le_bytes(), tables, content].concat()
}
