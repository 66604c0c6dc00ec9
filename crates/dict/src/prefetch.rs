//! Requests for cache lines before they are needed.

use linerate_core::{CACHE_LINE, prefetch_line};

/// Prefetches all cache lines of `value`.
#[inline]
pub(crate) fn prefetch<T: ?Sized>(value: &T) {
    let start = core::ptr::from_ref(value).cast::<u8>() as usize;
    (start & !(CACHE_LINE - 1)..start + size_of_val(value)).step_by(CACHE_LINE).for_each(prefetch_line);
}

/// Reads a byte of every cache line of `bytes`, which is needed next and as a whole. The CPU's own
/// prefetcher runs ahead of loads in order, but not of prefetches: large ranges arrive sooner so.
#[inline]
pub(crate) fn read_ahead(bytes: &[u8]) {
    core::hint::black_box(bytes.iter().step_by(CACHE_LINE).fold(0, |all, byte| all ^ byte));
}
