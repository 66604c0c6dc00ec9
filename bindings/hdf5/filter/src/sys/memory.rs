//! Allocates memory that HDF5 frees, from C's allocator, which HDF5 itself uses.

use core::ffi::c_void;
use core::ptr::NonNull;
use core::slice;

use crate::error::{FilterError, Result};

/// An integer type to which any bytes can be cast.
///
/// # Safety
/// Every bit pattern is a valid value, and the alignment is at most that of `malloc`.
pub(crate) unsafe trait Word: Copy {}
// SAFETY: integers of at most 4 bytes.
unsafe impl Word for u8 {}
// SAFETY: as above.
unsafe impl Word for i16 {}
// SAFETY: as above.
unsafe impl Word for u16 {}
// SAFETY: as above.
unsafe impl Word for i32 {}
// SAFETY: as above.
unsafe impl Word for u32 {}

/// Casts bytes to words without a copy. HDF5's buffers come from an allocator, so they are aligned.
/// Unaligned bytes, and a part of a word at the end, are an error.
pub(crate) fn words<T: Word>(bytes: &[u8]) -> Result<&[T]> {
    // SAFETY: every bit pattern is a value of T.
    match unsafe { bytes.align_to::<T>() } {
        ([], words, []) => Ok(words),
        _ => Err(FilterError::Filter("the chunk does not consist of whole, aligned samples")),
    }
}

/// A block of C's allocator. Dropping it frees it, unless [`Block::into_raw`] hands it over.
pub(crate) struct Block {
    start: NonNull<u8>,
    bytes: usize,
}

impl Block {
    /// Allocates `bytes` bytes, or one if `bytes` is 0. More than `isize::MAX` bytes are an error.
    /// The content is unspecified.
    pub(crate) fn new(bytes: usize) -> Result<Block> {
        const NO_MEMORY: FilterError = FilterError::Filter("there is no memory for the output");
        let bytes = bytes.max(1);
        if bytes > isize::MAX as usize {
            return Err(NO_MEMORY);
        }
        // SAFETY: malloc takes any size.
        let start = NonNull::new(unsafe { libc::malloc(bytes) }).ok_or(NO_MEMORY)?.cast();
        #[cfg(not(miri))]
        // SAFETY: does nothing. The compiler must assume that it writes to the block, so that what
        // malloc left there are bytes like any other.
        unsafe {
            core::arch::asm!("/* {0} */", in(reg) start.as_ptr(), options(nostack, preserves_flags));
        }
        Ok(Block { start, bytes })
    }

    /// Returns the block as words, without the bytes after the last whole word.
    pub(crate) fn words<T: Word>(&mut self) -> &mut [T] {
        // SAFETY: the block is owned and initialised, malloc aligns it for T, and every bit
        // pattern is a value of T.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.bytes / size_of::<T>()) }
    }

    /// Size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Hands the block over to the caller, who frees it with C's `free`.
    pub(crate) fn into_raw(self) -> *mut c_void {
        core::mem::ManuallyDrop::new(self).start.as_ptr().cast()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: from malloc, and not handed over.
        unsafe { libc::free(self.start.as_ptr().cast()) }
    }
}
