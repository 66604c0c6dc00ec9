//! Sums over the values of a block and over their quotients, which give its size for each Rice
//! parameter.

use core::marker::PhantomData;

use super::isa::Isa;
use crate::v2::BLOCK;
use crate::v2::element::Word;

/// Computes the sums with the instructions of a CPU tier.
pub(crate) struct Sums<I>(PhantomData<I>);

impl<I: Isa> Sums<I> {
    /// # Safety
    /// The CPU must support the tier.
    pub(super) unsafe fn new() -> Sums<I> {
        Sums(PhantomData)
    }

    /// The sum of the values.
    #[inline(always)]
    pub(crate) fn values<W: Word>(&self, block: &[W; BLOCK]) -> u64 {
        // SAFETY: whoever made `self` vouches for the CPU.
        unsafe { I::sum(block) }
    }

    /// [`Isa::quotients`].
    #[inline(always)]
    pub(crate) fn quotients<W: Word>(
        &self,
        block: &[W; BLOCK],
        parameters: [u32; 3],
    ) -> Option<[(u32, u32); 3]> {
        // SAFETY: as above.
        unsafe { I::quotients(block, parameters) }
    }
}

/// Sums of words of 16 bits in AVX2 registers.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
pub(super) mod avx2 {
    use core::arch::x86_64::*;

    use super::BLOCK;
    use crate::v2::ESCAPE;

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) fn sum(block: &[u16; BLOCK]) -> u64 {
        let zero = _mm256_setzero_si256();
        let low = _mm256_set1_epi16(0xff);
        let [a, b] = load(block);
        let bytes = |a, b| _mm256_add_epi64(_mm256_sad_epu8(a, zero), _mm256_sad_epu8(b, zero));
        let lower = bytes(_mm256_and_si256(a, low), _mm256_and_si256(b, low));
        let upper = bytes(_mm256_srli_epi16::<8>(a), _mm256_srli_epi16::<8>(b));
        total(_mm256_add_epi64(lower, _mm256_slli_epi64::<8>(upper)))
    }

    #[target_feature(enable = "avx2,popcnt")]
    #[inline]
    pub(crate) fn quotients(block: &[u16; BLOCK], parameters: [u32; 3]) -> [(u32, u32); 3] {
        let [a, b] = load(block);
        let most = _mm256_set1_epi16(ESCAPE as i16);
        let of = |k: u32| {
            let k = _mm_cvtsi32_si128(k as i32);
            let a = _mm256_min_epu16(_mm256_srl_epi16(a, k), most);
            let b = _mm256_min_epu16(_mm256_srl_epi16(b, k), most);
            let escapes = _mm256_packs_epi16(_mm256_cmpeq_epi16(a, most), _mm256_cmpeq_epi16(b, most));
            // Two quotients add up to at most 30, so the upper bytes are zero.
            let sums = _mm256_sad_epu8(_mm256_add_epi16(a, b), _mm256_setzero_si256());
            (sums, _mm256_movemask_epi8(escapes).count_ones())
        };
        let ((a, a_escapes), (b, b_escapes), (c, c_escapes)) =
            (of(parameters[0]), of(parameters[1]), of(parameters[2]));
        // Each sum is at most 480.
        let both = _mm256_or_si256(a, _mm256_slli_epi64::<16>(b));
        let [a, b, c] = super::apart(total(_mm256_or_si256(both, _mm256_slli_epi64::<32>(c))));
        [(a, a_escapes), (b, b_escapes), (c, c_escapes)]
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn load(block: &[u16; BLOCK]) -> [__m256i; 2] {
        let from: *const __m256i = block.as_ptr().cast();
        // SAFETY: a block is two registers.
        unsafe { [_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1))] }
    }

    /// The sum of four lanes.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn total(lanes: __m256i) -> u64 {
        let two = _mm_add_epi64(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
        _mm_cvtsi128_si64(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two))) as u64
    }
}

/// Sums of words of 16 bits in an AVX-512 register.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
pub(super) mod avx512 {
    use core::arch::x86_64::*;

    use super::BLOCK;
    use crate::v2::ESCAPE;

    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    pub(crate) fn sum(block: &[u16; BLOCK]) -> u64 {
        let zero = _mm512_setzero_si512();
        // SAFETY: a block is one register.
        let x = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
        let lower = _mm512_sad_epu8(_mm512_and_si512(x, _mm512_set1_epi16(0xff)), zero);
        let upper = _mm512_sad_epu8(_mm512_srli_epi16::<8>(x), zero);
        _mm512_reduce_add_epi64(_mm512_add_epi64(lower, _mm512_slli_epi64::<8>(upper))) as u64
    }

    #[target_feature(enable = "avx512f,avx512bw,popcnt")]
    #[inline]
    pub(crate) fn quotients(block: &[u16; BLOCK], parameters: [u32; 3]) -> [(u32, u32); 3] {
        // SAFETY: a block is one register.
        let x = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
        let most = _mm512_set1_epi16(ESCAPE as i16);
        let of = |k: u32| {
            let q = _mm512_min_epu16(_mm512_srl_epi16(x, _mm_cvtsi32_si128(k as i32)), most);
            let escapes = _mm512_cmpeq_epu16_mask(q, most).count_ones();
            // Quotients are at most 15, so their upper bytes are zero.
            (_mm512_sad_epu8(q, _mm512_setzero_si512()), escapes)
        };
        let ((a, a_escapes), (b, b_escapes), (c, c_escapes)) =
            (of(parameters[0]), of(parameters[1]), of(parameters[2]));
        // Each sum is at most 480.
        let both = _mm512_or_si512(a, _mm512_slli_epi64::<16>(b));
        let all = _mm512_or_si512(both, _mm512_slli_epi64::<32>(c));
        let [a, b, c] = super::apart(_mm512_reduce_add_epi64(all) as u64);
        [(a, a_escapes), (b, b_escapes), (c, c_escapes)]
    }
}

/// Three sums of 16 bits.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
fn apart(sums: u64) -> [u32; 3] {
    [sums as u16, (sums >> 16) as u16, (sums >> 32) as u16].map(u32::from)
}

#[cfg(test)]
mod tests {
    use linerate_core::Tier;

    use super::super::dispatch::dispatch;
    use super::super::isa::Kernel;
    use super::*;
    use crate::v2::ESCAPE;

    struct Both<'a>(&'a [u16; BLOCK], [u32; 3]);

    impl Kernel for Both<'_> {
        type Output = (u64, Option<[(u32, u32); 3]>);

        unsafe fn run<I: Isa>(self) -> Self::Output {
            // SAFETY: the caller vouches for the CPU.
            let sums = unsafe { Sums::<I>::new() };
            (sums.values(self.0), sums.quotients(self.0, self.1))
        }
    }

    #[test]
    fn every_tier_has_the_sums_of_one_value_after_another() {
        let noise = |seed: u32, i: usize| (seed + i as u32).wrapping_mul(0x9e37_79b9).rotate_left(9) as u16;
        for seed in 0..200 {
            let block: [u16; BLOCK] = core::array::from_fn(|i| noise(40 * seed, i) >> (seed % 17).min(15));
            let block = if seed == 0 { [u16::MAX; BLOCK] } else { block };
            for k in 0..14 {
                let parameters = [k + 2, k, k + 1];
                let quotients = parameters.map(|k| {
                    let all = block.iter().map(|&x| u32::from(x >> k).min(ESCAPE));
                    (all.clone().sum::<u32>(), all.filter(|&q| q == ESCAPE).count() as u32)
                });
                let sum: u64 = block.iter().map(|&x| u64::from(x)).sum();
                for tier in Tier::ALL.into_iter().filter(|tier| tier.is_supported()) {
                    let (found, found_quotients) = dispatch(tier, Both(&block, parameters));
                    assert_eq!(found, sum, "{tier:?}");
                    assert_eq!(found_quotients, (tier > Tier::Scalar).then_some(quotients), "{tier:?}");
                }
            }
        }
    }
}
