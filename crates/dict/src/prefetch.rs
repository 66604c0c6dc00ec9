//! Requests for cache lines before they are needed.

use linerate_core::{CACHE_LINE, prefetch_line};

/// Prefetches all cache lines of `value`.
#[inline]
pub(crate) fn prefetch<T: ?Sized>(value: &T) {
    let start = core::ptr::from_ref(value).cast::<u8>() as usize;
    (start & !(CACHE_LINE - 1)..start + size_of_val(value)).step_by(CACHE_LINE).for_each(prefetch_line);
}

/// Reads a byte of every cache line of both ranges, which are needed next and as a whole. The CPU's
/// own prefetcher runs ahead of loads in order, but not of prefetch instructions; each half of a range
/// is a stream of its own for it, so that more lines are under way at a time.
#[inline]
pub(crate) fn read_ahead(ranges: [&[u8]; 2]) {
    let [(a, b), (c, d)] = ranges.map(|range| range.split_at(range.len() / 2));
    let streams = [a, b, c, d];
    let longest = b.len().max(d.len());
    let mut all = 0;
    for at in (0..longest).step_by(CACHE_LINE) {
        for stream in streams {
            all ^= stream.get(at).copied().unwrap_or(0);
        }
    }
    core::hint::black_box(all);
}
