//! Finds the positions of ones, 64 bits at a time, in AVX-512 registers.

use core::arch::x86_64::*;

use super::unary_scalar::SLACK;

/// Finds the 1 bits of `words` as [`unary_scalar`](super::unary_scalar) does. A register holds the
/// positions of 64 bits, and the positions of 1 bits are compressed to its front.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
pub(super) fn find(words: &[[u8; 8]], positions: &mut [u8]) -> Option<usize> {
    let capacity = positions.len() - SLACK;
    let mut found = 0;
    let counting: [u8; 64] = core::array::from_fn(|i| i as u8);
    // SAFETY: 64 bytes.
    let mut position = unsafe { _mm512_loadu_si512(counting.as_ptr().cast()) };
    for word in words {
        let word = u64::from_le_bytes(*word);
        let ones = word.count_ones() as usize;
        if ones == 0 || found + ones > capacity {
            return None;
        }
        let together = _mm512_maskz_compress_epi8(word, position);
        // SAFETY: `found` is at most `capacity`, and `positions` has SLACK = 64 bytes more.
        unsafe { _mm512_storeu_si512(positions.as_mut_ptr().add(found).cast(), together) };
        found += ones;
        position = _mm512_add_epi8(position, _mm512_set1_epi8(64));
    }
    Some(found)
}
