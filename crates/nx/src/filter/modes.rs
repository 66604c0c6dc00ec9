//! BC6H and BC7: blocks of each mode brought together, endpoints apart from indices.
//!
//! The first byte of every block, which tells its mode, is a stream of its own. Behind it lie, for each mode in turn, what
//! remains of its blocks before the byte in which their indices begin; then, for each mode in turn, what remains from there
//! on.
//!
//! Sources: Microsoft, "BC6H Format" and "BC7 Format Mode Reference"; Khronos, "Data Format Specification", BPTC.

use linerate_core::Tier;

use crate::kernel::modes::{BLOCK, Cursors, GROUPS, Gather, Modes, gather};

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
    fn cursors(&self, first: impl Iterator<Item = u8>) -> Cursors {
        // Four histograms, so that runs of one byte do not wait for their own counter.
        let mut counts = [[0usize; 256]; 4];
        let mut end = 0;
        for byte in first {
            counts[end % 4][usize::from(byte)] += 1;
            end += 1;
        }
        let mut blocks = [0; GROUPS];
        for (byte, &group) in self.group.iter().enumerate() {
            blocks[usize::from(group)] += counts.iter().map(|counts| counts[byte]).sum::<usize>();
        }
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
    let Cursors { endpoints, indices } = modes.cursors(first.iter().copied());
    endpoints.into_iter().chain(indices).chain([first.len() * BLOCK]).collect()
}

/// Takes the blocks apart, each as `convert` makes it, which must keep the mode. Both slices hold the same whole number of
/// blocks.
pub(crate) fn apply(modes: &Modes, convert: fn(u128) -> u128, blocks: &[u8], streams: &mut [u8]) {
    let convert = |block: &[u8; BLOCK]| convert(u128::from_le_bytes(*block)).to_le_bytes();
    let (blocks, _) = blocks.as_chunks::<BLOCK>();
    let mut cursors = modes.cursors(blocks.iter().map(|block| convert(block)[0]));
    for (i, block) in blocks.iter().map(convert).enumerate() {
        let group = usize::from(modes.group[usize::from(block[0])]);
        let (first, rest) = block.split_at(1);
        let (endpoints, indices) = rest.split_at(modes.split[group] - 1);
        streams[i] = first[0];
        streams[cursors.endpoints[group]..][..endpoints.len()].copy_from_slice(endpoints);
        streams[cursors.indices[group]..][..indices.len()].copy_from_slice(indices);
        cursors.endpoints[group] += endpoints.len();
        cursors.indices[group] += indices.len();
    }
}

/// Puts the blocks together again; with `ALIGNED`, which is for BC7, as [`bc7::align`](super::bc7::align) made them.
pub(crate) fn invert<const ALIGNED: bool>(tier: Tier, modes: &Modes, streams: &[u8], blocks: &mut [u8]) {
    let (blocks, _) = blocks.as_chunks_mut::<BLOCK>();
    let cursors = modes.cursors(streams[..blocks.len()].iter().copied());
    gather::<ALIGNED>(tier, Gather { modes, cursors, streams, blocks });
}
