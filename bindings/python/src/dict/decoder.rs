//! Decodes single blocks and batches.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use linerate_core::{Error, Kind, lock};
use linerate_dict::{Decoder, Id, Job, Order, Result, Store};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::blocks::{DictBlocks, capacity_for, ranges};
use super::store::{DictStore, raise_for};
use crate::error::raise;
use crate::sys::buffers::{Input, Output};
use crate::sys::bytes::copied;

/// Smallest content of a block for which the interpreter's lock is released, in bytes. For less,
/// releasing costs more than decoding: another thread may keep the lock for 5 ms.
const RELEASE_LOCK_FROM: usize = 64 << 10;

/// The base class of `pylinerate.dict.Decoder`. Threads that share a decoder wait for each other
/// without holding the interpreter's lock.
#[pyclass(frozen, subclass)]
pub(crate) struct DictDecoder {
    store: Store,
    decoder: Mutex<Decoder>,
}

/// The length of each block's content (0 after an error), and errors by the block's index.
type Done<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyDict>);

#[pymethods]
impl DictDecoder {
    #[new]
    fn new(store: &DictStore) -> Self {
        DictDecoder { store: store.store.clone(), decoder: Mutex::new(Decoder::new(&store.store)) }
    }

    /// Decodes one block. Several are faster in a batch.
    ///
    /// Parameters
    /// ----------
    /// id : int
    ///     The dictionary, or `NONE`.
    /// block : buffer
    ///     One zstd frame.
    /// max_size : int
    ///     A block whose header has a larger size is not decoded; the error has the kind
    ///     "output too small".
    ///
    /// Raises
    /// ------
    /// UnknownId
    ///     If the store has no such dictionary.
    /// Error
    ///     If the block is damaged or truncated, names another dictionary, or is larger than
    ///     ``max_size``.
    #[pyo3(signature = (id, block, max_size=1_048_576))]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        id: u64,
        block: Input,
        max_size: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let block = block.bytes();
        let capacity = capacity_for(block, max_size);
        let mut written = capacity;
        let decoded = PyBytes::new_with(py, capacity, |out| {
            written =
                self.one(py, id, block, out, capacity).map_err(|e| raise_for(py, &self.store, id, e))?;
            Ok(())
        })?;
        // Only frames without a content size leave unused capacity.
        if written == capacity { Ok(decoded) } else { copied(py, &decoded.as_bytes()[..written]) }
    }

    /// Decodes one block into the start of ``out``, a writeable buffer of bytes, and returns the
    /// number of bytes. After an error the content of ``out`` is unspecified.
    ///
    /// Raises
    /// ------
    /// UnknownId, Error
    ///     As `decode`; also if ``out`` is too small.
    fn decode_into(&self, py: Python<'_>, id: u64, block: Input, mut out: Output) -> PyResult<usize> {
        let block = block.bytes();
        let out = out.bytes_mut([block])?;
        let capacity = capacity_for(block, out.len());
        self.one(py, id, block, out, capacity).map_err(|e| raise_for(py, &self.store, id, e))
    }

    /// Decodes all blocks into their slices of `out`.
    #[allow(clippy::too_many_arguments)]
    fn _decode_batch<'py>(
        &self,
        py: Python<'py>,
        ids: PyReadonlyArray1<'_, u64>,
        blocks: &DictBlocks,
        mut out: Output,
        starts: PyReadonlyArray1<'_, i64>,
        sizes: PyReadonlyArray1<'_, i64>,
        order: &str,
    ) -> PyResult<Done<'py>> {
        let order = order_of(order)?;
        let ids = ids.as_slice()?;
        let blocks: Vec<&[u8]> = blocks.iter().collect();
        let out = out.bytes_mut(blocks.iter().copied())?;
        let slices = ranges(starts.as_slice()?, sizes.as_slice()?, out.len()).map_err(|e| raise(py, e))?;
        if ids.len() != blocks.len() || slices.len() != blocks.len() {
            let bad = Error::new(Kind::BadArgument, 0, "the numbers of IDs, blocks and output slices differ");
            return Err(raise(py, bad));
        }
        let slices = split_disjoint(out, &slices).map_err(|e| raise(py, e))?;
        let requests = ids.iter().zip(&blocks).zip(slices);
        let mut jobs: Vec<Job<'_>> =
            requests.map(|((&id, block), slice)| Job::new(Id::from_raw(id), block, slice)).collect();
        py.detach(|| self.lock().decode_batch(&mut jobs, order));
        let errors = PyDict::new(py);
        for (i, job) in jobs.iter().enumerate() {
            if let Err(e) = job.result {
                let error = raise_for(py, &self.store, job.id.get(), e);
                errors.set_item(i, error.into_value(py))?;
            }
        }
        let lengths = jobs.iter().map(|job| job.result.map_or(0, |n| n as i64));
        Ok((PyArray1::from_iter(py, lengths), errors))
    }

    /// Counters: blocks, blocks with kept tables, blocks with temporary tables, errors, prefetched
    /// cache lines.
    fn _counters(&self, py: Python<'_>) -> (u64, u64, u64, u64, u64) {
        let counters = py.detach(|| self.lock().counters());
        (
            counters.blocks,
            counters.with_tables,
            counters.without_tables,
            counters.errors,
            counters.prefetched_lines,
        )
    }
}

impl DictDecoder {
    /// Call it without the interpreter's lock: the thread that holds this lock may be waiting for
    /// that one.
    fn lock(&self) -> MutexGuard<'_, Decoder> {
        lock(&self.decoder)
    }

    /// Decodes a block whose content has at most `capacity` bytes.
    fn one(&self, py: Python<'_>, id: u64, block: &[u8], out: &mut [u8], capacity: usize) -> Result<usize> {
        let id = Id::from_raw(id);
        if capacity < RELEASE_LOCK_FROM
            && let Ok(mut decoder) = self.decoder.try_lock()
        {
            return decoder.decode(id, block, out);
        }
        py.detach(|| self.lock().decode(id, block, out))
    }
}

fn order_of(name: &str) -> PyResult<Order> {
    match name {
        "as_given" => Ok(Order::AsGiven),
        "by_dictionary" => Ok(Order::ByDictionary),
        "any" => Ok(Order::Any),
        _ => Err(PyValueError::new_err(format!(
            "order is {name:?}, but must be \"as_given\", \"by_dictionary\" or \"any\""
        ))),
    }
}

/// Splits a buffer into disjoint mutable slices.
fn split_disjoint<'a>(mut out: &'a mut [u8], slices: &[Range<usize>]) -> Result<Vec<&'a mut [u8]>> {
    let mut parts: Vec<&mut [u8]> = slices.iter().map(|_| &mut [][..]).collect();
    let mut order: Vec<usize> = (0..slices.len()).filter(|&i| !slices[i].is_empty()).collect();
    order.sort_unstable_by_key(|&i| slices[i].start);
    let mut at = 0;
    for i in order {
        let Range { start, end } = slices[i];
        let overlap = Error::new(Kind::BadArgument, start as u64, "two output slices overlap");
        let gap = start.checked_sub(at).ok_or(overlap)?;
        let (slice, rest) = out.split_at_mut(gap).1.split_at_mut(end - start);
        parts[i] = slice;
        (out, at) = (rest, end);
    }
    Ok(parts)
}
