//! Computes the character classes of 64 bytes as bit masks.

#[cfg(target_arch = "x86_64")]
use linerate_core::Tier;

#[cfg(target_arch = "x86_64")]
use crate::nesting::BLOCK;
use crate::nesting::{CharMasks, match_brackets};

/// Returns the end of the value that begins with the bracket at `at`; see [`match_brackets`].
pub(crate) fn find_value_end(bytes: &[u8], at: usize) -> Result<usize, &'static str> {
    #[cfg(target_arch = "x86_64")]
    if linerate_core::cpu::tier() >= Tier::Avx2 {
        // SAFETY: the tier implies that the CPU has these features.
        return unsafe { avx2(bytes, at) };
    }
    match_brackets(bytes, at, CharMasks::scalar)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
fn avx2(bytes: &[u8], at: usize) -> Result<usize, &'static str> {
    match_brackets(bytes, at, |block| masks(block))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn masks(block: &[u8; BLOCK]) -> CharMasks {
    use core::arch::x86_64::{
        __m256i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8,
        _mm256_or_si256, _mm256_set1_epi8, _mm256_slli_epi16,
    };
    // SAFETY: the block has 64 bytes.
    let halves: [__m256i; 2] = [0, 32].map(|at| unsafe { _mm256_loadu_si256(block.as_ptr().add(at).cast()) });
    let mask = |bits: [__m256i; 2]| {
        let [low, high] = bits.map(|half| _mm256_movemask_epi8(half).cast_unsigned());
        u64::from(high) << 32 | u64::from(low)
    };
    let equal = |to: u8| {
        let to = _mm256_set1_epi8(to.cast_signed());
        mask(halves.map(|half| _mm256_cmpeq_epi8(half, to)))
    };
    // `{` and `[`, and `}` and `]`, differ only in bit 0x20, so one comparison finds both.
    let folded = halves.map(|half| _mm256_or_si256(half, _mm256_set1_epi8(0x20)));
    let equal_folded = |to: u8| {
        let to = _mm256_set1_epi8(to.cast_signed());
        mask(folded.map(|half| _mm256_cmpeq_epi8(half, to)))
    };
    let control = _mm256_set1_epi8(0x1f);
    let (opening, closing) = (equal_folded(b'{'), equal_folded(b'}'));
    CharMasks {
        quotes: equal(b'"'),
        backslashes: equal(b'\\'),
        opening,
        closing,
        braces: mask(halves.map(|half| _mm256_slli_epi16::<2>(half))) & (opening | closing),
        control: mask(halves.map(|half| _mm256_cmpeq_epi8(_mm256_min_epu8(half, control), half))),
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn avx2_masks_equal_scalar_masks_for_every_byte() {
        if linerate_core::cpu::tier() < Tier::Avx2 {
            println!("SKIP: this CPU has no AVX2");
            return;
        }
        for byte in 0..=255u8 {
            for at in 0..BLOCK {
                let mut block = [b'a'; BLOCK];
                block[at] = byte;
                block[(at + 7) % BLOCK] = byte.wrapping_add(3);
                // SAFETY: the CPU has the features.
                assert_eq!(unsafe { masks(&block) }, CharMasks::scalar(&block), "{byte} at {at}");
            }
        }
    }
}
