//! The AVX2 form of [`modes`](super::modes): 64 blocks at a time, group by group. The inner loop
//! handles one group, so its shuffles are constant, and cursors do not depend on the group of the
//! block before.

use core::arch::x86_64::*;

use super::modes::{BLOCK, GROUPS, Gather, Modes, read_end};
use super::unalign::unalign;
use super::unalign_avx2::{mode_1, mode_3, mode_6};

/// Number of blocks that are joined at a time. Each has a bit of a mask.
pub(super) const BATCH: usize = 64;

/// The shuffles and steps that all blocks of a group share.
pub(super) struct Group {
    /// For each byte of a block, its index in the 16 bytes at the cursor of the endpoints. The top
    /// bit is set if this stream does not have the byte.
    pub(super) endpoints_to: __m128i,
    /// The same for the stream of the indices.
    pub(super) indices_to: __m128i,
    /// Number of bytes of a block in each stream.
    pub(super) steps: [usize; 2],
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn groups_of(modes: &Modes) -> [Group; GROUPS] {
    core::array::from_fn(|group| {
        let split = modes.split[group];
        let endpoint = |byte| if (1..split).contains(&byte) { byte as u8 - 1 } else { 0x80 };
        let index = |byte| if byte >= split { (byte - split) as u8 } else { 0x80 };
        Group {
            endpoints_to: from_bytes(&core::array::from_fn(endpoint)),
            indices_to: from_bytes(&core::array::from_fn(index)),
            steps: [split - 1, BLOCK - split],
        }
    })
}

/// Joins all blocks.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn gather<const ALIGNED: bool>(gather: Gather) {
    let Gather { modes, cursors, streams, blocks } = gather;
    let groups = groups_of(modes);
    let mut at: [[usize; 2]; GROUPS] =
        core::array::from_fn(|group| [cursors.endpoints[group], cursors.indices[group]]);
    for (blocks, first) in blocks.chunks_mut(BATCH).zip(streams.chunks(BATCH)) {
        // Entries after the last block keep a number that no group has.
        let mut of_blocks = [u8::MAX; BATCH];
        for (group, &first) in of_blocks.iter_mut().zip(&first[..blocks.len()]) {
            *group = modes.group[usize::from(first)];
        }
        for (number, group) in groups.iter().enumerate() {
            let mask = equal(&of_blocks, number as u8);
            if mask == 0 {
                continue;
            }
            let cursors = at[number];
            let count = mask.count_ones() as usize;
            at[number] = [cursors[0] + count * group.steps[0], cursors[1] + count * group.steps[1]];
            if at[number].iter().all(|end| end + BLOCK <= streams.len()) {
                // SAFETY: the mask has only bits of these blocks. Each block reads 16 bytes at
                // cursors that are not above the end cursors, and these were checked to have 16
                // bytes after them.
                unsafe { gather_group::<ALIGNED>(number, group, mask, cursors, streams, first, blocks) };
            } else {
                gather_each::<ALIGNED>(group, mask, cursors, streams, first, blocks);
            }
        }
    }
}

/// Joins the blocks of a group that are in the mask, one by one. Used near the end of the streams.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn gather_each<const ALIGNED: bool>(
    group: &Group,
    mut mask: u64,
    [mut endpoints, mut indices]: [usize; 2],
    streams: &[u8],
    first: &[u8],
    blocks: &mut [[u8; BLOCK]],
) {
    while mask != 0 {
        let i = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        let fields = [read16(streams, endpoints), read16(streams, indices)];
        let word = u128::from_le_bytes(to_bytes(join(group, fields, first[i])));
        blocks[i] = if ALIGNED { unalign(word) } else { word }.to_le_bytes();
        endpoints += group.steps[0];
        indices += group.steps[1];
    }
}

/// Joins the blocks of a group that are in the mask.
///
/// # Safety
/// Every bit of the mask must be the number of a block and of its first byte, and the streams must
/// have 16 bytes at each cursor that these blocks use.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn gather_group<const ALIGNED: bool>(
    number: usize,
    group: &Group,
    mask: u64,
    cursors: [usize; 2],
    streams: &[u8],
    first: &[u8],
    blocks: &mut [[u8; BLOCK]],
) {
    let each = Each { mask, cursors, steps: group.steps, streams, first, blocks };
    // SAFETY: the caller guarantees what `# Safety` requires.
    unsafe {
        match number {
            1 if ALIGNED => each.run(|fields, first| mode_1(fields, first)),
            3 if ALIGNED => each.run(|fields, first| mode_3(fields, first)),
            6 if ALIGNED => each.run(|fields, first| mode_6(fields, first)),
            _ => each.run(|fields, first| join(group, fields, first)),
        }
    }
}

/// The blocks of one group in a batch.
struct Each<'a> {
    mask: u64,
    cursors: [usize; 2],
    steps: [usize; 2],
    streams: &'a [u8],
    first: &'a [u8],
    blocks: &'a mut [[u8; BLOCK]],
}

impl Each<'_> {
    /// Makes each block from the 16 bytes at each of its cursors, and its first byte.
    ///
    /// # Safety
    /// The requirements of [`gather_group`].
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn run(self, block_of: impl Fn([__m128i; 2], u8) -> __m128i) {
        let Each { mut mask, cursors, steps, streams, first, blocks } = self;
        // SAFETY: the caller guarantees what `# Safety` requires.
        unsafe {
            let mut endpoints = streams.as_ptr().add(cursors[0]);
            let mut indices = streams.as_ptr().add(cursors[1]);
            while mask != 0 {
                let i = mask.trailing_zeros() as usize;
                mask &= mask - 1;
                let fields = [_mm_loadu_si128(endpoints.cast()), _mm_loadu_si128(indices.cast())];
                let block = block_of(fields, *first.get_unchecked(i));
                _mm_storeu_si128(blocks.as_mut_ptr().add(i).cast(), block);
                endpoints = endpoints.add(steps[0]);
                indices = indices.add(steps[1]);
            }
        }
    }
}

/// Makes a block from its fields, which are not aligned.
#[inline]
#[target_feature(enable = "avx2")]
fn join(group: &Group, [endpoints, indices]: [__m128i; 2], first: u8) -> __m128i {
    let endpoints = _mm_shuffle_epi8(endpoints, group.endpoints_to);
    let indices = _mm_shuffle_epi8(indices, group.indices_to);
    _mm_or_si128(_mm_or_si128(endpoints, indices), _mm_cvtsi32_si128(i32::from(first)))
}

/// Returns a mask with a bit for each byte that equals `value`.
#[inline]
#[target_feature(enable = "avx2")]
fn equal(bytes: &[u8; BATCH], value: u8) -> u64 {
    let value = _mm256_set1_epi8(value.cast_signed());
    let half = |start: usize| {
        // SAFETY: there are 32 bytes at offset 0 and at offset 32.
        let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().add(start).cast()) };
        u64::from(_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, value)).cast_unsigned())
    };
    half(0) | (half(32) << 32)
}

/// Returns 16 bytes at `offset`, with zeros after the end.
#[inline]
#[target_feature(enable = "avx2")]
fn read16(bytes: &[u8], offset: usize) -> __m128i {
    match bytes.get(offset..).and_then(|bytes| bytes.first_chunk::<BLOCK>()) {
        Some(whole) => from_bytes(whole),
        None => from_bytes(&read_end(bytes, offset).to_le_bytes()),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn from_bytes(bytes: &[u8; BLOCK]) -> __m128i {
    // SAFETY: the array has 16 bytes.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn to_bytes(block: __m128i) -> [u8; BLOCK] {
    let mut bytes = [0; BLOCK];
    // SAFETY: the array has 16 bytes.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), block) };
    bytes
}
