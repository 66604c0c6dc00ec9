//! Makes smaller FSE tables for an existing dictionary.

use linerate_core::{Error, Kind, Result};
use linerate_zstd::Dictionary;

use crate::train::fse_table::FseTable;

/// Number of bytes of a trained dictionary before its Huffman table: magic number and Dictionary_ID
/// (RFC 8878, section 5).
const HEAD: usize = 8;
const CUT_OFF: Error = Error::new(Kind::Truncated, 0, "the dictionary is truncated");

/// Rescales the FSE tables of a dictionary to at most 256 cells for literal lengths, 128 for
/// offsets and 256 for match lengths. Raw content is returned unchanged.
///
/// # Errors
/// Returns [`Kind::Truncated`] or [`Kind::Corrupt`] for a damaged trained dictionary, and
/// [`Kind::Limit`] for content of 4 GiB or more.
pub fn shrink_tables(dictionary: &[u8]) -> Result<Vec<u8>> {
    if !Dictionary::measure(dictionary)?.is_trained() {
        return Ok(dictionary.to_vec());
    }
    // The Huffman table begins with the number of bytes of FSE-coded weights, or has four bits for
    // each weight.
    let tree = match usize::from(*dictionary.get(HEAD).ok_or(CUT_OFF)?) {
        few @ 0..128 => 1 + few,
        weights => 1 + (weights - 127).div_ceil(2),
    };
    let (head, mut rest) = dictionary.split_at_checked(HEAD + tree).ok_or(CUT_OFF)?;
    let mut out = head.to_vec();
    // The FSE tables are those of offsets, match lengths and literal lengths.
    for log in [7, 8, 8] {
        let (table, len) = FseTable::read(rest)?;
        out.extend(table.rescaled(log).write());
        rest = &rest[len..];
    }
    out.extend_from_slice(rest);
    Ok(out)
}
