//! Compiles each hot loop once per CPU tier and picks one at run time.
//!
//! A loop is one `#[inline(always)]` body, generic over [`Isa`]. For each tier it is instantiated
//! inside a function with the tier's target features, so the compiler uses BMI2 shifts throughout
//! the AVX2 instance although the body never mentions them.

use linerate_core::Tier;

#[cfg(target_arch = "x86_64")]
use super::avx2::Avx2;
use super::isa::Isa;
use super::scalar::Scalar;

/// A loop compiled once per tier.
pub(crate) trait Kernel {
    type Output;
    /// # Safety
    /// The CPU must support the tier that `I` implements.
    unsafe fn run<I: Isa>(self) -> Self::Output;
}

/// Runs the instance of `kernel` for `tier`. On targets other than x86-64 this is always the scalar
/// instance.
///
/// The AVX-512 tier runs the AVX2 instance: compares are 16 bytes wide by choice (see
/// [`search`](super::search)), so wider registers would not help.
#[inline]
pub(crate) fn dispatch<K: Kernel>(tier: Tier, kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn avx2<K: Kernel>(kernel: K) -> K::Output {
            // SAFETY: this function runs only on a CPU with these features.
            unsafe { kernel.run::<Avx2>() }
        }
        if tier >= Tier::Avx2 {
            // SAFETY: callers pass the detected tier or the one in a scratch, and `set_tier`
            // accepts only supported tiers.
            return unsafe { avx2(kernel) };
        }
    }
    // Not inlined: otherwise the callers' stack frames would hold what only this form needs.
    #[inline(never)]
    fn scalar<K: Kernel>(kernel: K) -> K::Output {
        // SAFETY: every CPU supports the scalar tier.
        unsafe { kernel.run::<Scalar>() }
    }
    let _ = tier;
    scalar(kernel)
}
