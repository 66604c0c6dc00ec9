//! Arithmetic on eight `f64` at once, in the registers of a CPU tier. All tiers give the same
//! results, since no multiplication is fused with an addition.

/// Eight numbers.
///
/// # Safety
/// For all functions, the CPU must support the tier.
pub(crate) trait Lanes: Copy {
    unsafe fn load(from: &[f64; 8]) -> Self;
    unsafe fn store(self, to: &mut [f64; 8]);
    unsafe fn splat(x: f64) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    unsafe fn mul(self, other: Self) -> Self;
    unsafe fn div(self, other: Self) -> Self;
    /// Returns the larger number of each pair. Neither may be NaN.
    unsafe fn max(self, other: Self) -> Self;
}

/// Implements an operation that works on each register. It is a macro because closures are compiled
/// without the features of the tier.
macro_rules! each {
    ($name:ident: $operation:expr, $($i:literal)*) => {
        #[inline(always)]
        unsafe fn $name(self, other: Self) -> Self {
            #[allow(unused_unsafe, reason = "the scalar tier has safe operations")]
            // SAFETY: the CPU supports the tier.
            unsafe { [$($operation(self[$i], other[$i])),*] }
        }
    };
}

impl Lanes for [f64; 8] {
    #[inline(always)]
    unsafe fn load(from: &[f64; 8]) -> Self {
        *from
    }
    #[inline(always)]
    unsafe fn store(self, to: &mut [f64; 8]) {
        *to = self;
    }
    #[inline(always)]
    unsafe fn splat(x: f64) -> Self {
        [x; 8]
    }
    each!(add: core::ops::Add::add, 0 1 2 3 4 5 6 7);
    each!(sub: core::ops::Sub::sub, 0 1 2 3 4 5 6 7);
    each!(mul: core::ops::Mul::mul, 0 1 2 3 4 5 6 7);
    each!(div: core::ops::Div::div, 0 1 2 3 4 5 6 7);
    each!(max: f64::max, 0 1 2 3 4 5 6 7);
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod x86 {
    use core::arch::x86_64::*;

    use super::Lanes;

    impl Lanes for [__m256d; 2] {
        #[inline(always)]
        unsafe fn load(from: &[f64; 8]) -> Self {
            let at = from.as_ptr();
            // SAFETY: eight numbers are two registers; the CPU supports the tier.
            unsafe { [_mm256_loadu_pd(at), _mm256_loadu_pd(at.add(4))] }
        }
        #[inline(always)]
        unsafe fn store(self, to: &mut [f64; 8]) {
            let at = to.as_mut_ptr();
            // SAFETY: as above.
            unsafe {
                _mm256_storeu_pd(at, self[0]);
                _mm256_storeu_pd(at.add(4), self[1]);
            }
        }
        #[inline(always)]
        unsafe fn splat(x: f64) -> Self {
            // SAFETY: the CPU supports the tier.
            unsafe { [_mm256_set1_pd(x); 2] }
        }
        each!(add: _mm256_add_pd, 0 1);
        each!(sub: _mm256_sub_pd, 0 1);
        each!(mul: _mm256_mul_pd, 0 1);
        each!(div: _mm256_div_pd, 0 1);
        each!(max: _mm256_max_pd, 0 1);
    }

    impl Lanes for [__m512d; 1] {
        #[inline(always)]
        unsafe fn load(from: &[f64; 8]) -> Self {
            // SAFETY: eight numbers are one register; the CPU supports the tier.
            unsafe { [_mm512_loadu_pd(from.as_ptr())] }
        }
        #[inline(always)]
        unsafe fn store(self, to: &mut [f64; 8]) {
            // SAFETY: as above.
            unsafe { _mm512_storeu_pd(to.as_mut_ptr(), self[0]) };
        }
        #[inline(always)]
        unsafe fn splat(x: f64) -> Self {
            // SAFETY: the CPU supports the tier.
            unsafe { [_mm512_set1_pd(x)] }
        }
        each!(add: _mm512_add_pd, 0);
        each!(sub: _mm512_sub_pd, 0);
        each!(mul: _mm512_mul_pd, 0);
        each!(div: _mm512_div_pd, 0);
        each!(max: _mm512_max_pd, 0);
    }
}
