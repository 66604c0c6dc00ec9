//! The input of one call, such as the content of a websocket message.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::sys::buffers::Input;

/// Input bytes that nobody can change during the call: a compressed message to decode, or a payload
/// to encode or to look into.
pub(crate) enum Frame<'py> {
    /// A `bytes` object, which is immutable. Websocket libraries return such objects.
    Bytes(Bound<'py, PyBytes>),
    /// A copy of any other buffer, because its owner could write to it during the call.
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
