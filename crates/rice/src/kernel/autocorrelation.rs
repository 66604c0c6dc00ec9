//! Autocorrelation of 14-bit samples.

use linerate_core::Tier;

/// Number of lags, from 0 on.
pub(crate) const LAGS: usize = crate::v2::segment::MAX_ORDER + 1;

/// For each lag the sum of products of samples that far apart. Samples must be within -2^13 and
/// 2^13.
pub(crate) fn autocorrelation(tier: Tier, x: &[i16]) -> [i64; LAGS] {
    debug_assert!(x.iter().all(|x| x.unsigned_abs() <= 1 << 13));
    let mut sums = [0; LAGS];
    let done = match tier {
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        // SAFETY: `Options` holds only tiers that were detected.
        Tier::Avx512 => unsafe { x86::avx512(x, &mut sums) },
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        // SAFETY: as above.
        Tier::Avx2 => unsafe { x86::avx2(x, &mut sums) },
        _ => 0,
    };
    for (lag, sum) in sums.iter_mut().enumerate() {
        let late = x.get(done + lag..).unwrap_or_default();
        *sum += late.chunks(256).zip(x[done..].chunks(256)).map(|(a, b)| correlate(a, b)).sum::<i64>();
    }
    sums
}

/// Sum of products of at most 256 pairs, in two halves that 32 bits can hold.
#[inline(always)]
pub(super) fn correlate(a: &[i16], b: &[i16]) -> i64 {
    let (mut high, mut low) = (0i32, 0i32);
    for (&a, &b) in a.iter().zip(b) {
        let product = i32::from(a) * i32::from(b);
        high += product >> 16;
        low += product & 0xffff;
    }
    (i64::from(high) << 16) + i64::from(low)
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod x86 {
    use core::arch::x86_64::*;

    use super::LAGS;

    /// Registers that can be added before a sum of pairs of products, each at most 2^27, may overflow.
    const TIMES: usize = 8;

    /// Adds to `sums` the products of the samples in whole registers with the samples after them. Returns
    /// their number.
    macro_rules! correlate {
        ($name:ident, $features:literal, $lanes:literal, $load:ident, $zero:ident, $madd:ident, $add:ident, $store:ident) => {
            #[target_feature(enable = $features)]
            pub(super) fn $name(x: &[i16], sums: &mut [i64; LAGS]) -> usize {
                let registers = x.len().saturating_sub(LAGS - 1) / $lanes;
                let mut first = 0;
                while first < registers {
                    let last = registers.min(first + TIMES);
                    let mut all = [$zero(); LAGS];
                    for i in first..last {
                        // SAFETY: LAGS - 1 samples follow the last of the registers.
                        unsafe {
                            let at = x.as_ptr().add(i * $lanes);
                            let early = $load(at.cast());
                            for (lag, sum) in all.iter_mut().enumerate() {
                                *sum = $add(*sum, $madd(early, $load(at.add(lag).cast())));
                            }
                        }
                    }
                    for (sum, part) in sums.iter_mut().zip(all) {
                        let mut parts = [0i32; $lanes / 2];
                        // SAFETY: as many 32-bit words as the register has.
                        unsafe { $store(parts.as_mut_ptr().cast(), part) };
                        *sum += parts.into_iter().map(i64::from).sum::<i64>();
                    }
                    first = last;
                }
                registers * $lanes
            }
        };
    }

    correlate!(
        avx2,
        "avx2",
        16,
        _mm256_loadu_si256,
        _mm256_setzero_si256,
        _mm256_madd_epi16,
        _mm256_add_epi32,
        _mm256_storeu_si256
    );
    correlate!(
        avx512,
        "avx512f,avx512bw",
        32,
        _mm512_loadu_si512,
        _mm512_setzero_si512,
        _mm512_madd_epi16,
        _mm512_add_epi32,
        _mm512_storeu_si512
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tier_finds_the_same_sums() {
        for n in [0, 1, 8, 9, 40, 41, 255, 300, 5000] {
            let x: Vec<i16> = (0..n).map(|i: i64| (i * i * 7919 % 16_384 - 8192) as i16).collect();
            let want: Vec<i64> = (0..LAGS)
                .map(|lag| x.iter().skip(lag).zip(&x).map(|(&a, &b)| i64::from(a) * i64::from(b)).sum())
                .collect();
            for tier in Tier::ALL.into_iter().filter(|t| t.is_supported()) {
                assert_eq!(autocorrelation(tier, &x)[..], want[..], "{n} samples, {tier:?}");
            }
        }
        let extremes = vec![-8192; 10_000];
        for tier in Tier::ALL.into_iter().filter(|t| t.is_supported()) {
            assert_eq!(autocorrelation(tier, &extremes)[8], 9992 * 8192 * 8192);
        }
    }
}
