//! What one websocket message brought.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::kernel::buffers::Input;

/// Compressed bytes that nobody changes.
pub(super) enum Frame<'py> {
    /// As websocket libraries give them.
    Bytes(Bound<'py, PyBytes>),
    /// Those of any other buffer: a copy, since its owner may write to it while they are decoded.
    Copy(Vec<u8>),
}

impl Frame<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
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
