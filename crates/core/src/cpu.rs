//! CPU tiers, detected once per process. The environment variable `LINERATE_CPU` lowers the choice.
//!
//! Engines compile a hot loop for several tiers and pick one of these forms at run time. A tier is
//! a *set* of CPU features that a loop body is compiled for. Output never depends on the tier,
//! which tests of the engines check.

/// The CPU feature sets that Linerate compiles hot loops for, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Tier {
    /// Portable code for the target's baseline. Every other tier must produce the same output.
    Scalar = 1,
    /// AVX2, BMI1, BMI2, LZCNT and POPCNT, the part of x86-64-v3 that hot loops use (Haswell, Zen
    /// and later).
    Avx2 = 2,
    /// [`Tier::Avx2`] with the AVX-512 of x86-64-v4 (F, BW, CD, DQ, VL), VBMI and VBMI2 (Ice Lake,
    /// Zen 4 and later).
    Avx512 = 3,
}

impl Tier {
    /// Every tier, lowest first.
    pub const ALL: [Tier; 3] = [Tier::Scalar, Tier::Avx2, Tier::Avx512];

    /// Returns the tier's name, as in `LINERATE_CPU`.
    pub const fn name(self) -> &'static str {
        match self {
            Tier::Scalar => "scalar",
            Tier::Avx2 => "avx2",
            Tier::Avx512 => "avx512",
        }
    }

    /// Returns the tier with this name, if there is one.
    ///
    /// ```
    /// use linerate_core::Tier;
    /// assert_eq!(Tier::from_name("avx2"), Some(Tier::Avx2));
    /// assert_eq!(Tier::from_name("mmx"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Tier> {
        Tier::ALL.into_iter().find(|t| t.name() == name)
    }

    /// Returns whether this CPU supports the tier, regardless of `LINERATE_CPU`. Without the
    /// feature `std`, and on targets other than x86-64, only [`Tier::Scalar`] is supported.
    pub fn is_supported(self) -> bool {
        self <= hardware()
    }
}

/// Returns the tier to use: the best that the CPU supports, or a lower one if `LINERATE_CPU` names
/// it. Unknown names are ignored. The first call detects the tier; later calls cost one relaxed
/// atomic load.
///
/// Without the feature `std`, and on targets other than x86-64, this is always [`Tier::Scalar`].
pub fn tier() -> Tier {
    #[cfg(feature = "std")]
    {
        use core::sync::atomic::{AtomicU8, Ordering};
        static CHOSEN: AtomicU8 = AtomicU8::new(0);
        // Racing threads all compute the same value, so relaxed order is enough.
        match CHOSEN.load(Ordering::Relaxed) {
            1 => Tier::Scalar,
            2 => Tier::Avx2,
            3 => Tier::Avx512,
            _ => {
                let mask = std::env::var("LINERATE_CPU").ok();
                let tier = masked(hardware(), mask.as_deref());
                CHOSEN.store(tier as u8, Ordering::Relaxed);
                tier
            }
        }
    }
    #[cfg(not(feature = "std"))]
    {
        Tier::Scalar
    }
}

#[cfg(any(feature = "std", test))]
fn masked(hardware: Tier, mask: Option<&str>) -> Tier {
    mask.and_then(Tier::from_name).map_or(hardware, |wanted| wanted.min(hardware))
}

#[cfg(all(feature = "std", target_arch = "x86_64"))]
fn hardware() -> Tier {
    macro_rules! has { ($($f:tt)*) => { $(std::arch::is_x86_feature_detected!($f))&&* } }
    let v3 = has!("avx2" "bmi1" "bmi2" "lzcnt" "popcnt");
    let v4 = has!("avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl" "avx512vbmi" "avx512vbmi2");
    match (v3, v4) {
        (true, true) => Tier::Avx512,
        (true, false) => Tier::Avx2,
        _ => Tier::Scalar,
    }
}

#[cfg(not(all(feature = "std", target_arch = "x86_64")))]
fn hardware() -> Tier {
    Tier::Scalar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tier_names_round_trip() {
        for tier in Tier::ALL {
            assert_eq!(Tier::from_name(tier.name()), Some(tier));
        }
    }

    #[test]
    fn environment_variable_only_lowers_the_tier() {
        assert_eq!(masked(Tier::Avx2, Some("scalar")), Tier::Scalar);
        assert_eq!(masked(Tier::Avx2, Some("avx512")), Tier::Avx2);
        assert_eq!(masked(Tier::Avx512, Some("sse9")), Tier::Avx512);
        assert_eq!(masked(Tier::Scalar, None), Tier::Scalar);
    }

    #[cfg(all(feature = "std", target_os = "linux", target_arch = "x86_64", not(miri)))]
    #[test]
    fn hardware_tier_matches_the_features_in_proc_cpuinfo() {
        let cpus = std::fs::read_to_string("/proc/cpuinfo").expect("/proc/cpuinfo is readable");
        let flags = cpus.lines().find(|line| line.starts_with("flags")).expect("the first CPU has flags");
        let all = |names: &str| names.split(' ').all(|name| flags.split(' ').any(|flag| flag == name));
        let v3 = all("avx2 bmi1 bmi2 abm popcnt");
        let v4 = all("avx512f avx512bw avx512cd avx512dq avx512vl avx512vbmi avx512_vbmi2");
        let expected = match (v3, v4) {
            (true, true) => Tier::Avx512,
            (true, false) => Tier::Avx2,
            (false, _) => Tier::Scalar,
        };
        assert_eq!(hardware(), expected);
        assert!(Tier::ALL.into_iter().all(|tier| tier.is_supported() == (tier <= expected)));
    }

    #[test]
    fn chosen_tier_is_supported_and_stable() {
        assert!(tier().is_supported());
        assert_eq!(tier(), tier());
    }
}
