//! Runs a loop as compiled for a CPU tier.

use linerate_core::Tier;

use super::encode_scalar::Scalar;
use super::isa::Kernel;

/// Runs `kernel` as compiled for `tier`. The CPU must support the tier; [`crate::Options`] holds no
/// other.
#[inline]
pub(crate) fn dispatch<K: Kernel>(tier: Tier, kernel: K) -> K::Output {
    // Without std, only the scalar tier is ever detected.
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    {
        use super::encode_avx2::Avx2;
        use super::encode_avx512::Avx512;

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
            // SAFETY: `Options` holds only tiers that were detected.
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
