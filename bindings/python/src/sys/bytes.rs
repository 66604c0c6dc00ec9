//! Makes Python `bytes` objects. If memory runs out, these functions return a `MemoryError`, where
//! `PyBytes::new` would panic.

use std::os::raw::c_int;

use linerate_core::Result;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::raise;

unsafe extern "C" {
    /// Resizes a `bytes` object. The function is part of Python's stable ABI, but pyo3 has no
    /// public declaration of it.
    fn _PyBytes_Resize(bytes: *mut *mut ffi::PyObject, len: ffi::Py_ssize_t) -> c_int;
}

/// A `bytes` object with a copy of `content`.
///
/// # Errors
/// `MemoryError` if memory runs out, where `PyBytes::new` would panic.
pub(crate) fn copied<'py>(py: Python<'py>, content: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let len = content.len() as ffi::Py_ssize_t; // a slice has at most isize::MAX bytes
    // SAFETY: the interpreter is attached, and `len` bytes can be read at the pointer. The result
    // is an owned reference, or null with the exception set.
    let object = unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(content.as_ptr().cast(), len))
    };
    Ok(object?.cast_into::<PyBytes>()?)
}

/// Makes a `bytes` object whose content `fill` writes, without the interpreter's lock. `fill` gets
/// `bound` bytes of arbitrary content, and returns how many of them it wrote from the start; the
/// object is then shortened to these.
///
/// # Errors
/// The errors of `fill` as Python exceptions; `MemoryError` if memory runs out, and `OverflowError`
/// if a `bytes` object cannot have `bound` bytes.
///
/// # Panics
/// If `fill` returns more than `bound`.
pub(crate) fn filled<'py>(
    py: Python<'py>,
    bound: usize,
    fill: impl FnOnce(&mut [u8]) -> Result<usize> + Send,
) -> PyResult<Bound<'py, PyBytes>> {
    // SAFETY: the interpreter is attached. A null pointer asks for bytes that the caller is to
    // write.
    let object = unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(std::ptr::null(), length(bound)))?
    };
    // SAFETY: the object is a `bytes` object of `bound` bytes, and nobody else has a reference to
    // it. Any content is valid for `u8`.
    let storage =
        unsafe { std::slice::from_raw_parts_mut(ffi::PyBytes_AsString(object.as_ptr()).cast::<u8>(), bound) };
    let len = py.detach(|| fill(storage)).map_err(|e| raise(py, e))?;
    assert!(len <= bound, "no more was written than there is room for");
    let mut pointer = object.into_ptr();
    // SAFETY: this is the only reference to the `bytes` object. If resizing fails, the pointer is
    // null and the exception is set.
    unsafe {
        _PyBytes_Resize(&mut pointer, length(len));
        Ok(Bound::from_owned_ptr_or_err(py, pointer)?.cast_into_unchecked())
    }
}

/// Converts a number of bytes to Python's signed type for lengths. A number above its maximum
/// becomes the maximum, a length that Python refuses.
fn length(bytes: usize) -> ffi::Py_ssize_t {
    ffi::Py_ssize_t::try_from(bytes).unwrap_or(ffi::Py_ssize_t::MAX)
}
