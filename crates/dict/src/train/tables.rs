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
/// Weight of a symbol that occurs once in the samples. One that does not occur has weight 1.
const SEEN: u64 = 16;
/// Largest zstd block, in bytes: offsets reach this far back before they reach the content.
const MAX_BLOCK: usize = 128 << 10;

/// Which symbols have codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coverage {
    /// All symbols that a block can have. Up to level 4, libzstd uses such a table without
    /// comparing it with others for blocks of up to 1,000 sequences, or 1 KiB of literals.
    All,
    /// The symbols of the samples, which then take fewer bits. libzstd uses such a table only for
    /// blocks that become smallest with it.
    Seen,
}

/// Coverage of the literal table and of the three sequence tables, and whether the latter are
/// small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableForm {
    pub(crate) literals: Coverage,
    pub(crate) sequences: Coverage,
    pub(crate) small: bool,
}

/// Serializes everything between the ID and the content, which has at most `content_len` bytes.
/// `None` if the Huffman table cannot be described.
pub(crate) fn describe(counts: &Statistics, form: TableForm, content_len: usize) -> Option<Vec<u8>> {
    let logs = if form.small { [7, 8, 8] } else { [8, 9, 9] };
    let mut literals = counts.literals;
    weigh(&mut literals, 256, form.literals);
    // libzstd 1.5.4 refuses to compress with a Huffman table that lacks a code for the last symbol.
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

/// Multiplies counts by their weight, and gives those of the first `all` symbols that did not occur
/// a weight of 1, or with [`Coverage::Seen`] only as many as a table needs.
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

/// Joins tables and the end of the content to a dictionary of at most `size` bytes.
pub(crate) fn assemble(tables: &[u8], content: &[u8], size: usize) -> Vec<u8> {
    let room = size.saturating_sub(MAGIC.len() + 4 + tables.len());
    let content = &content[content.len().saturating_sub(room)..];
    let id = XxHash64::oneshot(0, content) % (IDS.1 - IDS.0) + IDS.0;
    [&MAGIC[..], &(id as u32).to_le_bytes(), tables, content].concat()
}
