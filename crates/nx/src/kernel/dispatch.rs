//! Compiles each loop for each CPU tier, and chooses an instance at run time.

use linerate_core::Tier;

/// A loop that is compiled for each tier.
pub(crate) trait Kernel {
    /// Runs the loop. Must always be inlined, so that it is compiled with the caller's target
    /// features.
    fn run(self);
}

/// Runs `kernel` as compiled for `tier`, or for the best lower tier that this CPU has.
#[inline]
pub(crate) fn dispatch<K: Kernel>(tier: Tier, kernel: K) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn avx2<K: Kernel>(kernel: K) {
            kernel.run();
        }
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
        fn avx512<K: Kernel>(kernel: K) {
            kernel.run();
        }
        if tier == Tier::Avx512 && tier.is_supported() {
            // SAFETY: the CPU has the tier's features.
            return unsafe { avx512(kernel) };
        }
        if tier >= Tier::Avx2 && Tier::Avx2.is_supported() {
            // SAFETY: the CPU has the features of the AVX2 tier.
            return unsafe { avx2(kernel) };
        }
    }
    let _ = tier;
    #[inline(never)]
    fn baseline<K: Kernel>(kernel: K) {
        kernel.run();
    }
    baseline(kernel);
}
