//! Groups the blocks of BC6H and BC7 by mode, and separates endpoints from indices.
//!
//! The first bytes of all blocks, which select their modes, form the first stream. For each mode in
//! turn, a stream follows with the next bytes of its blocks, before the byte in which the indices
//! begin. Then, for each mode in turn, a stream follows with that byte and the rest.
//!
//! Sources: Microsoft, "BC6H Format" and "BC7 Format Mode Reference"; Khronos, "Data Format
//! Specification", BPTC.

use linerate_core::Tier;

use crate::kernel::modes::{BLOCK, Cursors, Gather, Modes, count, gather};

/// BC7. The mode is the number of 0 bits before the first 1 bit. Eight 0 bits are reserved.
pub(crate) static BC7: Modes =
    Modes { group: bc7_groups(), split: [10, 10, 12, 12, 6, 8, 8, 12, 16, 16, 16, 16, 16, 16, 16, 16] };

/// BC6H. Modes have two or five bits. The first groups are the two modes of two bits. Then come the
/// modes of five bits, ordered by their upper three bits: first those with two subsets, then those
/// with one. Indices begin at bit 82 if there are two subsets, as in modes of two bits, else at bit
/// 65. Group 14 has the reserved modes, and group 15 is unused.
pub(crate) static BC6H: Modes =
    Modes { group: bc6h_groups(), split: [10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 8, 8, 8, 8, 16, 16] };

const fn bc7_groups() -> [u8; 256] {
    let mut groups = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        groups[byte] = (byte as u8).trailing_zeros() as u8;
        byte += 1;
    }
    groups
}

const fn bc6h_groups() -> [u8; 256] {
    let mut groups = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        groups[byte] = match byte & 31 {
            bits if bits & 3 < 2 => (bits & 3) as u8,
            bits if bits & 3 == 2 => 2 + (bits >> 2) as u8,
            bits if bits < 16 => 10 + (bits >> 2) as u8,
            _ => 14,
        };
        byte += 1;
    }
    groups
}

impl Modes {
    /// Returns the offsets at which the streams of each group begin, after the first bytes of all
    /// blocks.
    fn cursors(&self, tier: Tier, first: &[u8]) -> Cursors {
        let blocks = count(tier, self, first);
        let mut end = first.len();
        let mut cursors = Cursors::default();
        for (group, cursor) in cursors.endpoints.iter_mut().enumerate() {
            *cursor = end;
            end += blocks[group] * (self.split[group] - 1);
        }
        for (group, cursor) in cursors.indices.iter_mut().enumerate() {
            *cursor = end;
            end += blocks[group] * (BLOCK - self.split[group]);
        }
        cursors
    }
}

/// Returns the end offsets of the streams of blocks with these first bytes.
#[cfg(feature = "pack")]
pub(super) fn stream_ends(modes: &Modes, first: &[u8]) -> Vec<usize> {
    let Cursors { endpoints, indices } = modes.cursors(linerate_core::cpu::tier(), first);
    endpoints.into_iter().chain(indices).chain([first.len() * BLOCK]).collect()
}

/// Converts each block by `convert`, which must keep the mode, and splits the blocks into streams.
/// Both slices hold the same whole number of blocks.
pub(crate) fn apply(modes: &Modes, convert: fn(u128) -> u128, blocks: &[u8], streams: &mut [u8]) {
    let (blocks, _) = blocks.as_chunks::<BLOCK>();
    let (first, _) = streams.split_at_mut(blocks.len());
    for (first, block) in first.iter_mut().zip(blocks) {
        *first = block[0];
    }
    let mut cursors = modes.cursors(linerate_core::cpu::tier(), first);
    for (i, block) in blocks.iter().enumerate() {
        let block = convert(u128::from_le_bytes(*block)).to_le_bytes();
        let group = usize::from(modes.group[usize::from(block[0])]);
        let (endpoints, indices) = block[1..].split_at(modes.split[group] - 1);
        streams[i] = block[0];
        streams[cursors.endpoints[group]..][..endpoints.len()].copy_from_slice(endpoints);
        streams[cursors.indices[group]..][..indices.len()].copy_from_slice(indices);
        cursors.endpoints[group] += endpoints.len();
        cursors.indices[group] += indices.len();
    }
}

/// Joins the streams to blocks again. `ALIGNED` is for BC7 blocks that
/// [`bc7::align`](super::bc7::align) has converted.
pub(crate) fn invert<const ALIGNED: bool>(tier: Tier, modes: &Modes, streams: &[u8], blocks: &mut [u8]) {
    let (blocks, _) = blocks.as_chunks_mut::<BLOCK>();
    let cursors = modes.cursors(tier, &streams[..blocks.len()]);
    gather::<ALIGNED>(tier, Gather { modes, cursors, streams, blocks });
}
