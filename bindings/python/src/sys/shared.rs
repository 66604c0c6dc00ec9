//! [`SharedOutput`]: an output buffer of which several threads write disjoint ranges.

use std::marker::PhantomData;
use std::ops::Range;

/// A borrowed slice that several threads may write, at disjoint ranges that need not be known in
/// advance.
pub(crate) struct SharedOutput<'a> {
    start: *mut u8,
    len: usize,
    _borrowed: PhantomData<&'a mut [u8]>,
}

// SAFETY: as with `&mut [u8]`, the bytes may be used from any thread; the callers of `with`
// guarantee that no two threads use the same byte.
unsafe impl Send for SharedOutput<'_> {}
// SAFETY: as above.
unsafe impl Sync for SharedOutput<'_> {}

impl<'a> SharedOutput<'a> {
    pub(crate) fn new(slice: &'a mut [u8]) -> Self {
        SharedOutput { start: slice.as_mut_ptr(), len: slice.len(), _borrowed: PhantomData }
    }

    /// Whether the memory address of the first byte of `range` is a multiple of `width`.
    pub(crate) fn is_aligned(&self, range: &Range<usize>, width: usize) -> bool {
        (self.start as usize).wrapping_add(range.start).is_multiple_of(width)
    }

    /// Calls `work` with the bytes in `range`.
    ///
    /// # Safety
    /// While `work` runs, no other call may use any of these bytes.
    ///
    /// # Panics
    /// If `range` is not within the slice.
    pub(crate) unsafe fn with<T>(&self, range: Range<usize>, work: impl FnOnce(&mut [u8]) -> T) -> T {
        assert!(range.start <= range.end && range.end <= self.len, "the range is within the output");
        // SAFETY: the range is within the slice, which is borrowed for as long as `self`; the
        // caller promises that nobody else has these bytes.
        work(unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) })
    }
}
