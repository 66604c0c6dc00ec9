//! Compiles each hot loop once per [`Isa`], and picks an instance at run time.
//!
//! A loop is one generic body over [`Isa`], `#[inline(always)]`. Each [`Isa`] has one function that
//! carries its target features and instantiates the body. The compiler therefore uses BMI2 shifts
//! and masks throughout the AVX2 instance, although the body never mentions them.

use linerate_core::Tier;

#[cfg(all(target_arch = "x86_64", feature = "std", not(feature = "small")))]
use super::avx2::Avx2;
use super::isa::Isa;
use super::scalar::Scalar;

/// A loop compiled once per [`Isa`].
pub(crate) trait Kernel {
    type Output;
    /// # Safety
    /// The CPU must support the tier of `I`.
    unsafe fn run<I: Isa>(self) -> Self::Output;
}

/// Runs `kernel` as compiled for `tier`, which the CPU must support. AVX-512 does not speed up
/// loops of shifts and short copies, so its tier runs the AVX2 instance.
#[inline]
pub(crate) fn dispatch<K: Kernel>(tier: Tier, kernel: K) -> K::Output {
    // Without std, only the scalar tier is detected.
    #[cfg(all(target_arch = "x86_64", feature = "std", not(feature = "small")))]
    {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn avx2<K: Kernel>(kernel: K) -> K::Output {
            // SAFETY: reached only on a CPU with these features.
            unsafe { kernel.run::<Avx2>() }
        }
        if tier >= Tier::Avx2 {
            // SAFETY: a `KernelSet` holds only tiers that the CPU supports.
            return unsafe { avx2(kernel) };
        }
    }
    #[inline(never)]
    fn scalar<K: Kernel>(kernel: K) -> K::Output {
        // SAFETY: every CPU supports the scalar tier.
        unsafe { kernel.run::<Scalar>() }
    }
    let _ = tier;
    scalar(kernel)
}
