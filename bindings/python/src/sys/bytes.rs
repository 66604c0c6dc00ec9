//! Python `bytes` objects: allocated without a panic if memory runs out, and written in place.

use std::os::raw::c_int;

use linerate_core::Result;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use crate::error::raise;

unsafe extern "C" {
    /// Of Python's stable interface, but not declared for it by pyo3.
    fn _PyBytes_Resize(bytes: *mut *mut ffi::PyObject, len: ffi::Py_ssize_t) -> c_int;
}

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

/// A `bytes` object that `fill` writes without the interpreter's lock. `fill` gets `bound` bytes with any content and
/// returns how many of them it wrote; the rest is given back.
///
/// # Errors
/// Those of `fill`, and `MemoryError`.
pub(crate) fn filled<'py>(
    py: Python<'py>,
    bound: usize,
    fill: impl FnOnce(&mut [u8]) -> Result<usize> + Send,
) -> PyResult<Bound<'py, PyBytes>> {
    // SAFETY: the interpreter is attached. Without content to copy the bytes are for the caller to write.
    let object = unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(std::ptr::null(), length(bound)))?
    };
    // SAFETY: the object is a `bytes` object of `bound` bytes, which nobody else knows of yet.
    let len = unsafe { fill_storage(&object, bound, fill)? };
    let mut pointer = object.into_ptr();
    // SAFETY: the only reference to a `bytes` object. It is null, with the exception set, if that fails.
    unsafe {
        _PyBytes_Resize(&mut pointer, length(len));
        Ok(Bound::from_owned_ptr_or_err(py, pointer)?.cast_into_unchecked())
    }
}

/// As [`filled`], an object of `class`, a subclass of `bytes` by a `class` statement without `__slots__`. Its
/// `__new__` and `__init__` are not called.
///
/// Python makes these objects by copying a `bytes` object; there is no function that lets a caller write them. So the
/// storage is taken from Python's allocator, and laid out as Python 3.11 to 3.14 do: the header, the hash, the bytes,
/// and a null in the last word for the `__dict__`. A Python whose classes say that they differ gets the copy.
///
/// # Errors
/// Those of [`filled`], and `TypeError` if `class` is something else.
pub(crate) fn filled_instance<'py>(
    class: &Bound<'py, PyType>,
    bound: usize,
    fill: impl FnOnce(&mut [u8]) -> Result<usize> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let plain = py.get_type::<PyBytes>();
    if !class.getattr("__base__")?.is(&plain) {
        return Err(PyTypeError::new_err("not a direct subclass of bytes"));
    }
    if !is_laid_out_as_known(class, &plain)? {
        return plain.call_method1("__new__", (class, filled(py, bound, fill)?));
    }
    // SAFETY: the interpreter is attached, and the class is one of objects of variable size in the care of the garbage
    // collector, as all with a `__dict__`. The collector does not know the object before it is tracked. Until then its
    // last word is null, which is the `__dict__`'s, so that it can be freed at any time.
    unsafe {
        let pointer = ffi::PyObject_GC_NewVar::<ffi::PyObject>(class.as_type_ptr(), length(bound));
        let object = Bound::from_owned_ptr_or_err(py, pointer)?;
        let storage = ffi::PyBytes_AsString(object.as_ptr()).cast::<u8>();
        storage.sub(HASH_BYTES).cast::<ffi::Py_hash_t>().write_unaligned(-1); // not computed yet
        storage.add(bound).write_bytes(0, after_content(bound));
        let len = fill_storage(&object, bound, fill)?;
        let shorter = ffi::PyObject_GC_Resize::<ffi::PyObject>(object.as_ptr(), length(len));
        if shorter.is_null() {
            return Err(PyErr::fetch(py)); // with the object as it was
        }
        std::mem::forget(object); // it became the shorter one
        let object = Bound::from_owned_ptr(py, shorter);
        let storage = ffi::PyBytes_AsString(object.as_ptr()).cast::<u8>();
        storage.add(len).write_bytes(0, after_content(len));
        ffi::PyObject_GC_Track(object.as_ptr().cast());
        Ok(object)
    }
}

const HASH_BYTES: usize = size_of::<ffi::Py_hash_t>();
const HEADER_BYTES: usize = size_of::<ffi::PyVarObject>() + HASH_BYTES;

/// Bytes of an object after its content of `len` bytes: a zero, padding, the pointer to its `__dict__`.
fn after_content(len: usize) -> usize {
    let end = HEADER_BYTES + len + 1 + size_of::<usize>();
    end.next_multiple_of(size_of::<usize>()) - HEADER_BYTES - len
}

/// Whether `class`, a subclass of `plain`, which is `bytes`, has the layout that [`filled_instance`] writes.
fn is_laid_out_as_known(class: &Bound<'_, PyType>, plain: &Bound<'_, PyType>) -> PyResult<bool> {
    let number = |of: &Bound<'_, PyType>, name| of.getattr(name)?.extract::<isize>();
    let word = size_of::<usize>() as isize;
    let content = HEADER_BYTES as isize + 1;
    Ok(number(plain, "__basicsize__")? == content
        && number(class, "__basicsize__")? == content + word
        && number(class, "__itemsize__")? == 1
        && number(class, "__dictoffset__")? == -word
        && number(class, "__weakrefoffset__")? == 0)
}

/// Has `fill` write the first `bound` bytes of `object`, returns how many it wrote.
///
/// # Safety
/// `object` is of `bytes` or a subclass, has room for `bound` bytes, and is used by nobody else.
unsafe fn fill_storage(
    object: &Bound<'_, PyAny>,
    bound: usize,
    fill: impl FnOnce(&mut [u8]) -> Result<usize> + Send,
) -> PyResult<usize> {
    let py = object.py();
    // SAFETY: as the caller promises. Any content is a valid one of `u8`, as in `numpy.empty`.
    let storage =
        unsafe { std::slice::from_raw_parts_mut(ffi::PyBytes_AsString(object.as_ptr()).cast::<u8>(), bound) };
    let len = py.detach(|| fill(storage)).map_err(|e| raise(py, e))?;
    assert!(len <= bound, "no more was written than there is room for");
    Ok(len)
}

/// A length for Python. A bound above its maximum becomes that, which no allocator has.
fn length(bytes: usize) -> ffi::Py_ssize_t {
    ffi::Py_ssize_t::try_from(bytes).unwrap_or(ffi::Py_ssize_t::MAX)
}
