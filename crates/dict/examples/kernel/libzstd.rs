//! libzstd's digested dictionaries, with prefetching of their memory.
#![allow(unsafe_code)]

use core::ptr::NonNull;

use linerate_core::{CACHE_LINE, prefetch_line};
use zstd_safe::zstd_sys::{
    ZSTD_DCtx, ZSTD_DDict, ZSTD_createDCtx, ZSTD_createDDict, ZSTD_decompress_usingDDict, ZSTD_freeDCtx,
    ZSTD_freeDDict, ZSTD_isError, ZSTD_sizeof_DDict,
};

/// Bytes of the object in zstd 1.5: tables, 628 bytes of scratch, parameters.
const OBJECT: usize = 27_352;

pub(crate) struct Digested(NonNull<ZSTD_DDict>);

impl Digested {
    pub(crate) fn new(bytes: &[u8]) -> Option<Self> {
        // SAFETY: the function copies the bytes of the slice.
        NonNull::new(unsafe { ZSTD_createDDict(bytes.as_ptr().cast(), bytes.len()) }).map(Digested)
    }

    pub(crate) fn memory(&self) -> usize {
        // SAFETY: the object is alive as long as this.
        unsafe { ZSTD_sizeof_DDict(self.0.as_ptr()) }
    }

    /// Prefetches all lines of the object.
    pub(crate) fn burst(&self) {
        let start = self.0.as_ptr() as usize;
        (start..start + OBJECT).step_by(CACHE_LINE).for_each(prefetch_line);
    }
}

impl Drop for Digested {
    fn drop(&mut self) {
        // SAFETY: made in `new`, freed once.
        unsafe { ZSTD_freeDDict(self.0.as_ptr()) };
    }
}

pub(crate) struct Context(NonNull<ZSTD_DCtx>);

impl Context {
    pub(crate) fn new() -> Option<Self> {
        // SAFETY: the function takes no arguments.
        NonNull::new(unsafe { ZSTD_createDCtx() }).map(Context)
    }

    pub(crate) fn decode(
        &mut self,
        dictionary: Option<&Digested>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Option<usize> {
        let dictionary = dictionary.map_or(core::ptr::null(), |d| d.0.as_ptr().cast_const());
        // SAFETY: both objects are alive, the lengths are those of the slices; a null pointer stands for no
        // dictionary.
        let n = unsafe {
            ZSTD_decompress_usingDDict(
                self.0.as_ptr(),
                dst.as_mut_ptr().cast(),
                dst.len(),
                src.as_ptr().cast(),
                src.len(),
                dictionary,
            )
        };
        // SAFETY: a pure function of an integer.
        (unsafe { ZSTD_isError(n) } == 0).then_some(n)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: made in `new`, freed once.
        unsafe { ZSTD_freeDCtx(self.0.as_ptr()) };
    }
}
