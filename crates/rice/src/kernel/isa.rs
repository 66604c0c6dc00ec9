//! What differs between CPU tiers, and the dispatch to a loop compiled for one.
//!
//! Each hot loop is one generic body over [`Isa`], `#[inline(always)]`, instantiated inside one
//! function per tier that carries the tier's target features.

use linerate_core::Tier;

use super::portable::Scalar;

/// Merged codes of a block, first sample first: the bits of each from the highest one down, zeros
/// below them, and how many they are.
#[derive(Default)]
pub(crate) struct Codes {
    pub(crate) tops: [u64; 32],
    pub(crate) lens: [u64; 32],
}

/// The few operations that have a form of their own per tier.
pub(crate) trait Isa {
    /// Samples in a block, a multiple of 4.
    const BLOCK: usize;

    /// The number of merged codes is a multiple of this.
    const GROUP: usize;

    /// Codes BLOCK samples from `samples` on, or with `DELTA` their differences from the sample
    /// before each. Returns how many merged codes there are, of 1 to
    /// 63 bits each.
    ///
    /// # Safety
    /// BLOCK samples must be readable from `samples` on, with `DELTA` one before it too; k is in
    /// 1..=15, and the CPU must support the tier.
    unsafe fn codes<const DELTA: bool>(samples: *const i16, k: u32, out: &mut Codes) -> usize;
}

/// Largest k for which a pair of codes without escapes has at most 30 bits, and so four at most 60.
pub(crate) const NARROW: u32 = 7;

/// A loop that is to be compiled once per tier.
pub(crate) trait Kernel {
    type Output;
    /// # Safety
    /// The CPU must support the tier that `I` is for.
    unsafe fn run<I: Isa>(self) -> Self::Output;
}

/// Runs `kernel` as compiled for `tier`. `tier` must have been detected, which
/// [`crate::Exec`] sees to.
#[inline]
pub(crate) fn dispatch<K: Kernel>(tier: Tier, kernel: K) -> K::Output {
    // Without std no tier but the scalar one is ever detected.
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    {
        use super::x86::{Avx2, Avx512};

        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn avx2<K: Kernel>(kernel: K) -> K::Output {
            // SAFETY: reached only on a CPU with these features.
            unsafe { kernel.run::<Avx2>() }
        }
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
        fn avx512<K: Kernel>(kernel: K) -> K::Output {
            // SAFETY: reached only on a CPU with these features.
            unsafe { kernel.run::<Avx512>() }
        }
        match tier {
            // SAFETY: `Exec` holds only tiers that were detected.
            Tier::Avx512 => return unsafe { avx512(kernel) },
            // SAFETY: as above.
            Tier::Avx2 => return unsafe { avx2(kernel) },
            _ => {}
        }
    }
    let _ = tier;
    // SAFETY: every CPU supports the scalar tier.
    unsafe { kernel.run::<Scalar>() }
}
