//! Python `bytes` objects, allocated without a panic if memory runs out.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A copy of `content`.
///
/// # Errors
/// `MemoryError`, where `PyBytes::new` would panic.
pub(crate) fn copied<'py>(py: Python<'py>, content: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let len = content.len() as ffi::Py_ssize_t; // a slice has at most isize::MAX bytes
    // SAFETY: the interpreter is attached, and `len` bytes can be read at the pointer. The result is
    // an owned reference, or null with the exception set.
    let object = unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(content.as_ptr().cast(), len))
    };
    Ok(object?.cast_into::<PyBytes>()?)
}
