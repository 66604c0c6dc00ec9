//! What differs between CPU tiers, and the dispatch to a loop compiled for one.
//!
//! Each hot loop is one generic body over [`Isa`], `#[inline(always)]`, instantiated inside one
//! function per tier that carries the tier's target features.

use linerate_core::Tier;

use super::spec::{code, zigzag};

/// Merged codes of a block, first sample first: the bits of each from the highest one down, zeros
/// below them, and how many they are.
#[derive(Default)]
pub(crate) struct Codes {
    pub(crate) tops: [u64; 16],
    pub(crate) lens: [u64; 16],
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

    /// Four 16-bit samples.
    #[cfg(feature = "std")]
    type Four: Copy;

    /// The same sample four times.
    ///
    /// # Safety
    /// The CPU must support the tier.
    #[cfg(feature = "std")]
    unsafe fn splat(sample: i16) -> Self::Four;

    /// Adds the upper three 16-bit lanes of the entry at `entry` to `sum` (with `ADD`; otherwise
    /// takes them alone), writes them and one more sample of no meaning to `out`, and returns the
    /// highest lane four times.
    ///
    /// # Safety
    /// 4 samples must be writable at `out`, and the CPU must support the tier.
    #[cfg(feature = "std")]
    unsafe fn emit<const ADD: bool>(sum: Self::Four, entry: &u64, out: *mut i16) -> Self::Four;

    /// One of the lanes of `four`, which are all equal.
    ///
    /// # Safety
    /// The CPU must support the tier.
    #[cfg(feature = "std")]
    unsafe fn lane(four: Self::Four) -> i16;
}

/// Portable: 64-bit registers as four lanes.
pub(crate) struct Scalar;

impl Isa for Scalar {
    const BLOCK: usize = 8;
    const GROUP: usize = 1;

    #[inline(always)]
    unsafe fn codes<const DELTA: bool>(samples: *const i16, k: u32, out: &mut Codes) -> usize {
        let coded = |i: usize| {
            // SAFETY: sample i of the block, and with DELTA the one before it.
            let y = unsafe {
                let p = samples.add(i);
                if DELTA { (*p).wrapping_sub(*p.sub(1)) } else { *p }
            };
            let (value, len) = code(zigzag(y), k);
            (u64::from(value), u64::from(len))
        };
        let pair = |i: usize| {
            let ((a, la), (b, lb)) = (coded(i), coded(i + 1));
            (a << lb | b, la + lb)
        };
        let mut n = 0;
        let mut put = |value: u64, len: u64| {
            (out.tops[n], out.lens[n]) = (value << (64 - len), len);
            n += 1;
        };
        for i in [0, 4] {
            let ((a, la), (b, lb)) = (pair(i), pair(i + 2));
            if la + lb < 64 {
                put(a << lb | b, la + lb);
            } else {
                put(a, la);
                put(b, lb);
            }
        }
        n
    }

    #[cfg(feature = "std")]
    type Four = u64;

    #[cfg(feature = "std")]
    #[inline(always)]
    unsafe fn splat(sample: i16) -> u64 {
        u64::from(sample as u16) * 0x0001_0001_0001_0001
    }

    #[cfg(feature = "std")]
    #[inline(always)]
    unsafe fn emit<const ADD: bool>(sum: u64, entry: &u64, out: *mut i16) -> u64 {
        const HIGH: u64 = 0x8000_8000_8000_8000;
        // Lane by lane: the top bits are added without their carry.
        let new = if ADD { ((sum & !HIGH) + (entry & !HIGH)) ^ ((sum ^ entry) & HIGH) } else { *entry };
        let lanes = new >> 16;
        #[cfg(target_endian = "little")]
        // SAFETY: the caller vouches for four samples.
        unsafe {
            out.cast::<u64>().write_unaligned(lanes);
        }
        #[cfg(target_endian = "big")]
        for i in 0..4 {
            // SAFETY: the caller vouches for four samples.
            unsafe { *out.add(i) = (lanes >> (16 * i)) as i16 };
        }
        (new >> 48) * 0x0001_0001_0001_0001
    }

    #[cfg(feature = "std")]
    #[inline(always)]
    unsafe fn lane(four: u64) -> i16 {
        four as i16
    }
}

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
            Tier::Scalar => {}
        }
    }
    let _ = tier;
    // SAFETY: every CPU supports the scalar tier.
    unsafe { kernel.run::<Scalar>() }
}
