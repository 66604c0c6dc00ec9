//! Finds the sequences into which libzstd codes a block with a raw-content dictionary.

use std::ptr::NonNull;

use linerate_core::{Error, Kind, Result};
use zstd_safe::zstd_sys::{
    ZSTD_CCtx, ZSTD_CCtx_refCDict, ZSTD_CDict, ZSTD_Sequence, ZSTD_createCCtx, ZSTD_createCDict,
    ZSTD_freeCCtx, ZSTD_freeCDict, ZSTD_generateSequences, ZSTD_isError, ZSTD_sequenceBound,
};

const NO_MEMORY: Error = Error::new(Kind::Limit, 0, "libzstd is out of memory");

/// Finds sequences with one dictionary at one level.
pub(crate) struct SequenceFinder {
    context: NonNull<ZSTD_CCtx>,
    dictionary: NonNull<ZSTD_CDict>,
    found: Vec<ZSTD_Sequence>,
}

impl SequenceFinder {
    /// Creates a finder. libzstd copies the content, which must not begin with the magic number of
    /// a trained dictionary.
    ///
    /// # Errors
    /// Returns [`Kind::Limit`] if libzstd is out of memory.
    pub(crate) fn new(content: &[u8], level: i32) -> Result<SequenceFinder> {
        // SAFETY: the pointer and the length are those of a slice, which libzstd copies.
        let dictionary = unsafe { ZSTD_createCDict(content.as_ptr().cast(), content.len(), level) };
        let dictionary = NonNull::new(dictionary).ok_or(NO_MEMORY)?;
        // SAFETY: the call has no preconditions.
        let Some(context) = NonNull::new(unsafe { ZSTD_createCCtx() }) else {
            // SAFETY: the dictionary was made above, and is not used again.
            unsafe { ZSTD_freeCDict(dictionary.as_ptr()) };
            return Err(NO_MEMORY);
        };
        let finder = SequenceFinder { context, dictionary, found: Vec::new() };
        // SAFETY: both are alive, and `drop` frees the context before the dictionary it refers to.
        let code = unsafe { ZSTD_CCtx_refCDict(finder.context.as_ptr(), finder.dictionary.as_ptr()) };
        succeeded(code).map(|_| finder)
    }

    /// Returns the sequences of a block. A sequence with a match length of 0 holds the literals at
    /// the end of a zstd block. The slice is empty if libzstd refuses the block, because the block,
    /// or its rest after whole pieces of 128 KiB, is too short to compress.
    pub(crate) fn sequences(&mut self, block: &[u8]) -> &[ZSTD_Sequence] {
        // SAFETY: the result depends only on the argument.
        let bound = unsafe { ZSTD_sequenceBound(block.len()) };
        self.found.clear();
        self.found.reserve(bound);
        // SAFETY: the vector has room for `bound` sequences, the block has its length, and the
        // context is alive.
        let code = unsafe {
            ZSTD_generateSequences(
                self.context.as_ptr(),
                self.found.as_mut_ptr(),
                bound,
                block.as_ptr().cast(),
                block.len(),
            )
        };
        let count = succeeded(code).unwrap_or_default().min(bound);
        // SAFETY: libzstd has written this many whole sequences, or none if it failed.
        unsafe { self.found.set_len(count) };
        &self.found
    }
}

fn succeeded(code: usize) -> Result<usize> {
    // SAFETY: the result depends only on the argument.
    if unsafe { ZSTD_isError(code) } == 0 { Ok(code) } else { Err(NO_MEMORY) }
}

impl Drop for SequenceFinder {
    fn drop(&mut self) {
        // SAFETY: both were made in `new`, and are not used again. The context is freed first,
        // because it refers to the dictionary.
        unsafe {
            ZSTD_freeCCtx(self.context.as_ptr());
            ZSTD_freeCDict(self.dictionary.as_ptr());
        }
    }
}
