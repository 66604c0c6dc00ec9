//! The native classes behind `pylinerate.dict.Pack`: read, load and edit files of dictionaries.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Mutex;

use linerate_core::{Error, Kind, lock};
use linerate_dict::pack::{Editor, Entry, Loaded, Pack, PackOptions, Stats, compact, user_id};
use linerate_dict::{Input as Source, Result};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::pool::Open;
use super::store::DictStore;
use crate::error::{raise, unknown_id};
use crate::sys::buffers::Input;
use crate::sys::bytes::copied;

#[pyclass(frozen)]
pub(crate) struct DictPack(Open<Pack>);

/// A dictionary in a pack: ID, bytes, hash, Dictionary_ID of zstd, base-2 logarithms of the sizes
/// of its four tables, cluster, bytes as stored, number of users.
type Row = (u64, u32, u64, u32, (u8, u8, u8, u8), u32, u32, u32);
/// Statistics of a pack: number of dictionaries, number of those without users, bytes of the
/// dictionaries, their bytes as stored, stored bytes of removed dictionaries, bytes of the file,
/// ignored bytes at its end, generation, whether dictionaries are stored uncompressed.
type Numbers = (usize, usize, u64, u64, u64, u64, u64, u64, bool);

fn row(entry: Entry) -> Row {
    let [literals, matches, offsets, codes] = entry.table_logs;
    let logs = (literals, matches, offsets, codes);
    (entry.id, entry.len, entry.hash, entry.zstd_id, logs, entry.cluster, entry.stored_len, entry.users)
}

fn numbers(stats: &Stats) -> Numbers {
    (
        stats.dictionaries,
        stats.unused,
        stats.bytes,
        stats.stored_bytes,
        stats.removed_bytes,
        stats.len,
        stats.ignored,
        stats.generation,
        stats.uncompressed,
    )
}

#[pymethods]
impl DictPack {
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, map: bool) -> PyResult<Self> {
        let pack = py.detach(|| if map { Pack::open(&path) } else { Pack::open_input(Source::file(&path)?) });
        Ok(DictPack(Open::new(pack.map_err(|e| raise(py, e))?)))
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.0.close()));
    }

    fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    fn entries(&self) -> PyResult<Vec<Row>> {
        Ok(self.0.file()?.entries().map(row).collect())
    }

    fn entry(&self, id: u64) -> PyResult<Option<Row>> {
        Ok(self.0.file()?.entry(id).map(row))
    }

    fn find(&self, py: Python<'_>, hash: u64) -> PyResult<Option<u64>> {
        let pack = self.0.file()?;
        Ok(py.detach(|| pack.find(hash)).map(|entry| entry.id))
    }

    fn users(&self, py: Python<'_>, id: u64) -> PyResult<Vec<u64>> {
        let pack = self.0.file()?;
        pack.users(id).map_err(|e| raise_in(py, &pack, id, e))
    }

    fn read<'py>(&self, py: Python<'py>, id: u64) -> PyResult<Bound<'py, PyBytes>> {
        let pack = self.0.file()?;
        let bytes = py.detach(|| pack.read(id)).map_err(|e| raise_in(py, &pack, id, e))?;
        copied(py, &bytes)
    }

    fn stats(&self) -> PyResult<Numbers> {
        Ok(numbers(&self.0.file()?.stats()))
    }

    fn verify(&self, py: Python<'_>) -> PyResult<Numbers> {
        let pack = self.0.file()?;
        let stats = py.detach(|| pack.verify()).map_err(|e| raise(py, e))?;
        Ok(numbers(&stats))
    }

    /// Puts the pack's dictionaries into a store. Reads them now or, if `lazy` is true, each when
    /// it is first used.
    fn load(&self, py: Python<'_>, store: &DictStore, lazy: bool) -> PyResult<DictLoaded> {
        let pack = self.0.file()?;
        let store = &store.store;
        let loaded = py.detach(|| if lazy { pack.register(store) } else { pack.load_into(store) });
        Ok(DictLoaded(Mutex::new(Some(loaded.map_err(|e| raise(py, e))?))))
    }
}

/// Converts an error of an operation on the dictionary `id` of a pack to an exception: `UnknownId`
/// if the pack has no such dictionary.
fn raise_in(py: Python<'_>, pack: &Pack, id: u64, e: Error) -> PyErr {
    let unknown = e.kind == Kind::BadArgument && pack.entry(id).is_none();
    if unknown { unknown_id(py, "pack", id) } else { raise(py, e) }
}

/// The dictionaries that a pack has put into a store. This object is a user of each in the store,
/// until `release` or until it is freed.
#[pyclass(frozen)]
pub(crate) struct DictLoaded(Mutex<Option<Loaded>>);

#[pymethods]
impl DictLoaded {
    /// The two IDs of each dictionary: in the pack, and in the store. Empty after `release`.
    fn ids(&self) -> Vec<(u64, u64)> {
        let loaded = lock(&self.0);
        loaded.iter().flat_map(Loaded::iter).map(|(id, there)| (id, there.get())).collect()
    }

    fn release(&self, py: Python<'_>) {
        py.detach(|| drop(lock(&self.0).take()));
    }
}

#[pyclass(frozen)]
pub(crate) struct DictEditor(Mutex<Option<Editor>>);

const FINISHED: Error = Error::new(Kind::BadArgument, 0, "the pack editor is finished");

#[pymethods]
impl DictEditor {
    #[staticmethod]
    fn create(py: Python<'_>, path: PathBuf, uncompressed: bool, level: i32) -> PyResult<Self> {
        let options = PackOptions::new().uncompressed(uncompressed).level(level);
        let editor = py.detach(|| Editor::create(&path, options)).map_err(|e| raise(py, e))?;
        Ok(DictEditor(Mutex::new(Some(editor))))
    }

    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let editor = py.detach(|| Editor::open(&path)).map_err(|e| raise(py, e))?;
        Ok(DictEditor(Mutex::new(Some(editor))))
    }

    fn add(&self, py: Python<'_>, dictionary: Input, cluster: u32) -> PyResult<u64> {
        let bytes = dictionary.bytes();
        self.edit(py, |editor| editor.add(bytes, cluster))
    }

    fn retain(&self, py: Python<'_>, id: u64, user: u64) -> PyResult<bool> {
        self.edit(py, |editor| editor.retain(id, user))
    }

    fn release(&self, py: Python<'_>, id: u64, user: u64) -> PyResult<bool> {
        self.edit(py, |editor| editor.release(id, user))
    }

    fn remove(&self, py: Python<'_>, id: u64) -> PyResult<()> {
        self.edit(py, |editor| editor.remove(id))
    }

    fn commit(&self, py: Python<'_>) -> PyResult<u64> {
        let committed = py.detach(|| {
            let editor = lock(&self.0).take();
            editor.ok_or(FINISHED)?.commit()
        });
        committed.map_err(|e| raise(py, e))
    }

    fn discard(&self, py: Python<'_>) {
        py.detach(|| drop(lock(&self.0).take()));
    }
}

impl DictEditor {
    fn edit<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Editor) -> Result<T> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let mut editor = lock(&self.0);
            work(editor.as_mut().ok_or(FINISHED)?)
        });
        done.map_err(|e| raise(py, e))
    }
}

/// Computes the number of a user of dictionaries from the user's name: its 64-bit XXH3.
#[pyfunction]
pub(crate) fn dict_user(name: &str) -> u64 {
    user_id(name)
}

/// Rewrites a pack without the dictionaries whose IDs are in `drop`. Returns the number of
/// dictionaries kept, the number dropped, and the bytes of the file before and after.
#[pyfunction]
pub(crate) fn dict_compact(
    py: Python<'_>,
    path: PathBuf,
    drop: HashSet<u64>,
    uncompressed: bool,
    level: i32,
) -> PyResult<(usize, usize, u64, u64)> {
    let options = PackOptions::new().uncompressed(uncompressed).level(level);
    let done = py.detach(|| compact(&path, options, |entry| !drop.contains(&entry.id)));
    done.map(|c| (c.kept, c.dropped, c.before, c.after)).map_err(|e| raise(py, e))
}
