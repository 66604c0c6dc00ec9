//! One output, written by several threads at disjoint places.

use std::marker::PhantomData;
use std::ops::Range;

/// A borrowed slice that can be taken apart at places known only later.
pub(crate) struct Shared<'a> {
    start: *mut u8,
    len: usize,
    _borrowed: PhantomData<&'a mut [u8]>,
}

// SAFETY: as with `&mut [u8]`, whoever has the bytes may use them from any thread; that no byte is used
// by two is up to the callers of `with`.
unsafe impl Send for Shared<'_> {}
// SAFETY: as above.
unsafe impl Sync for Shared<'_> {}

impl<'a> Shared<'a> {
    pub(crate) fn new(slice: &'a mut [u8]) -> Self {
        Shared { start: slice.as_mut_ptr(), len: slice.len(), _borrowed: PhantomData }
    }

    /// Whether `range` begins at a multiple of `width` bytes.
    pub(crate) fn is_aligned(&self, range: &Range<usize>, width: usize) -> bool {
        (self.start as usize).wrapping_add(range.start).is_multiple_of(width)
    }

    /// Lends the bytes `range` to `work`.
    ///
    /// # Safety
    /// While `work` runs no other call has any of these bytes.
    ///
    /// # Panics
    /// If `range` is not within the slice.
    pub(crate) unsafe fn with<T>(&self, range: Range<usize>, work: impl FnOnce(&mut [u8]) -> T) -> T {
        assert!(range.start <= range.end && range.end <= self.len, "a range within the output");
        // SAFETY: the range is within the slice, which is borrowed for as long as `self`; the caller
        // promises that nobody else has these bytes.
        work(unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) })
    }
}
