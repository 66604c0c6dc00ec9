//! Buffers of Python objects, used without the interpreter's lock.
//!
//! While a buffer is held, its object can be neither resized nor freed. The Python caller must not
//! write to the object from another thread meanwhile, as the documentation of the Python modules
//! says.

use std::slice;

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

/// The bytes of an input: any Python object with a C-contiguous buffer. An object without a buffer
/// is a `TypeError`, and a buffer that is not C-contiguous a `ValueError`.
pub(crate) enum Input {
    /// A `bytes` object. Its bytes are read directly, because asking for its buffer allocates.
    Bytes(PyBackedBytes),
    Buffer(PyUntypedBuffer),
}

impl Input {
    pub(crate) fn bytes(&self) -> &[u8] {
        let buffer = match self {
            Input::Bytes(bytes) => return bytes,
            Input::Buffer(buffer) => buffer,
        };
        let len = buffer.len_bytes();
        if len == 0 {
            return &[];
        }
        // SAFETY: `extract` has checked that the buffer is contiguous, and `self` holds it. The
        // Python caller guarantees that nobody writes to it, see the module.
        unsafe { slice::from_raw_parts(buffer.buf_ptr().cast::<u8>(), len) }
    }
}

impl<'py> FromPyObject<'_, 'py> for Input {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Input::Bytes(bytes.to_owned().into()));
        }
        let buffer = PyUntypedBuffer::get(&object)?;
        if !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err("the buffer is not C-contiguous"));
        }
        Ok(Input::Buffer(buffer))
    }
}

/// The bytes of an output: any Python object with a writeable C-contiguous buffer of bytes. A
/// buffer that is read-only or not C-contiguous is a `ValueError`. An object without a buffer, or
/// with other elements than bytes, is a `TypeError`.
pub(crate) struct Output(PyUntypedBuffer);

impl Output {
    /// The bytes to write.
    ///
    /// # Errors
    /// `ValueError` if these bytes overlap one of `inputs`, which the call reads meanwhile.
    pub(crate) fn bytes_mut<'a>(
        &'a mut self,
        inputs: impl IntoIterator<Item = &'a [u8]>,
    ) -> PyResult<&'a mut [u8]> {
        let len = self.0.len_bytes();
        if len == 0 {
            return Ok(&mut []);
        }
        let start = self.0.buf_ptr().cast::<u8>();
        let own = start as usize..start as usize + len;
        let overlaps = |input: &[u8]| {
            let input = input.as_ptr_range();
            (input.start as usize) < own.end && own.start < input.end as usize && !input.is_empty()
        };
        if inputs.into_iter().any(overlaps) {
            return Err(PyValueError::new_err("out overlaps the input"));
        }
        // SAFETY: `extract` has checked that the buffer is contiguous and writeable, and `self`
        // holds it. It overlaps no input. The Python caller guarantees that nobody else uses it,
        // see the module.
        Ok(unsafe { slice::from_raw_parts_mut(start, len) })
    }
}

impl<'py> FromPyObject<'_, 'py> for Output {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(&object)?;
        if buffer.readonly() || !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err("out must be writeable and C-contiguous"));
        }
        // Elements other than bytes must not be overwritten, because they may be pointers to Python
        // objects.
        if buffer.item_size() != 1 || !matches!(buffer.format().to_bytes(), b"B" | b"b" | b"c") {
            return Err(PyTypeError::new_err("out must be a buffer of bytes, such as an array of uint8"));
        }
        Ok(Output(buffer))
    }
}
