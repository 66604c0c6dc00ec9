//! The header of a block's literals section (RFC 8878, section 3.1.1.3.1).

use linerate_core::{Error, Kind, Result};

use crate::entropy::huffman::{LITERALS_CUT_OFF, Weights};
use crate::frame_tables::{FrameTables, HuffmanTableBuffer};
use crate::kernel;
use crate::kernel_set::KernelSet;

/// Literals block types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LiteralsType {
    Raw,
    Rle,
    /// Huffman-coded, with a tree description.
    Compressed,
    /// Huffman-coded with the previous tree.
    Treeless,
}

/// The header of a literals section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiteralsHeader {
    pub(crate) kind: LiteralsType,
    /// Size of the header, in bytes.
    pub(crate) len: usize,
    /// Number of literals.
    pub(crate) count: usize,
    /// Number of bytes after the header.
    pub(crate) stored: usize,
    /// Number of Huffman-coded streams: 1 or 4; 0 for raw and RLE literals.
    pub(crate) streams: usize,
}

impl LiteralsHeader {
    pub(crate) fn parse(src: &[u8]) -> Result<LiteralsHeader> {
        let first = *src.first().ok_or(LITERALS_CUT_OFF)?;
        let kind = [LiteralsType::Raw, LiteralsType::Rle, LiteralsType::Compressed, LiteralsType::Treeless]
            [usize::from(first & 3)];
        let format = usize::from(first >> 2 & 3);
        let plain = matches!(kind, LiteralsType::Raw | LiteralsType::Rle);
        let len = if plain { [1, 2, 1, 3][format] } else { [3, 3, 4, 5][format] };
        let bytes = src.get(..len).ok_or(LITERALS_CUT_OFF)?;
        let word = bytes.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
        if plain {
            let count = (word >> [3, 4, 3, 4][format]) as usize;
            let stored = if kind == LiteralsType::Raw { count } else { 1 };
            return Ok(LiteralsHeader { kind, len, count, stored, streams: 0 });
        }
        let width = [10, 10, 14, 18][format];
        let mask = (1u64 << width) - 1;
        let (count, stored) = ((word >> 4 & mask) as usize, (word >> (4 + width) & mask) as usize);
        Ok(LiteralsHeader { kind, len, count, stored, streams: if format == 0 { 1 } else { 4 } })
    }
}

pub(crate) const NO_TREE: Error =
    Error::new(Kind::Corrupt, 0, "literals repeat a Huffman tree, but none precedes them");

/// Reads the tree description at the beginning of `src` and builds its table. Returns the length of
/// the description in bytes.
pub(crate) fn read_tree(
    kernels: KernelSet,
    src: &[u8],
    tables: &mut FrameTables,
    buffer: &mut HuffmanTableBuffer,
) -> Result<usize> {
    let mut weights = Weights::new();
    // The block is complete, so a tree that is cut off is damage.
    let used = kernel::build::weights(kernels, src, &mut weights).map_err(|e| e.with_kind(Kind::Corrupt))?;
    tables.set_huffman(kernels, &weights, buffer);
    Ok(used)
}
