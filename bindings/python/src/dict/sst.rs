//! The native class behind `pylinerate.dict.Sst`: reads RocksDB's SST files.

use std::path::PathBuf;
use std::sync::Arc;

use linerate_core::{Error, Kind};
use linerate_dict::Result;
use linerate_dict::sst::{Compression, DictionaryKind, Entry, EntryKind, KeyOrder, Reader, Sst, SstOptions};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use super::block_file::set_error;
use super::pool::{Open, Pool, PoolGuard};
use super::store::DictStore;
use crate::error::raise;
use crate::sys::buffers::Input;
use crate::sys::bytes::copied;

#[pyclass(frozen)]
pub(crate) struct DictSst {
    open: Open<Arc<Sst>>,
    readers: Arc<Pool<Reader>>,
}

/// An entry: key, sequence number, name of its kind, value.
type Row<'py> = (Bound<'py, PyBytes>, u64, &'static str, Bound<'py, PyBytes>);
/// A range deletion: first deleted key, first key after the range, sequence number.
type Deletion<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, u64);
/// Results of a batch of lookups: a list with the entry for each request, `None` if the file has
/// none or the lookup failed, and a dict of the errors by the index of the request.
type Results<'py> = (Bound<'py, PyList>, Bound<'py, PyDict>);
/// Statistics of a file: bytes, format version, kind of checksums, kind of index, key order; bytes
/// of its dictionary, if it has one, and Dictionary_ID of zstd if the dictionary is a trained one.
type Head = (u64, u32, &'static str, &'static str, &'static str, Option<u64>, Option<u32>);
/// The data blocks by compression: name of the compression, number of blocks, their bytes as
/// stored, and their bytes when decoded.
type Stored = Vec<(String, u64, u64, u64)>;
/// Names and values of the properties that RocksDB has stored in the file.
type Properties<'py> = Vec<(String, Bound<'py, PyBytes>)>;
/// Counts of a verified file: data blocks, other blocks, entries, deletions, merge operands, bytes
/// of keys, bytes of values.
type Verified = (u64, u64, u64, u64, u64, u64, u64);

/// A copy of an entry. It outlives the decoded block that the entry is in.
struct OwnedEntry {
    key: Vec<u8>,
    sequence: u64,
    kind: EntryKind,
    value: Vec<u8>,
}

#[pymethods]
impl DictSst {
    #[staticmethod]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        store: &DictStore,
        map: bool,
        checksums: bool,
        block_limit: usize,
    ) -> PyResult<Self> {
        let options = SstOptions::new().map(map).checksums(checksums).block_limit(block_limit);
        let mut reader = store.sst_readers.acquire(|| Reader::new(&store.store));
        let sst = py.detach(|| reader.open(&path, options)).map_err(|e| raise(py, e))?;
        Ok(DictSst { open: Open::new(Arc::new(sst)), readers: store.sst_readers.clone() })
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.open.close()));
    }

    fn is_closed(&self) -> bool {
        self.open.is_closed()
    }

    fn key_order(&self) -> PyResult<&'static str> {
        Ok(order_name(self.open.file()?.key_order()))
    }

    /// The newest entry of a key whose sequence number is at most `sequence`. If a newer range
    /// deletion contains the key, returns that instead, even if the file has no entry of the key.
    fn get<'py>(&self, py: Python<'py>, key: Input, sequence: u64) -> PyResult<Option<Row<'py>>> {
        let sst = self.open.file()?;
        let mut reader = self.reader(&sst);
        let key = key.bytes();
        let found = py.detach(|| reader.get_at(&sst, key, sequence)).map_err(|e| raise(py, e))?;
        found.map(|entry| row(py, entry)).transpose()
    }

    /// Entries in the order of the file, from the key `start` on without the first `skip` entries,
    /// to the key `stop` (not included). Returns the first entries that together take at least
    /// `max_bytes` bytes of memory, or all if they take less. The list is empty if no entry is
    /// left.
    fn scan<'py>(
        &self,
        py: Python<'py>,
        start: Option<Input>,
        skip: usize,
        stop: Option<Input>,
        max_bytes: usize,
    ) -> PyResult<Vec<Row<'py>>> {
        let sst = self.open.file()?;
        let mut reader = self.reader(&sst);
        let (start, stop) = (start.as_ref().map(Input::bytes), stop.as_ref().map(Input::bytes));
        let entries = py.detach(|| copy_entries(&mut reader, &sst, start, skip, stop, max_bytes));
        let entries = entries.map_err(|e| raise(py, e))?;
        let row = |entry: &OwnedEntry| {
            let OwnedEntry { key, sequence, kind, value } = entry;
            Ok((copied(py, key)?, *sequence, kind.name(), copied(py, value)?))
        };
        entries.iter().map(row).collect()
    }

    fn range_deletions<'py>(&self, py: Python<'py>) -> PyResult<Vec<Deletion<'py>>> {
        let sst = self.open.file()?;
        let all = sst.range_deletions().iter();
        all.map(|r| Ok((copied(py, &r.start)?, copied(py, &r.end)?, r.sequence))).collect()
    }

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<(Head, Stored, Properties<'py>)> {
        let sst = self.open.file()?;
        let mut reader = self.reader(&sst);
        let stats = py.detach(|| reader.stats(&sst)).map_err(|e| raise(py, e))?;
        let number = stats.dictionary.and_then(|dictionary| match dictionary.kind {
            DictionaryKind::Trained { number } => Some(number),
            _ => None,
        });
        let head = (
            stats.file_bytes,
            stats.format_version,
            stats.checksum.name(),
            stats.index.name(),
            order_name(sst.key_order()),
            stats.dictionary.map(|dictionary| dictionary.bytes),
            number,
        );
        let stored = stats.blocks.iter().map(|(way, count)| {
            let name = match way {
                Compression::Other(number) => format!("other {number}"),
                known => known.name().to_owned(),
            };
            (name, count.blocks, count.stored, count.content)
        });
        let properties = stats.properties.iter().map(|property| {
            Ok((String::from_utf8_lossy(&property.name).into_owned(), copied(py, &property.value)?))
        });
        Ok((head, stored.collect(), properties.collect::<PyResult<_>>()?))
    }

    /// Reads and decodes every block. Returns counts, the first hundred errors, and the number of
    /// all errors.
    fn verify<'py>(&self, py: Python<'py>) -> PyResult<(Verified, Bound<'py, PyList>, u64)> {
        let sst = self.open.file()?;
        let mut reader = self.reader(&sst);
        let v = py.detach(|| reader.verify(&sst)).map_err(|e| raise(py, e))?;
        let failures = PyList::empty(py);
        for failure in &v.failures {
            failures.append(raise(py, *failure).into_value(py))?;
        }
        let counts = (
            v.data_blocks,
            v.other_blocks,
            v.entries,
            v.deletions,
            v.merge_operands,
            v.key_bytes,
            v.value_bytes,
        );
        Ok((counts, failures, v.failed))
    }
}

impl DictSst {
    fn reader(&self, sst: &Sst) -> PoolGuard<'_, Reader> {
        self.readers.acquire(|| Reader::new(sst.store()))
    }
}

/// Looks up the newest entries of keys; a request is a file and a key. All files must have been
/// opened with one store. Raises `ValueError` if a file is closed.
#[pyfunction]
pub(crate) fn dict_sst_multi_get<'py>(
    py: Python<'py>,
    requests: Vec<(PyRef<'py, DictSst>, Input)>,
) -> PyResult<Results<'py>> {
    let (entries, errors) = (PyList::empty(py), PyDict::new(py));
    let files: Vec<Arc<Sst>> = requests.iter().map(|(file, _)| file.open.file()).collect::<PyResult<_>>()?;
    let Some((first, _)) = requests.first() else { return Ok((entries, errors)) };
    let mut reader = first.reader(&files[0]);
    let wanted: Vec<(&Sst, &[u8])> =
        files.iter().zip(&requests).map(|(file, (_, key))| (&**file, key.bytes())).collect();
    let found = py.detach(|| reader.multi_get(&wanted));
    for (i, entry) in found.into_iter().enumerate() {
        if let Err(e) = entry {
            set_error(py, &errors, i, e)?;
        }
        entries.append(entry.ok().flatten().map(|entry| row(py, entry)).transpose()?)?;
    }
    Ok((entries, errors))
}

fn row<'py>(py: Python<'py>, entry: Entry<'_>) -> PyResult<Row<'py>> {
    Ok((copied(py, entry.key)?, entry.sequence, entry.kind.name(), copied(py, entry.value)?))
}

fn order_name(order: KeyOrder) -> &'static str {
    match order {
        KeyOrder::Bytewise => "bytewise",
        KeyOrder::Reverse => "reverse",
        _ => "unknown",
    }
}

/// Copies entries out of a file, as [`DictSst::scan`] says. Entries before an error are returned
/// without it; the next call, which begins after them, returns the error. If the key order is
/// unknown, a `start` or `stop` is an error of [`Kind::Unsupported`].
fn copy_entries(
    reader: &mut Reader,
    sst: &Sst,
    start: Option<&[u8]>,
    mut skip: usize,
    stop: Option<&[u8]>,
    max_bytes: usize,
) -> Result<Vec<OwnedEntry>> {
    let order = sst.key_order();
    let unknown = !matches!(order, KeyOrder::Bytewise | KeyOrder::Reverse);
    if unknown && stop.is_some() {
        let what = "the keys are in the order of a custom comparator, which is unknown";
        return Err(Error::new(Kind::Unsupported, 0, what));
    }
    let mut scan = match start {
        Some(start) => reader.scan_from(sst, start)?,
        None => reader.scan(sst),
    };
    let (mut entries, mut bytes) = (Vec::new(), 0);
    while bytes < max_bytes {
        let entry = match scan.next_entry() {
            Ok(Some(entry)) => entry,
            Ok(None) => break,
            Err(_) if !entries.is_empty() => break,
            Err(e) => return Err(e),
        };
        let over = |stop| if order == KeyOrder::Reverse { entry.key <= stop } else { entry.key >= stop };
        if stop.is_some_and(over) {
            break;
        }
        if skip > 0 {
            skip -= 1;
            continue;
        }
        bytes += entry.key.len() + entry.value.len() + size_of::<OwnedEntry>();
        let (key, value) = (entry.key.to_vec(), entry.value.to_vec());
        entries.push(OwnedEntry { key, sequence: entry.sequence, kind: entry.kind, value });
    }
    Ok(entries)
}
