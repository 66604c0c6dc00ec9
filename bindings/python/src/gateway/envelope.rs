//! Reads envelopes of payloads: their opcode, sequence number and event.

use linerate_core::{Error, Kind};
use linerate_gateway::{Encoding, Envelope};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::error::raise;
use crate::frame::Frame;

/// Opcode, sequence number and event of a payload. Each is `None` if the payload does not have it.
pub(super) type Members = (Option<u64>, Option<u64>, Option<String>);

/// Reads the envelope of a payload, which is a `str` or a buffer. `encoding` is "json" or "etf".
#[pyfunction]
pub(crate) fn gateway_peek(py: Python<'_>, payload: &Bound<'_, PyAny>, encoding: &str) -> PyResult<Members> {
    let encoding = encoding_of(encoding)?;
    let peek = |bytes: &[u8]| {
        let Envelope { op, sequence, event } = Envelope::peek(bytes, encoding)?;
        Ok((op, sequence, event.map(str::to_owned)))
    };
    let members = match payload.cast::<PyString>() {
        Ok(text) => peek(text.to_cow()?.as_bytes()),
        Err(_) => peek(payload.extract::<Frame<'_>>()?.bytes()),
    };
    members.map_err(|what| raise(py, Error::new(Kind::Corrupt, 0, what)))
}

pub(super) fn encoding_of(name: &str) -> PyResult<Encoding> {
    match name {
        "json" => Ok(Encoding::Json),
        "etf" => Ok(Encoding::Etf),
        _ => Err(PyValueError::new_err(format!(
            "{name:?} is not an encoding: payloads are \"json\" or \"etf\""
        ))),
    }
}
