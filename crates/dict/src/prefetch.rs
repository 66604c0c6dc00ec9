//! Prefetching of cache lines.

use linerate_core::{CACHE_LINE, prefetch_line};

/// Prefetches all cache lines of `value`.
#[inline]
pub(crate) fn prefetch<T: ?Sized>(value: &T) {
    let start = core::ptr::from_ref(value).cast::<u8>() as usize;
    (start & !(CACHE_LINE - 1)..start + size_of_val(value)).step_by(CACHE_LINE).for_each(prefetch_line);
}
