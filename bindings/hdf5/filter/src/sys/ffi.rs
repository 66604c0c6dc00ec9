//! Handles calls from HDF5: converts raw arguments, catches panics, and returns what HDF5 expects.

use core::ffi::{CStr, c_int, c_uint, c_void};
use core::slice;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::REVERSE;
use crate::creation::Creation;
use crate::error::{FilterError, Result};
use crate::sys::class::Hid;
use crate::sys::library::Library;
use crate::sys::memory::Block;

/// Output of encoding or decoding: a block of memory, and the number of its bytes in use.
pub(crate) struct Output {
    pub(crate) block: Block,
    pub(crate) bytes: usize,
}

/// A filter as Rust functions.
pub(crate) struct Codec {
    pub(crate) name: &'static CStr,
    /// Encodes samples as a chunk with the parameters in the `cd_values`.
    pub(crate) encode: fn(&[u32], &[u8]) -> Result<Output>,
    /// Decodes a chunk to samples with the parameters in the `cd_values`.
    pub(crate) decode: fn(&[u32], &[u8]) -> Result<Output>,
    /// Checks a dataset that is being created and completes the `cd_values`.
    pub(crate) create: fn(&Creation) -> Result<()>,
}

const PANIC: FilterError = FilterError::Filter("internal error: please report it");

impl Codec {
    /// Handles a call of the filter by HDF5: encodes or decodes the buffer and replaces it. Returns
    /// the number of bytes in use, or 0 on failure, which changes nothing.
    ///
    /// # Safety
    /// The contract of HDF5's filters: `values` points to `count` numbers, `buf` to a block of C's
    /// allocator with at least `nbytes` bytes, and `buf_size` to a number.
    pub(crate) unsafe fn filter(
        &self,
        flags: c_uint,
        count: usize,
        values: *const c_uint,
        nbytes: usize,
        buf_size: *mut usize,
        buf: *mut *mut c_void,
    ) -> usize {
        if buf_size.is_null() || buf.is_null() {
            return 0;
        }
        // SAFETY: the caller vouches for each array; `array` lets null stand for an empty one.
        let (values, bytes) = unsafe { (array(values, count), array((*buf).cast::<u8>(), nbytes)) };
        let code = if flags & REVERSE != 0 { self.decode } else { self.encode };
        let Some(output) = self.caught(|| code(values, bytes).and_then(Output::not_empty)) else { return 0 };
        // SAFETY: *buf is of C's allocator, as the caller vouches, and no longer the caller's.
        unsafe {
            libc::free(*buf);
            *buf_size = output.block.bytes();
            *buf = output.block.into_raw();
        }
        output.bytes
    }

    /// Handles a call of `set_local` by HDF5. Returns 0, or -1 if the dataset must not be created.
    /// Checks nothing if HDF5's functions are not found.
    pub(crate) fn set_local(&self, dcpl: Hid, datatype: Hid) -> c_int {
        let create = || {
            Library::of_caller()
                .map_or(Ok(()), |library| (self.create)(&Creation::new(library, dcpl, datatype)?))
        };
        if self.caught(create).is_some() { 0 } else { -1 }
    }

    /// Runs `work` and returns its result. An error or a panic goes to the error stack of HDF5, and
    /// the result is then `None`.
    fn caught<T>(&self, work: impl FnOnce() -> Result<T>) -> Option<T> {
        let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(PANIC));
        let push =
            |error| catch_unwind(|| Library::of_caller().map(|library| library.push(self.name, &error)));
        result.map_err(|error| drop(push(error))).ok()
    }
}

impl Output {
    /// Makes an empty output an error: HDF5 takes 0 bytes for a failure.
    fn not_empty(self) -> Result<Output> {
        if self.bytes == 0 { Err(FilterError::Filter("the chunk holds no samples")) } else { Ok(self) }
    }
}

/// # Safety
/// `start` is null or points to `len` values that live as long as 'a.
unsafe fn array<'a, T>(start: *const T, len: usize) -> &'a [T] {
    // SAFETY: not null, and otherwise as the caller vouches.
    if start.is_null() { &[] } else { unsafe { slice::from_raw_parts(start, len) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PANICS: Codec = Codec {
        name: c"test",
        encode: |_, _| panic!("while encoding"),
        decode: |_, _| panic!("while decoding"),
        create: |_| Ok(()),
    };

    #[test]
    fn panic_returns_0_and_changes_nothing() {
        for flags in [0, REVERSE] {
            let mut bytes = [1u8, 2, 3, 4];
            let (mut size, mut buf) = (bytes.len(), bytes.as_mut_ptr().cast::<c_void>());
            let before = buf;
            // SAFETY: nothing is freed, since both panic.
            let n = unsafe { PANICS.filter(flags, 0, core::ptr::null(), 4, &raw mut size, &raw mut buf) };
            assert_eq!((n, size, buf, bytes), (0, 4, before, [1, 2, 3, 4]));
        }
    }
}
