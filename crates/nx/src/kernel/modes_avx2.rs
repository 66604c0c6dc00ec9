//! The AVX2 form of [`modes`](super::modes): the bytes of a block are shuffled into place.

use core::arch::x86_64::*;

use super::modes::{Gather, read_end};
use super::unalign::unalign;
use crate::filter::modes::{BLOCK, GROUPS};

/// Gathers all blocks.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn gather<const ALIGNED: bool>(gather: Gather) {
    let Gather { modes, cursors, streams, blocks } = gather;
    // For each byte of a block, which of the 16 bytes from a cursor on it is; none with the top bit.
    let endpoint_bytes: [[u8; BLOCK]; GROUPS] = core::array::from_fn(|group| {
        core::array::from_fn(
            |byte| if (1..modes.split[group]).contains(&byte) { byte as u8 - 1 } else { 0x80 },
        )
    });
    let index_bytes: [[u8; BLOCK]; GROUPS] = core::array::from_fn(|group| {
        let split = modes.split[group];
        core::array::from_fn(|byte| if byte >= split { (byte - split) as u8 } else { 0x80 })
    });
    let steps: [[usize; 2]; GROUPS] =
        core::array::from_fn(|group| [modes.split[group] - 1, BLOCK - modes.split[group]]);
    let mut at: [[usize; 2]; GROUPS] =
        core::array::from_fn(|group| [cursors.endpoints[group], cursors.indices[group]]);
    for (block, &first) in blocks.iter_mut().zip(streams) {
        let group = usize::from(modes.group[usize::from(first)]) % GROUPS;
        let [endpoints, indices] = at[group];
        at[group] = [endpoints + steps[group][0], indices + steps[group][1]];
        let endpoints = shuffle(read16(streams, endpoints), &endpoint_bytes[group]);
        let indices = shuffle(read16(streams, indices), &index_bytes[group]);
        let word = _mm_or_si128(_mm_or_si128(endpoints, indices), _mm_cvtsi32_si128(i32::from(first)));
        if ALIGNED {
            let halves = (_mm_cvtsi128_si64(word) as u64, _mm_extract_epi64::<1>(word) as u64);
            *block = unalign(u128::from(halves.0) | (u128::from(halves.1) << 64)).to_le_bytes();
        } else {
            // SAFETY: a block has 16 bytes.
            unsafe { _mm_storeu_si128(block.as_mut_ptr().cast(), word) };
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn shuffle(bytes: __m128i, order: &[u8; BLOCK]) -> __m128i {
    // SAFETY: 16 bytes.
    _mm_shuffle_epi8(bytes, unsafe { _mm_loadu_si128(order.as_ptr().cast()) })
}

/// 16 bytes from `offset` on; zeros behind the end.
#[inline]
#[target_feature(enable = "avx2")]
fn read16(bytes: &[u8], offset: usize) -> __m128i {
    match bytes.get(offset..).and_then(|bytes| bytes.first_chunk::<BLOCK>()) {
        // SAFETY: 16 bytes.
        Some(whole) => unsafe { _mm_loadu_si128(whole.as_ptr().cast()) },
        None => {
            let end = read_end(bytes, offset).to_le_bytes();
            // SAFETY: as above.
            unsafe { _mm_loadu_si128(end.as_ptr().cast()) }
        }
    }
}
