//! The Python class of the zstd dictionaries that decompressors share.

use std::sync::Arc;

use linerate_gateway::Dictionaries;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::error::raise;

/// Zstd dictionaries that decompressors of `pylinerate.gateway` share, found by their ids.
#[pyclass(frozen, subclass, module = "pylinerate._pylinerate")]
pub(crate) struct GatewayDictionaries(pub(super) Arc<Dictionaries>);

#[pymethods]
impl GatewayDictionaries {
    #[new]
    #[pyo3(signature = (*dictionaries))]
    fn new(py: Python<'_>, dictionaries: Vec<PyBackedBytes>) -> PyResult<Self> {
        let made = Dictionaries::new(dictionaries.iter().map(|bytes| &bytes[..]));
        made.map(|made| GatewayDictionaries(Arc::new(made))).map_err(|error| raise(py, error))
    }

    /// The ids in ascending order. Raw content has the id 0.
    #[getter]
    fn ids(&self) -> Vec<u32> {
        self.0.ids().collect()
    }

    /// Bytes of memory held: contents and tables.
    #[getter]
    fn memory(&self) -> usize {
        self.0.memory()
    }
}
