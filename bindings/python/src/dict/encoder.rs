//! The native class behind `pylinerate.dict.Encoder`: compresses single blocks.

use std::sync::Mutex;

use linerate_core::{Error, Kind, lock};
use linerate_dict::{Encoder, Id, Result, Store};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::store::{DictStore, raise_for};
use crate::error::raise;
use crate::sys::buffers::Input;
use crate::sys::bytes::copied;

/// Largest capacity of the output buffer that is kept between blocks, in bytes.
const KEPT_CAPACITY: usize = 1 << 20;

#[pyclass(frozen)]
pub(crate) struct DictEncoder {
    store: Store,
    /// The encoder and its output buffer.
    encoder: Mutex<(Encoder, Vec<u8>)>,
}

#[pymethods]
impl DictEncoder {
    #[new]
    fn new(py: Python<'_>, store: &DictStore, level: i32, checksum: bool) -> PyResult<Self> {
        let encoder = Encoder::new(&store.store).level(level).map(|e| e.checksum(checksum));
        let encoder = encoder.map_err(|e| raise(py, e))?;
        Ok(DictEncoder { store: store.store.clone(), encoder: Mutex::new((encoder, Vec::new())) })
    }

    fn encode<'py>(&self, py: Python<'py>, id: u64, data: Input) -> PyResult<Bound<'py, PyBytes>> {
        let data = data.bytes();
        let block = py.detach(|| self.one(id, data)).map_err(|e| raise_for(py, &self.store, id, e))?;
        copied(py, &block)
    }
}

impl DictEncoder {
    fn one(&self, id: u64, data: &[u8]) -> Result<Vec<u8>> {
        let mut encoder = lock(&self.encoder);
        let (encoder, buffer) = &mut *encoder;
        let bound = Encoder::bound(data.len());
        let full = Error::new(Kind::Limit, 0, "not enough memory for the compressed block");
        buffer.clear();
        buffer.try_reserve(bound).map_err(|_| full)?;
        buffer.resize(bound, 0);
        let n = encoder.encode(Id::from_raw(id), data, buffer);
        let block = n.map(|n| buffer[..n].to_vec());
        buffer.clear();
        buffer.shrink_to(KEPT_CAPACITY);
        block
    }
}
