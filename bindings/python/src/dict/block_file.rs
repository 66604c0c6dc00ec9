//! The native classes behind `pylinerate.dict.BlockFile`: read and write sorted files of records.

use std::ops::Bound as Limit;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use linerate_core::{Error, Kind, lock};
use linerate_dict::blocks::{
    BlockFileOptions, Builder, Counts, DictionaryChoice, Duplicates, Reader, Sorter,
};
use linerate_dict::{BlockFile, Id, Input as Source};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use super::pool::{Open, Pool};
use super::store::DictStore;
use crate::error::raise;
use crate::sys::buffers::Input;
use crate::sys::bytes::copied;

/// Memory for sorting records, in bytes. Records that need more go to temporary files.
const SORTED: usize = 256 << 20;

#[pyclass(frozen)]
pub(crate) struct DictBlockFile {
    open: Open<BlockFile>,
    readers: Arc<Pool<Reader>>,
}

/// Counts of a block file: records, bytes of keys, bytes of values, blocks, bytes of the blocks
/// decoded, bytes of the blocks as stored, index blocks, bytes of the index.
type Numbers = (u64, u64, u64, u64, u64, u64, u64, u64);
/// Statistics of a block file: its counts; its bytes, target size of a block, zstd level, whether
/// blocks have checksums, bytes and hash of its dictionary.
type Stats = (Numbers, u64, u32, i32, bool, u32, u64);
/// Results of a batch of lookups: a list with the value for each request, `None` if its key is
/// missing or its lookup failed, and a dict of the errors by the index of the request.
type Results<'py> = (Bound<'py, PyList>, Bound<'py, PyDict>);

fn numbers(counts: &Counts) -> Numbers {
    (
        counts.records,
        counts.key_bytes,
        counts.value_bytes,
        counts.blocks,
        counts.content_bytes,
        counts.stored_bytes,
        counts.index_blocks,
        counts.index_bytes,
    )
}

#[pymethods]
impl DictBlockFile {
    /// Opens a block file. If `map` is true, maps it into memory; otherwise reads each block when
    /// it is needed. `dictionary` is the store's ID of a dictionary that the file does not contain;
    /// if it is `None`, the store is searched for the hash that the file states.
    #[staticmethod]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        store: &DictStore,
        map: bool,
        dictionary: Option<u64>,
    ) -> PyResult<Self> {
        let file = py.detach(|| {
            let source = if map { Source::map(&path) } else { Source::file(&path) }?;
            match dictionary {
                Some(id) => BlockFile::open_with(source, &store.store, Id::from_raw(id)),
                None => BlockFile::open_input(source, &store.store),
            }
        });
        let open = Open::new(file.map_err(|e| raise(py, e))?);
        Ok(DictBlockFile { open, readers: store.readers.clone() })
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.open.close()));
    }

    fn is_closed(&self) -> bool {
        self.open.is_closed()
    }

    /// The ID of the file's dictionary in the store; 0 if the file has none.
    fn dictionary(&self) -> PyResult<u64> {
        Ok(self.open.file()?.dictionary().get())
    }

    fn get<'py>(&self, py: Python<'py>, key: Input) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let file = self.open.file()?;
        let mut reader = self.readers.acquire(|| file.reader());
        let key = key.bytes();
        let value = py.detach(|| file.get(&mut reader, key)).map_err(|e| raise(py, e))?;
        value.map(|value| copied(py, value)).transpose()
    }

    /// Records in key order, from the key `start` on, or after it if `exclusive` is true, to the
    /// key `stop` (not included). Returns the first records that together have at least
    /// `max_bytes` bytes, or all if they have fewer. The list is empty if no record is left.
    fn scan<'py>(
        &self,
        py: Python<'py>,
        start: Option<Input>,
        exclusive: bool,
        stop: Option<Input>,
        max_bytes: usize,
    ) -> PyResult<Vec<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)>> {
        let file = self.open.file()?;
        let mut reader = self.readers.acquire(|| file.reader());
        let from = match start.as_ref().map(Input::bytes) {
            None => Limit::Unbounded,
            Some(start) if exclusive => Limit::Excluded(start),
            Some(start) => Limit::Included(start),
        };
        let to = stop.as_ref().map_or(Limit::Unbounded, |stop| Limit::Excluded(stop.bytes()));
        let records = py.detach(|| {
            let (mut records, mut bytes) = (Vec::new(), 0);
            for record in file.scan::<&[u8]>(&mut reader, (from, to)) {
                match record {
                    Ok(record) => {
                        bytes += record.0.len() + record.1.len();
                        records.push(record);
                    }
                    // The records before the error are returned without it. The next call, which
                    // begins after them, returns the error.
                    Err(_) if !records.is_empty() => break,
                    Err(e) => return Err(e),
                }
                if bytes >= max_bytes {
                    break;
                }
            }
            Ok(records)
        });
        let records = records.map_err(|e| raise(py, e))?;
        records.iter().map(|(key, value)| Ok((copied(py, key)?, copied(py, value)?))).collect()
    }

    fn verify(&self, py: Python<'_>) -> PyResult<Numbers> {
        let file = self.open.file()?;
        let mut reader = self.readers.acquire(|| file.reader());
        let verified = py.detach(|| file.verify(&mut reader)).map_err(|e| raise(py, e))?;
        Ok(numbers(&verified.counts))
    }

    fn stats(&self) -> PyResult<Stats> {
        let stats = self.open.file()?.stats();
        let (len, hash) = (stats.dictionary.len, stats.dictionary.hash);
        Ok((numbers(&stats.counts), stats.len, stats.block_size, stats.level, stats.checksums, len, hash))
    }
}

/// Looks up keys in block files; a request is a file and a key. All files must have been opened
/// with one store. Raises `ValueError` if a file is closed.
#[pyfunction]
pub(crate) fn dict_block_multi_get<'py>(
    py: Python<'py>,
    requests: Vec<(PyRef<'py, DictBlockFile>, Input)>,
) -> PyResult<Results<'py>> {
    let (values, errors) = (PyList::empty(py), PyDict::new(py));
    let files: Vec<BlockFile> = requests.iter().map(|(file, _)| file.open.file()).collect::<PyResult<_>>()?;
    let Some((first, _)) = requests.first() else { return Ok((values, errors)) };
    let mut reader = first.readers.acquire(|| files[0].reader());
    let wanted: Vec<(&BlockFile, &[u8])> =
        files.iter().zip(&requests).map(|(file, (_, key))| (file, key.bytes())).collect();
    let mut found = Vec::with_capacity(wanted.len());
    py.detach(|| {
        reader.multi_get(&wanted, |_, value| found.push(value.map(|value| value.map(<[u8]>::to_vec))))
    });
    for (i, value) in found.into_iter().enumerate() {
        if let Err(e) = value {
            set_error(py, &errors, i, e)?;
        }
        values.append(value.ok().flatten().map(|value| copied(py, &value)).transpose()?)?;
    }
    Ok((values, errors))
}

/// Adds the error of the request with this index to the dict `errors`, as a Python exception.
pub(super) fn set_error(py: Python<'_>, errors: &Bound<'_, PyDict>, index: usize, e: Error) -> PyResult<()> {
    errors.set_item(index, raise(py, e).into_value(py))
}

/// A block file that is being written. If records may come in any order, they go to the sorter
/// first; without a sorter they go to the builder directly.
struct Building {
    builder: Builder,
    sorter: Option<Sorter>,
}

#[pyclass(frozen)]
pub(crate) struct DictBuilder(Mutex<Option<Building>>);

#[pymethods]
impl DictBuilder {
    /// Begins a block file. It gets the given dictionary; or else, if `train` is given, one of at
    /// most that many bytes, trained on the first records; or else none.
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        block_size: u32,
        level: i32,
        checksums: bool,
        dictionary: Option<Input>,
        train: Option<usize>,
        small_tables: bool,
        sort: bool,
    ) -> PyResult<Self> {
        let dictionary = match (dictionary, train) {
            (Some(bytes), _) => DictionaryChoice::Embedded(bytes.bytes().to_vec()),
            (None, Some(size)) => DictionaryChoice::Train { size, small_tables },
            (None, None) => DictionaryChoice::None,
        };
        let options = BlockFileOptions::new()
            .block_size(block_size)
            .level(level)
            .checksums(checksums)
            .dictionary(dictionary);
        let builder = py.detach(|| Builder::create(&path, options)).map_err(|e| raise(py, e))?;
        let sorter = sort.then(|| Sorter::new(SORTED, Duplicates::Refuse));
        Ok(DictBuilder(Mutex::new(Some(Building { builder, sorter }))))
    }

    /// Adds records, each a key and a value. The first one that cannot be added raises its error;
    /// those after it are not added.
    fn add(&self, py: Python<'_>, records: Vec<(Input, Input)>) -> PyResult<()> {
        let records: Vec<_> = records.iter().map(|(key, value)| (key.bytes(), value.bytes())).collect();
        let added = py.detach(|| {
            let mut building = lock(&self.0);
            let Some(Building { builder, sorter }) = &mut *building else { return Err(FINISHED) };
            records.iter().try_for_each(|(key, value)| match sorter {
                Some(sorter) => sorter.add(key, value),
                None => builder.add(key, value),
            })
        });
        added.map_err(|e| raise(py, e))
    }

    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let finished = py.detach(|| {
            let building = lock(&self.0).take();
            let Building { mut builder, sorter } = building.ok_or(FINISHED)?;
            if let Some(sorter) = sorter {
                sorter.into_builder(&mut builder)?;
            }
            builder.finish().map(|_| ())
        });
        finished.map_err(|e| raise(py, e))
    }

    /// Discards the file, unless it is finished. An existing file of its name is not changed.
    fn discard(&self, py: Python<'_>) {
        py.detach(|| drop(lock(&self.0).take()));
    }
}

const FINISHED: Error = Error::new(Kind::BadArgument, 0, "the file is finished");
