//! Cache line prefetches.

/// Size of a cache line, in bytes, as on x86 and most ARM64. Where lines are larger, prefetches in
/// steps of this size prefetch each line several times.
pub const CACHE_LINE: usize = 64;

/// Prefetches the cache line at `address` into all cache levels. Any address is allowed, because it
/// is not dereferenced. Does nothing on targets other than x86-64, x86 with SSE, and ARM64.
#[inline(always)]
pub fn prefetch_line(address: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64, and a prefetch never faults.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address as *const i8);
    }
    #[cfg(all(target_arch = "x86", target_feature = "sse"))]
    // SAFETY: the CPU has SSE, and a prefetch never faults.
    unsafe {
        use core::arch::x86::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address as *const i8);
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a prefetch never faults, and changes neither memory nor registers.
    unsafe {
        core::arch::asm!(
            "prfm pldl1keep, [{}]",
            in(reg) address,
            options(nostack, preserves_flags, nomem),
        );
    }
    #[cfg(not(any(
        target_arch = "x86_64",
        all(target_arch = "x86", target_feature = "sse"),
        target_arch = "aarch64"
    )))]
    let _ = address;
}

#[cfg(all(test, not(miri), any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;

    #[inline(never)]
    extern "C" fn prefetch_only(address: usize) {
        prefetch_line(address);
    }

    /// Looks for the instruction in the machine code of a function that only prefetches.
    #[test]
    fn prefetch_line_compiles_to_a_prefetch_instruction() {
        prefetch_only(0);
        let code = (prefetch_only as extern "C" fn(usize) as usize) as *const u8;
        // SAFETY: code is readable on these machines, and at least 64 bytes follow since other
        // functions do.
        let code = unsafe { core::slice::from_raw_parts(code, 64) };
        let has_prefetch = if cfg!(target_arch = "x86_64") {
            // prefetcht0: 0f 18 /1.
            code.windows(3).any(|bytes| bytes[..2] == [0x0f, 0x18] && bytes[2] >> 3 & 7 == 1)
        } else {
            // prfm pldl1keep, [register].
            code.chunks_exact(4)
                .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
                .any(|word| word & 0xffc0_001f == 0xf980_0000)
        };
        assert!(has_prefetch, "{code:02x?}");
    }
}
