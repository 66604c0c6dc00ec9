//! The content of one websocket message.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::sys::buffers::Input;

/// Immutable compressed bytes.
pub(crate) enum Frame<'py> {
    /// A `bytes` object, as websocket libraries return it.
    Bytes(Bound<'py, PyBytes>),
    /// A copy of any other buffer, because its owner could write to it during decoding.
    Copy(Vec<u8>),
}

impl Frame<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Frame::Bytes(bytes) => bytes.as_bytes(),
            Frame::Copy(bytes) => bytes,
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Frame<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.cast::<PyBytes>() {
            Ok(bytes) => Ok(Frame::Bytes(bytes.to_owned())),
            Err(_) => Ok(Frame::Copy(object.extract::<Input>()?.bytes().to_vec())),
        }
    }
}
