//! Errors of the engines as Python exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyBaseException, PyKeyError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

create_exception!(
    linerate,
    Error,
    PyValueError,
    "Data or parameters that cannot be used.\n\n\
     Attributes\n----------\n\
     kind : str\n    What kind of thing went wrong: \"truncated\", \"corrupt\", \"unsupported\",\n    \
     \"output too small\", \"bad argument\", \"limit exceeded\".\n\
     offset : int\n    Where, in bytes from the start of the data (or of the ``cd_values``, 4 bytes each)."
);

/// An engine's error as the exception, with its kind and offset. What the system says is an `OSError`.
pub(crate) fn raise(py: Python<'_>, e: linerate_core::Error) -> PyErr {
    if e.kind == linerate_core::Kind::Io {
        return PyOSError::new_err(e.what);
    }
    with_attributes(py, Error::new_err(e.to_string()), e.kind, e.at)
}

fn with_attributes(py: Python<'_>, error: PyErr, kind: linerate_core::Kind, offset: u64) -> PyErr {
    let value = error.value(py);
    let set = value.setattr("kind", kind.name()).and_then(|()| value.setattr("offset", offset));
    set.err().unwrap_or(error)
}

/// The class of errors for numbers that a store does not have: an [`Error`] and a `KeyError`.
pub(crate) fn unknown_id_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.get_or_try_init(py, || {
        let bases = (py.get_type::<Error>(), py.get_type::<PyKeyError>());
        let members = PyDict::new(py);
        members.set_item("__module__", "linerate.dict")?;
        members
            .set_item("__doc__", "A store has no dictionary of this number. Its kind is \"bad argument\".")?;
        // The message of a KeyError would be in quotes.
        members.set_item("__str__", py.get_type::<PyBaseException>().getattr("__str__")?)?;
        let class = py.get_type::<PyType>().call1(("UnknownId", bases, members))?;
        Ok::<_, PyErr>(class.cast_into::<PyType>()?.unbind())
    })?;
    Ok(class.bind(py))
}

/// The error for the number of a dictionary that is not there.
pub(crate) fn unknown_id(py: Python<'_>, id: u64) -> PyErr {
    match unknown_id_class(py) {
        Ok(class) => {
            let error = PyErr::from_type(class.clone(), format!("the store has no dictionary {id}"));
            with_attributes(py, error, linerate_core::Kind::BadArgument, 0)
        }
        Err(error) => error,
    }
}
