//! Joins the blocks of BC6H and BC7. Each block is read at the cursors of its group's two streams.

use linerate_core::Tier;

use super::dispatch::{Kernel, dispatch};
use super::unalign::unalign;

/// Bytes of a block.
pub(crate) const BLOCK: usize = 16;
/// Maximum number of groups of a format.
pub(crate) const GROUPS: usize = 16;

/// The grouping of a format's blocks.
pub(crate) struct Modes {
    /// The group of a block by its first byte. The blocks of each mode are a group, and those of
    /// all reserved modes are one.
    pub(crate) group: [u8; 256],
    /// For each group, the byte of its blocks in which the indices begin, 1 to 16. It is 16 for
    /// reserved modes, which have no indices, and for unused groups.
    pub(crate) split: [usize; GROUPS],
}

/// For each group, the offsets of its next bytes in the streams.
#[derive(Default)]
pub(crate) struct Cursors {
    pub(crate) endpoints: [usize; GROUPS],
    pub(crate) indices: [usize; GROUPS],
}

/// The input and output of [`gather`].
pub(crate) struct Gather<'a> {
    pub(crate) modes: &'a Modes,
    pub(crate) cursors: Cursors,
    /// The first bytes of all blocks, then their other bytes by group.
    pub(crate) streams: &'a [u8],
    pub(crate) blocks: &'a mut [[u8; BLOCK]],
}

/// Returns the number of blocks in each group, by their first bytes.
pub(crate) fn count(tier: Tier, modes: &Modes, first: &[u8]) -> [usize; GROUPS] {
    #[cfg(target_arch = "x86_64")]
    if tier == Tier::Avx512 && tier.is_supported() {
        // SAFETY: the CPU has the tier's features.
        return unsafe { super::modes_avx512::count(modes, first) };
    }
    let _ = tier;
    // Four histograms, so that runs of the same byte do not wait for one counter.
    let mut counts = [[0usize; 256]; 4];
    for (i, &byte) in first.iter().enumerate() {
        counts[i % 4][usize::from(byte)] += 1;
    }
    let mut blocks = [0; GROUPS];
    for (byte, &group) in modes.group.iter().enumerate() {
        blocks[usize::from(group)] += counts.iter().map(|counts| counts[byte]).sum::<usize>();
    }
    blocks
}

/// Joins all blocks.
pub(crate) fn gather<const ALIGNED: bool>(tier: Tier, gather: Gather) {
    struct Run<'a, const ALIGNED: bool>(Gather<'a>);
    impl<const ALIGNED: bool> Kernel for Run<'_, ALIGNED> {
        #[inline(always)]
        fn run(self) {
            run::<ALIGNED>(self.0);
        }
    }
    #[cfg(target_arch = "x86_64")]
    if tier == Tier::Avx512 && tier.is_supported() {
        // SAFETY: the CPU has the tier's features.
        return unsafe { super::modes_avx512::gather::<ALIGNED>(gather) };
    }
    #[cfg(target_arch = "x86_64")]
    if tier >= Tier::Avx2 && Tier::Avx2.is_supported() {
        // SAFETY: the CPU has AVX2.
        return unsafe { super::modes_avx2::gather::<ALIGNED>(gather) };
    }
    dispatch(tier, Run::<ALIGNED>(gather));
}

/// The positions of endpoints and indices in a group's blocks.
#[derive(Clone, Copy)]
struct Group {
    /// Mask of the endpoint bytes of a block. Byte 0 is the block's first byte.
    mask: u128,
    /// Number of bits before the indices, below 128. In a block without indices it is 0, and
    /// `index_mask` clears the bytes that were read for them.
    shift: u32,
    index_mask: u128,
    endpoints: usize,
    indices: usize,
}

#[inline(always)]
fn run<const ALIGNED: bool>(gather: Gather) {
    let Gather { modes, mut cursors, streams, blocks } = gather;
    let groups: [Group; GROUPS] = core::array::from_fn(|i| {
        let split = modes.split[i];
        Group {
            mask: (u128::MAX >> (128 - 8 * split)) & !0xff,
            shift: 8 * split as u32 % 128,
            index_mask: if split == BLOCK { 0 } else { u128::MAX },
            endpoints: split - 1,
            indices: BLOCK - split,
        }
    });
    for (block, &first) in blocks.iter_mut().zip(streams) {
        let group = usize::from(modes.group[usize::from(first)]) % GROUPS;
        let (endpoints, indices) = (cursors.endpoints[group], cursors.indices[group]);
        let group_of = groups[group];
        cursors.endpoints[group] = endpoints + group_of.endpoints;
        cursors.indices[group] = indices + group_of.indices;
        let before = (read16(streams, endpoints) << 8) & group_of.mask;
        let behind = (read16(streams, indices) & group_of.index_mask) << group_of.shift;
        let word = u128::from(first) | before | behind;
        *block = (if ALIGNED { unalign(word) } else { word }).to_le_bytes();
    }
}

/// Returns 16 bytes at `offset`, with zeros after the end.
#[inline(always)]
fn read16(bytes: &[u8], offset: usize) -> u128 {
    if let Some(whole) = bytes.get(offset..).and_then(|bytes| bytes.first_chunk()) {
        return u128::from_le_bytes(*whole);
    }
    read_end(bytes, offset)
}

/// Does [`read16`] where fewer than 16 bytes are left.
#[cold]
pub(super) fn read_end(bytes: &[u8], offset: usize) -> u128 {
    let rest = bytes.get(offset..).unwrap_or_default();
    let mut whole = [0; 16];
    whole[..rest.len()].copy_from_slice(rest);
    u128::from_le_bytes(whole)
}
