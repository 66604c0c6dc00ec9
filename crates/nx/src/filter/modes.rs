//! BC6H and BC7: blocks of each mode brought together, endpoints apart from indices.
//!
//! The first byte of every block, which tells its mode, is a stream of its own. Behind it lie, for each mode in turn, what
//! remains of its blocks before the byte in which their indices begin; then, for each mode in turn, what remains from there
//! on.
//!
//! Sources: Microsoft, "BC6H Format" and "BC7 Format Mode Reference"; Khronos, "Data Format Specification", BPTC.

use linerate_core::Tier;

use crate::kernel::modes::{BLOCK, Cursors, Gather, Modes, count, gather};

/// BC7: the mode is the number of zeros before the first one. Eight zeros are reserved.
pub(crate) static BC7: Modes =
    Modes { group: bc7_groups(), split: [10, 10, 12, 12, 6, 8, 8, 12, 16, 16, 16, 16, 16, 16, 16, 16] };

/// BC6H: modes of two and of five bits. Groups: the two modes of two bits, then by their upper three bits those of five bits
/// with two subsets (indices from bit 82) and those with one (from bit 65), at last the reserved ones.
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
    /// Where each group's streams begin, behind the first bytes of all blocks.
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

/// Where the streams of the blocks with these first bytes end.
#[cfg(feature = "pack")]
pub(super) fn stream_ends(modes: &Modes, first: &[u8]) -> Vec<usize> {
    let Cursors { endpoints, indices } = modes.cursors(linerate_core::cpu::tier(), first);
    endpoints.into_iter().chain(indices).chain([first.len() * BLOCK]).collect()
}

/// Takes the blocks apart, each as `convert` makes it, which must keep the mode. Both slices hold the same whole number of
/// blocks.
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

/// Puts the blocks together again; with `ALIGNED`, which is for BC7, as [`bc7::align`](super::bc7::align) made them.
pub(crate) fn invert<const ALIGNED: bool>(tier: Tier, modes: &Modes, streams: &[u8], blocks: &mut [u8]) {
    let (blocks, _) = blocks.as_chunks_mut::<BLOCK>();
    let cursors = modes.cursors(tier, &streams[..blocks.len()]);
    gather::<ALIGNED>(tier, Gather { modes, cursors, streams, blocks });
}
