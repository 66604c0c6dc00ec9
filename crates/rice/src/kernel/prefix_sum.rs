//! Turns zigzag values into samples, in place.

use super::code::unzigzag;

/// Decodes zigzag values to samples. With `delta` the samples are the running sums of the values,
/// starting at `last`. Returns the last sample.
#[inline(always)]
pub(super) fn to_samples(values: &mut [i16], last: i16, delta: bool) -> i16 {
    #[cfg(target_arch = "x86_64")]
    if delta {
        let (blocks, rest) = values.as_chunks_mut();
        let last = sse2::sums(blocks, last);
        return plain(rest, last, true);
    }
    plain(values, last, delta)
}

#[inline(always)]
fn plain(values: &mut [i16], mut last: i16, delta: bool) -> i16 {
    // The compiler vectorises this loop, but cannot vectorise the sums below.
    values.iter_mut().for_each(|x| *x = unzigzag(*x as u16));
    if !delta {
        return values.last().copied().unwrap_or(last);
    }
    for x in values {
        last = last.wrapping_add(*x);
        *x = last;
    }
    last
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use core::arch::x86_64::*;

    /// Decodes eight samples at a time: forms sums of two, four and eight neighbours, then adds the
    /// sample before them.
    #[inline(always)]
    pub(super) fn sums(blocks: &mut [[i16; 8]], last: i16) -> i16 {
        // SAFETY: SSE2 is part of x86-64, and a block has 16 bytes.
        unsafe {
            let (zero, one) = (_mm_setzero_si128(), _mm_set1_epi16(1));
            let mut last = _mm_set1_epi16(last);
            for block in blocks {
                let block = block.as_mut_ptr().cast();
                let z = _mm_loadu_si128(block);
                let sign = _mm_sub_epi16(zero, _mm_and_si128(z, one));
                let y = _mm_xor_si128(_mm_srli_epi16::<1>(z), sign);
                let twos = _mm_add_epi16(y, _mm_slli_si128::<2>(y));
                let fours = _mm_add_epi16(twos, _mm_slli_si128::<4>(twos));
                let eights = _mm_add_epi16(fours, _mm_slli_si128::<8>(fours));
                let x = _mm_add_epi16(eights, last);
                _mm_storeu_si128(block, x);
                last = _mm_shuffle_epi32::<0xff>(_mm_shufflehi_epi16::<0xff>(x));
            }
            _mm_cvtsi128_si32(last) as i16
        }
    }
}
