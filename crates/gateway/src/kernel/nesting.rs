//! Quotes and brackets of 64 bytes as bits.

#[cfg(target_arch = "x86_64")]
use linerate_core::Tier;

#[cfg(target_arch = "x86_64")]
use crate::nesting::BLOCK;
use crate::nesting::{Marks, walk};

/// Where the value ends that begins with the bracket at `at`, as [`walk`] finds it.
pub(crate) fn nested(bytes: &[u8], at: usize) -> Result<usize, &'static str> {
    #[cfg(target_arch = "x86_64")]
    if linerate_core::cpu::tier() >= Tier::Avx2 {
        // SAFETY: the tier says that the CPU has these features.
        return unsafe { wide(bytes, at) };
    }
    walk(bytes, at, Marks::plainly)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
fn wide(bytes: &[u8], at: usize) -> Result<usize, &'static str> {
    walk(bytes, at, |block| marks(block))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn marks(block: &[u8; BLOCK]) -> Marks {
    use core::arch::x86_64::{
        __m256i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8,
        _mm256_or_si256, _mm256_set1_epi8, _mm256_slli_epi16,
    };
    // SAFETY: the block has twice 32 bytes.
    let halves: [__m256i; 2] = [0, 32].map(|at| unsafe { _mm256_loadu_si256(block.as_ptr().add(at).cast()) });
    let mask = |bits: [__m256i; 2]| {
        let [low, high] = bits.map(|half| _mm256_movemask_epi8(half).cast_unsigned());
        u64::from(high) << 32 | u64::from(low)
    };
    let equal = |to: u8| {
        let to = _mm256_set1_epi8(to.cast_signed());
        mask(halves.map(|half| _mm256_cmpeq_epi8(half, to)))
    };
    // Braces are brackets with one bit more, the sixth.
    let folded = halves.map(|half| _mm256_or_si256(half, _mm256_set1_epi8(0x20)));
    let equal_folded = |to: u8| {
        let to = _mm256_set1_epi8(to.cast_signed());
        mask(folded.map(|half| _mm256_cmpeq_epi8(half, to)))
    };
    let control = _mm256_set1_epi8(0x1f);
    let (opening, closing) = (equal_folded(b'{'), equal_folded(b'}'));
    Marks {
        quotes: equal(b'"'),
        backslashes: equal(b'\\'),
        opening,
        closing,
        braces: mask(halves.map(|half| _mm256_slli_epi16::<2>(half))) & (opening | closing),
        control: mask(halves.map(|half| _mm256_cmpeq_epi8(_mm256_min_epu8(half, control), half))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn every_byte_has_the_same_marks() {
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
                assert_eq!(unsafe { marks(&block) }, Marks::plainly(&block), "{byte} at {at}");
            }
        }
    }
}
