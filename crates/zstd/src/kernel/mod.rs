//! The hot loops, and all `unsafe` code of this crate.
#![allow(unsafe_code)]

mod backward;
pub(crate) mod build;
pub(crate) mod huffman;
mod isa;
pub(crate) mod sequences;
mod trusted;

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Asks for the cache line at `address`, which may be any.
#[inline(always)]
pub(crate) fn fetch_line(address: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64, and a prefetch never faults.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address as *const i8);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
