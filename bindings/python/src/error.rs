//! Errors of the engines as a Python exception.

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(
    linerate,
    Error,
    PyValueError,
    "Data or parameters that cannot be used.\n\n\
     Attributes\n----------\n\
     kind : str\n    What kind of thing went wrong: \"truncated\", \"corrupt\", \"unsupported\",\n    \
     \"output too small\", \"bad argument\".\n\
     offset : int\n    Where, in bytes from the start of the data (or of the ``cd_values``, 4 bytes each)."
);

/// An engine's error as the exception, with its kind and offset.
pub(crate) fn raise(py: Python<'_>, e: linerate_core::Error) -> PyErr {
    let error = Error::new_err(e.to_string());
    let value = error.value(py);
    let set = value.setattr("kind", e.kind.name()).and_then(|()| value.setattr("offset", e.at));
    set.err().unwrap_or(error)
}
