//! Requests cache lines before they are needed.

use linerate_core::{CACHE_LINE, prefetch_line};

/// Prefetches all cache lines of `value`.
#[inline]
pub(crate) fn prefetch<T: ?Sized>(value: &T) {
    let start = core::ptr::from_ref(value).cast::<u8>() as usize;
    (start & !(CACHE_LINE - 1)..start + size_of_val(value)).step_by(CACHE_LINE).for_each(prefetch_line);
}

/// Reads a byte of every cache line of both ranges, which are needed next and as a whole. The CPU's
/// own prefetcher runs ahead of loads in order, but not of prefetch instructions. Each half of a
/// range is a stream of its own for the prefetcher, so that more lines are under way at a time.
#[inline]
pub(crate) fn read_ahead(ranges: [&[u8]; 2]) {
    let mut all = 0;
    for_each_line(ranges, |byte| all ^= byte);
    core::hint::black_box(all);
}

#[inline(always)]
fn for_each_line<'a>(ranges: [&'a [u8]; 2], mut read: impl FnMut(&'a u8)) {
    let [(a, b), (c, d)] = ranges.map(|range| range.split_at(range.len() / 2));
    let longest = b.len().max(d.len());
    for at in (0..longest).step_by(CACHE_LINE) {
        [a, b, c, d].into_iter().filter_map(|stream| stream.get(at)).for_each(&mut read);
    }
    // A range that begins within a line may end in one more line.
    [b, d].into_iter().filter_map(|stream| stream.last()).for_each(read);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_wherever_a_range_begins_and_ends() {
        let memory = vec![0; 1000];
        let line = |byte: &u8| core::ptr::from_ref(byte) as usize / CACHE_LINE;
        for (start, len) in (0..CACHE_LINE).flat_map(|start| (0..200).map(move |len| (start, len))) {
            let ranges = [&memory[start..start + len], &memory[500..500 + (start * len) % 300]];
            let mut wanted: Vec<usize> = ranges.iter().flat_map(|range| range.iter().map(line)).collect();
            let mut read = Vec::new();
            for_each_line(ranges, |byte| read.push(line(byte)));
            for lines in [&mut wanted, &mut read] {
                lines.sort_unstable();
                lines.dedup();
            }
            assert_eq!(read, wanted, "{len} bytes from {start} on");
        }
    }
}
