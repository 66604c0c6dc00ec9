//! What differs between CPU tiers, and the dispatch to a loop compiled for one.
//!
//! Each hot loop is one generic body over [`Isa`], `#[inline(always)]`, and is instantiated inside
//! one function per tier that carries the tier's target features. So the compiler uses BMI2
//! shifts throughout the AVX2 instance although the body never mentions them.

use linerate_core::Tier;

/// The few operations that have a form of their own per tier.
pub(crate) trait Isa {
    /// Which of 32 bytes at `a` equal those at `b`: bit i for byte i.
    ///
    /// # Safety
    /// 32 bytes must be readable at both, and the CPU must support the tier.
    unsafe fn equal32(a: *const u8, b: *const u8) -> u32;

    /// Length of the common prefix of 16 bytes at `a` and 16 bytes at `b`.
    ///
    /// # Safety
    /// 16 bytes must be readable at both, and the CPU must support the tier.
    unsafe fn common16(a: *const u8, b: *const u8) -> usize;
}

pub(crate) struct Scalar;

impl Isa for Scalar {
    #[inline(always)]
    unsafe fn common16(a: *const u8, b: *const u8) -> usize {
        for i in 0..2 {
            // SAFETY: bytes 8i..8i+8 of the 16.
            let differ = unsafe { read64(a.add(8 * i)) ^ read64(b.add(8 * i)) };
            if differ != 0 {
                return 8 * i + (differ.trailing_zeros() / 8) as usize;
            }
        }
        16
    }

    #[inline(always)]
    unsafe fn equal32(a: *const u8, b: *const u8) -> u32 {
        // SAFETY: bytes 0..32 of both.
        (0..32).fold(0, |mask, i| mask | u32::from(unsafe { *a.add(i) == *b.add(i) }) << i)
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) struct Avx2;

#[cfg(target_arch = "x86_64")]
impl Isa for Avx2 {
    #[inline(always)]
    unsafe fn common16(a: *const u8, b: *const u8) -> usize {
        use core::arch::x86_64::*;
        // SAFETY: the caller vouches for 16 readable bytes and for AVX2.
        unsafe {
            let (a, b) = (_mm_loadu_si128(a.cast()), _mm_loadu_si128(b.cast()));
            (!(_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) as u32)).trailing_zeros() as usize
        }
    }

    #[inline(always)]
    unsafe fn equal32(a: *const u8, b: *const u8) -> u32 {
        use core::arch::x86_64::*;
        // SAFETY: the caller vouches for 32 readable bytes and for AVX2.
        unsafe {
            let (a, b) = (_mm256_loadu_si256(a.cast()), _mm256_loadu_si256(b.cast()));
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b)) as u32
        }
    }
}

/// # Safety
/// 4 bytes must be readable at `p`.
#[inline(always)]
pub(crate) unsafe fn read32(p: *const u8) -> u32 {
    // SAFETY: as the caller vouches; little-endian order on every machine.
    u32::from_le(unsafe { p.cast::<u32>().read_unaligned() })
}

/// # Safety
/// 8 bytes must be readable at `p`.
#[inline(always)]
pub(crate) unsafe fn read64(p: *const u8) -> u64 {
    // SAFETY: as the caller vouches; little-endian order on every machine.
    u64::from_le(unsafe { p.cast::<u64>().read_unaligned() })
}

/// A loop that is to be compiled once per tier.
pub(crate) trait Kernel {
    type Output;
    /// # Safety
    /// The CPU must support the tier that `I` is for.
    unsafe fn run<I: Isa>(self) -> Self::Output;
}

/// Runs `kernel` as compiled for `tier`, or for the lowest tier if this CPU lacks that one.
///
/// The AVX-512 tier runs the AVX2 instance: the compares are 16 bytes wide by choice (see
/// [`search`](super::search)), so there is nothing for wider registers to do.
#[inline]
pub(crate) fn dispatch<K: Kernel>(tier: Tier, kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn avx2<K: Kernel>(kernel: K) -> K::Output {
            // SAFETY: reached only on a CPU with these features.
            unsafe { kernel.run::<Avx2>() }
        }
        if tier >= Tier::Avx2 {
            // SAFETY: `Scratch` holds only tiers that were detected.
            return unsafe { avx2(kernel) };
        }
    }
    // Kept out of the callers: their stack frames would hold what only this form needs.
    #[inline(never)]
    fn scalar<K: Kernel>(kernel: K) -> K::Output {
        // SAFETY: every CPU supports the scalar tier.
        unsafe { kernel.run::<Scalar>() }
    }
    let _ = tier;
    scalar(kernel)
}
