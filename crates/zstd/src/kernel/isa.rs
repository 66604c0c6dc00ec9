//! What differs between CPU tiers, and the dispatch to a loop compiled for one.
//!
//! Each hot loop is one generic body over [`Isa`], `#[inline(always)]`, and is instantiated inside
//! one function per tier that carries the tier's target features. So the compiler uses BMI2 shifts
//! and masks throughout the AVX2 instance although the body never mentions them.

use core::hint::select_unpredictable;

use linerate_core::Tier;

/// The few operations that have a form of their own per tier.
pub(crate) trait Isa {
    /// The three offsets that sequences can name again, latest first.
    type Repeats: Copy;

    /// # Safety
    /// As for all of them, the CPU must support the tier.
    unsafe fn repeats(offsets: [u32; 3]) -> Self::Repeats;

    /// # Safety
    /// The CPU must support the tier.
    unsafe fn offsets(repeats: Self::Repeats) -> [u32; 3];

    /// Brings the repeat offset `which` to the front, or for 3 and 4 a `new` one; returns it.
    ///
    /// # Safety
    /// `which` is below 5, and the CPU must support the tier.
    unsafe fn turn(repeats: &mut Self::Repeats, which: u32, new: u32) -> u32;

    /// Writes 16 bytes at `to`: the first `offset` bytes at `from`, over and over.
    ///
    /// # Safety
    /// 16 bytes must be readable at `from` and writable at `to`; `offset` is in 1..16, and the CPU
    /// must support the tier.
    unsafe fn repeat16(from: *const u8, to: *mut u8, offset: usize);

    /// The low bits of `word`, as many as the low byte of `count` says, below 64.
    ///
    /// # Safety
    /// The CPU must support the tier.
    unsafe fn low_bits(word: u64, count: u32) -> u64;
}

pub(crate) struct Scalar;

impl Isa for Scalar {
    type Repeats = [u32; 3];

    #[inline(always)]
    unsafe fn repeats(offsets: [u32; 3]) -> [u32; 3] {
        offsets
    }

    #[inline(always)]
    unsafe fn offsets(repeats: [u32; 3]) -> [u32; 3] {
        repeats
    }

    #[inline(always)]
    unsafe fn turn(repeats: &mut [u32; 3], which: u32, new: u32) -> u32 {
        // Nobody could foretell the branches.
        let [a, b, c] = *repeats;
        let front = select_unpredictable(which == 2, c, new);
        let front = select_unpredictable(which == 1, b, front);
        let front = select_unpredictable(which == 0, a, front);
        *repeats = [front, select_unpredictable(which == 0, b, a), select_unpredictable(which < 2, c, b)];
        front
    }

    #[inline(always)]
    unsafe fn repeat16(from: *const u8, to: *mut u8, offset: usize) {
        // SAFETY: bytes 0..16 of both; a byte is read before it is written over or after it was
        // written as the repetition.
        unsafe {
            let mut bytes = [0u8; 16];
            for (i, byte) in bytes.iter_mut().enumerate() {
                *byte = *from.add(i % offset);
            }
            to.cast::<[u8; 16]>().write_unaligned(bytes);
        }
    }

    #[inline(always)]
    unsafe fn low_bits(word: u64, count: u32) -> u64 {
        word & ((1 << (count & 0xff)) - 1)
    }
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
pub(crate) struct Avx2;

#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[repr(align(64))]
struct Rows([[u8; 16]; 5]);

/// Row `which`: the bytes of four lanes, that lane (for 4, too, the last) first and the others in their
/// order.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
static TO_FRONT: Rows = Rows([
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [4, 5, 6, 7, 0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15],
    [8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15],
    [12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    [12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
]);

/// Row `offset`: the numbers 0..16 modulo `offset`.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
static MODULO: [[u8; 16]; 16] = {
    let mut rows = [[0; 16]; 16];
    let mut offset = 1;
    while offset < 16 {
        let mut i = 0;
        while i < 16 {
            rows[offset][i] = (i % offset) as u8;
            i += 1;
        }
        offset += 1;
    }
    rows
};

#[cfg(all(target_arch = "x86_64", feature = "std"))]
impl Isa for Avx2 {
    /// In the low three lanes.
    type Repeats = core::arch::x86_64::__m128i;

    #[inline(always)]
    unsafe fn repeats([a, b, c]: [u32; 3]) -> Self::Repeats {
        // SAFETY: the caller vouches for AVX2.
        unsafe { core::arch::x86_64::_mm_setr_epi32(a as i32, b as i32, c as i32, 0) }
    }

    #[inline(always)]
    unsafe fn offsets(repeats: Self::Repeats) -> [u32; 3] {
        use core::arch::x86_64::_mm_extract_epi32;
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            [
                _mm_extract_epi32::<0>(repeats),
                _mm_extract_epi32::<1>(repeats),
                _mm_extract_epi32::<2>(repeats),
            ]
            .map(|offset| offset as u32)
        }
    }

    #[inline(always)]
    unsafe fn turn(repeats: &mut Self::Repeats, which: u32, new: u32) -> u32 {
        use core::arch::x86_64::*;
        // SAFETY: the caller vouches for the row and for AVX2.
        unsafe {
            let row = _mm_load_si128(TO_FRONT.0.as_ptr().add(which as usize).cast());
            *repeats = _mm_shuffle_epi8(_mm_insert_epi32::<3>(*repeats, new as i32), row);
            _mm_cvtsi128_si32(*repeats) as u32
        }
    }

    #[inline(always)]
    unsafe fn repeat16(from: *const u8, to: *mut u8, offset: usize) {
        use core::arch::x86_64::*;
        // SAFETY: the caller vouches for 16 bytes of both, for the row and for AVX2.
        unsafe {
            let row = _mm_loadu_si128(MODULO.as_ptr().add(offset).cast());
            _mm_storeu_si128(to.cast(), _mm_shuffle_epi8(_mm_loadu_si128(from.cast()), row));
        }
    }

    #[inline(always)]
    unsafe fn low_bits(word: u64, count: u32) -> u64 {
        // SAFETY: the caller vouches for BMI2, which comes with AVX2.
        unsafe { core::arch::x86_64::_bzhi_u64(word, count) }
    }
}

/// # Safety
/// 8 bytes must be readable at `p`.
#[inline(always)]
pub(crate) unsafe fn read64(p: *const u8) -> u64 {
    // SAFETY: as the caller vouches; little-endian order on every machine.
    u64::from_le(unsafe { p.cast::<u64>().read_unaligned() })
}

/// # Safety
/// 16 bytes must be readable at `from` and writable at `to`.
#[inline(always)]
pub(crate) unsafe fn copy16(from: *const u8, to: *mut u8) {
    // SAFETY: as the caller vouches; the value is read whole before it is written.
    unsafe { to.cast::<u128>().write_unaligned(from.cast::<u128>().read_unaligned()) }
}

/// A loop that is to be compiled once per tier.
pub(crate) trait Kernel {
    type Output;
    /// # Safety
    /// The CPU must support the tier that `I` is for.
    unsafe fn run<I: Isa>(self) -> Self::Output;
}

/// Runs `kernel` as compiled for `tier`, which must have been detected. AVX-512 adds nothing to
/// loops of shifts and short copies, so its tier runs the AVX2 instance.
#[inline]
pub(crate) fn dispatch<K: Kernel>(tier: Tier, kernel: K) -> K::Output {
    // Without std no tier but the scalar one is ever detected.
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
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
    #[inline(never)]
    fn scalar<K: Kernel>(kernel: K) -> K::Output {
        // SAFETY: every CPU supports the scalar tier.
        unsafe { kernel.run::<Scalar>() }
    }
    let _ = tier;
    scalar(kernel)
}
