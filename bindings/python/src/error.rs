//! Errors of the engines as Python exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyBaseException, PyKeyError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

create_exception!(
    pylinerate,
    Error,
    PyValueError,
    "Invalid data or parameters.\n\n\
     Attributes\n----------\n\
     kind : str\n    The kind of error: \"truncated\", \"corrupt\", \"unsupported\",\n    \
     \"output too small\", \"bad argument\", \"limit exceeded\".\n\
     offset : int\n    Offset in bytes from the start of the data (or of the ``cd_values``, 4 bytes each).\n\
     index : int\n    Index of the block, chunk or key, for errors of a call with several of them.\n\
     needed : int\n    Number of bytes that the output must have, for `decompress_into`."
);

create_exception!(
    pylinerate.gateway,
    GatewayError,
    Error,
    "A message is damaged, truncated, above the limits, or needs something that is not supported.\n\n\
     Attributes\n----------\n\
     kind : str\n    \"corrupt\", \"truncated\", \"limit exceeded\" or \"unsupported\".\n\
     offset : int\n    Offset in compressed bytes from the beginning of the connection.\n\
     message_index : int\n    Index of the message, from 0."
);

/// Converts an engine's error to a Python exception with the attributes `kind` and `offset`: to
/// `FileError` if a file could not be read or written, else to [`Error`].
pub(crate) fn raise(py: Python<'_>, e: linerate_core::Error) -> PyErr {
    let error = match e.kind {
        linerate_core::Kind::Read | linerate_core::Kind::Write => {
            let text = e.reason().to_string();
            file_error_class(py).map(|class| PyErr::from_type(class.clone(), text)).unwrap_or_else(|e| e)
        }
        _ => Error::new_err(e.to_string()),
    };
    with_attributes(py, error, e.kind, e.offset)
}

/// Converts the error of a gateway connection to a [`GatewayError`], with `kind`, `offset` and the
/// index of the message that failed.
pub(crate) fn raise_session_error(py: Python<'_>, session_error: linerate_gateway::SessionError) -> PyErr {
    let error = GatewayError::new_err(session_error.to_string());
    let error = with_attributes(py, error, session_error.kind(), session_error.offset());
    with(py, error, "message_index", session_error.message_index)
}

/// The error for an output buffer of fewer than `needed` bytes, the size of the payload. The
/// exception has `needed` as an attribute.
pub(crate) fn output_too_small(py: Python<'_>, needed: usize) -> PyErr {
    let text = format!("out is too small for the payload of {needed} bytes");
    let error = with_attributes(py, Error::new_err(text), linerate_core::Kind::OutputTooSmall, 0);
    with(py, error, "needed", needed as u64)
}

/// The error for a dictionary `id` that a `what` (a store or a pack) does not have.
pub(crate) fn unknown_id(py: Python<'_>, what: &str, id: u64) -> PyErr {
    let message = format!("the {what} has no dictionary {id}");
    let error = unknown_id_class(py).map(|class| PyErr::from_type(class.clone(), message));
    with_attributes(py, error.unwrap_or_else(|e| e), linerate_core::Kind::BadArgument, 0)
}

fn with_attributes(py: Python<'_>, error: PyErr, kind: linerate_core::Kind, offset: u64) -> PyErr {
    let set = error.value(py).setattr("kind", kind.name());
    with(py, set.err().unwrap_or(error), "offset", offset)
}

fn with(py: Python<'_>, error: PyErr, name: &str, value: u64) -> PyErr {
    let set = error.value(py).setattr(name, value);
    set.err().unwrap_or(error)
}

/// The exception class `UnknownId`: a store or pack has no dictionary with the given ID.
pub(crate) fn unknown_id_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let doc = "The store or pack has no dictionary with this ID. The kind is \"bad argument\".";
    class(py, &CLASS, "UnknownId", py.get_type::<PyKeyError>(), doc)
}

/// The exception class `FileError`: the system could not read or write a file.
pub(crate) fn file_error_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let doc = "The system could not read or write a file. The kind is \"cannot read\" or \"cannot write\".";
    class(py, &CLASS, "FileError", py.get_type::<PyOSError>(), doc)
}

/// Returns the exception class `name` of `pylinerate.dict`, with the bases [`Error`] and `other`.
/// The first call makes it and stores it in `known`.
fn class<'py>(
    py: Python<'py>,
    known: &'py PyOnceLock<Py<PyType>>,
    name: &str,
    other: Bound<'py, PyType>,
    doc: &str,
) -> PyResult<&'py Bound<'py, PyType>> {
    let class = known.get_or_try_init(py, || {
        let members = PyDict::new(py);
        members.set_item("__module__", "pylinerate.dict")?;
        members.set_item("__doc__", doc)?;
        // KeyError's own __str__ puts the message in quotes.
        members.set_item("__str__", py.get_type::<PyBaseException>().getattr("__str__")?)?;
        // Unpickling an error, which Dask does, calls the __new__ of its class. The __new__ of
        // Error, the first base, cannot make an OSError, so that of `other` is used.
        members.set_item("__new__", other.getattr("__new__")?)?;
        let bases = (py.get_type::<Error>(), other);
        let class = py.get_type::<PyType>().call1((name, bases, members))?;
        Ok::<_, PyErr>(class.cast_into::<PyType>()?.unbind())
    })?;
    Ok(class.bind(py))
}
