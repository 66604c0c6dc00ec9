//! The native class behind `pylinerate.dict.Store`, which holds dictionaries by ID.

use std::sync::Arc;

use linerate_dict::{HugePages, Id, Kind, Store, StoreOptions, blocks, sst};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::pool::Pool;
use crate::error::{raise, unknown_id};
use crate::sys::buffers::Input;
use crate::sys::bytes::copied;

#[pyclass(frozen)]
pub(crate) struct DictStore {
    pub(super) store: Store,
    /// Readers of the block files that were opened with this store.
    pub(super) readers: Arc<Pool<blocks::Reader>>,
    /// Readers of the SST files that were opened with this store.
    pub(super) sst_readers: Arc<Pool<sst::Reader>>,
}

/// Statistics of a store: number of dictionaries, their bytes, number of dictionaries with tables,
/// bytes of these tables, bytes of the store's own slots, bytes of reserved address space, state of
/// huge pages, number of tables built and kept, number of tables evicted.
type Numbers = (usize, usize, usize, usize, usize, usize, &'static str, u64, u64);

#[pymethods]
impl DictStore {
    #[new]
    fn new(table_budget: Option<usize>, raw_limit: Option<usize>, huge_pages: bool) -> Self {
        let settings = StoreOptions::new()
            .table_budget(table_budget.unwrap_or(usize::MAX))
            .raw_limit(raw_limit.unwrap_or(usize::MAX))
            .huge_pages(huge_pages);
        DictStore {
            store: Store::with_options(settings),
            readers: Arc::default(),
            sst_readers: Arc::default(),
        }
    }

    fn insert(&self, py: Python<'_>, dictionary: Input, hash: Option<u64>) -> PyResult<u64> {
        let bytes = dictionary.bytes();
        let id = py.detach(|| match hash {
            Some(hash) => self.store.insert_with_hash(bytes, hash),
            None => self.store.insert(bytes),
        });
        id.map(Id::get).map_err(|e| raise(py, e))
    }

    fn retain(&self, py: Python<'_>, id: u64) -> PyResult<()> {
        self.store.retain(Id::from_raw(id)).map_err(|e| raise_for(py, &self.store, id, e))
    }

    fn release(&self, py: Python<'_>, id: u64) -> PyResult<bool> {
        self.store.release(Id::from_raw(id)).map_err(|e| raise_for(py, &self.store, id, e))
    }

    fn trim(&self, py: Python<'_>) -> usize {
        py.detach(|| self.store.trim())
    }

    fn contains(&self, id: u64) -> bool {
        self.store.contains(Id::from_raw(id))
    }

    fn hash(&self, py: Python<'_>, id: u64) -> PyResult<u64> {
        self.store.hash(Id::from_raw(id)).map_err(|e| raise_for(py, &self.store, id, e))
    }

    fn find(&self, hash: u64) -> Option<u64> {
        self.store.find(hash).map(Id::get)
    }

    fn bytes<'py>(&self, py: Python<'py>, id: u64) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.store.bytes(Id::from_raw(id)).map_err(|e| raise_for(py, &self.store, id, e))?;
        copied(py, &bytes)
    }

    fn stats(&self) -> Numbers {
        let stats = self.store.stats();
        let huge_pages = match stats.huge_pages {
            HugePages::Off => "off",
            HugePages::Advised => "advised",
            HugePages::Refused => "refused",
        };
        (
            stats.dictionaries,
            stats.raw_bytes,
            stats.digested,
            stats.table_bytes,
            stats.slot_bytes,
            stats.mapped_bytes,
            huge_pages,
            stats.digests,
            stats.evictions,
        )
    }
}

/// The 64-bit XXH3 hash of a dictionary.
#[pyfunction]
pub(crate) fn dict_content_hash(dictionary: Input) -> u64 {
    linerate_dict::content_hash(dictionary.bytes())
}

/// Converts an error of an operation on the dictionary `id` to an exception: `UnknownId` if the
/// store has no such dictionary.
pub(super) fn raise_for(py: Python<'_>, store: &Store, id: u64, e: linerate_dict::Error) -> PyErr {
    let number = Id::from_raw(id);
    let unknown = e.kind == Kind::BadArgument && number != Id::NONE && !store.contains(number);
    if unknown { unknown_id(py, "store", id) } else { raise(py, e) }
}
