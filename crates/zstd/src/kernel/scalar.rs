//! Operations for any CPU.

use core::hint::select_unpredictable;

use super::isa::Isa;
use crate::entropy::huffman::{self, Ranks};

/// The scalar tier.
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
    unsafe fn select_repeat(repeats: &mut [u32; 3], which: u32, new: u32) -> u32 {
        // Conditional moves: branches would be unpredictable.
        let [a, b, c] = *repeats;
        let front = select_unpredictable(which == 2, c, new);
        let front = select_unpredictable(which == 1, b, front);
        let front = select_unpredictable(which == 0, a, front);
        *repeats = [front, select_unpredictable(which == 0, b, a), select_unpredictable(which < 2, c, b)];
        front
    }

    #[inline(always)]
    unsafe fn repeat16(from: *const u8, to: *mut u8, offset: usize) {
        // SAFETY: only bytes 0..16 at both pointers are touched, and all are read before the first
        // is written.
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

    #[inline(always)]
    unsafe fn count(weights: &[[u8; 64]]) -> Ranks {
        huffman::count(weights)
    }

    #[inline(always)]
    unsafe fn non_zero(bytes: &[u8; 64]) -> u64 {
        huffman::non_zero(bytes)
    }
}
