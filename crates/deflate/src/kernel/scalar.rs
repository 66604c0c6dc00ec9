//! The operations in portable code, for any CPU.

use super::isa::{Isa, read64};

/// The scalar tier.
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

    type Lanes = [u32; 8];

    #[inline(always)]
    unsafe fn splat(x: u32) -> [u32; 8] {
        [x; 8]
    }

    #[inline(always)]
    unsafe fn load(lanes: &[u32; 8]) -> [u32; 8] {
        *lanes
    }

    #[inline(always)]
    unsafe fn add(a: [u32; 8], b: [u32; 8]) -> [u32; 8] {
        core::array::from_fn(|i| a[i].wrapping_add(b[i]))
    }

    #[inline(always)]
    unsafe fn min(a: [u32; 8], b: [u32; 8]) -> [u32; 8] {
        core::array::from_fn(|i| a[i].min(b[i]))
    }

    #[inline(always)]
    unsafe fn or(a: [u32; 8], b: [u32; 8]) -> [u32; 8] {
        core::array::from_fn(|i| a[i] | b[i])
    }

    #[inline(always)]
    unsafe fn shift_left<const N: i32>(a: [u32; 8]) -> [u32; 8] {
        a.map(|x| x << N)
    }

    #[inline(always)]
    unsafe fn prepend(x: u32, a: [u32; 8]) -> [u32; 8] {
        core::array::from_fn(|i| if i == 0 { x } else { a[i - 1] })
    }

    #[inline(always)]
    unsafe fn least(a: [u32; 8]) -> u32 {
        a.into_iter().fold(u32::MAX, u32::min)
    }

    #[inline(always)]
    unsafe fn common32(a: *const u8, b: *const u8) -> usize {
        // SAFETY: bytes 0..16 and 16..32 of both.
        unsafe {
            match Self::common16(a, b) {
                16 => 16 + Self::common16(a.add(16), b.add(16)),
                length => length,
            }
        }
    }
}
