//! Finds the matches that libzstd would code in a block.

use zstd_safe::zstd_sys::{
    ZSTD_CCtx, ZSTD_CCtx_setParameter, ZSTD_Sequence, ZSTD_cParameter, ZSTD_createCCtx, ZSTD_freeCCtx,
    ZSTD_generateSequences, ZSTD_isError, ZSTD_sequenceBound,
};

/// A context of libzstd that finds matches, for blocks up to the size of its window.
pub(crate) struct Finder(*mut ZSTD_CCtx);

impl Finder {
    /// Makes a context at `level` in long mode, with a window of 2^`window_log` bytes. Returns
    /// `None` if memory runs out or libzstd refuses a parameter.
    pub(crate) fn new(level: i32, window_log: u32) -> Option<Finder> {
        // SAFETY: a call without preconditions.
        let finder = Finder(unsafe { ZSTD_createCCtx() });
        let set = |parameter, value| {
            // SAFETY: the context is not null when this is called.
            let code = unsafe { ZSTD_CCtx_setParameter(finder.0, parameter, value) };
            // SAFETY: a pure function of its argument.
            (unsafe { ZSTD_isError(code) } == 0).then_some(())
        };
        if finder.0.is_null() {
            return None;
        }
        set(ZSTD_cParameter::ZSTD_c_compressionLevel, level)?;
        set(ZSTD_cParameter::ZSTD_c_windowLog, window_log as i32)?;
        set(ZSTD_cParameter::ZSTD_c_enableLongDistanceMatching, 1)?;
        Some(finder)
    }

    /// Returns distance and length of each match in a block, in bytes, or `None` if libzstd fails.
    pub(crate) fn matches(&mut self, block: &[u8]) -> Option<Vec<(u32, u32)>> {
        // SAFETY: a pure function of its argument.
        let bound = unsafe { ZSTD_sequenceBound(block.len()) };
        let mut found: Vec<ZSTD_Sequence> = Vec::with_capacity(bound);
        // SAFETY: the vector has room for `bound` sequences, the block is valid for its length, and
        // the context is not null.
        let n = unsafe {
            ZSTD_generateSequences(self.0, found.as_mut_ptr(), bound, block.as_ptr().cast(), block.len())
        };
        // SAFETY: a pure function of its argument.
        if unsafe { ZSTD_isError(n) } != 0 || n > bound {
            return None;
        }
        // SAFETY: libzstd has written this many.
        unsafe { found.set_len(n) };
        // A sequence without a match ends a block of zstd. It is left out.
        Some(found.iter().filter(|s| s.matchLength > 0).map(|s| (s.offset, s.matchLength)).collect())
    }
}

impl Drop for Finder {
    fn drop(&mut self) {
        // SAFETY: made by `ZSTD_createCCtx`, or null.
        unsafe { ZSTD_freeCCtx(self.0) };
    }
}
