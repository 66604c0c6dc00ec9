//! Cache lines, asked for.

/// Bytes of a cache line.
const LINE: usize = 64;

/// Asks for the lines of `value`.
#[inline]
pub(crate) fn fetch<T: ?Sized>(value: &T) {
    let start = core::ptr::from_ref(value).cast::<u8>() as usize;
    for address in ((start & !(LINE - 1))..start + size_of_val(value)).step_by(LINE) {
        fetch_line(address);
    }
}

#[inline(always)]
fn fetch_line(address: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64, and a prefetch never faults.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address as *const i8);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
