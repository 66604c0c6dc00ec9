//! The base class of `pylinerate.dict.Decoder`: decodes single blocks and batches of blocks.

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

/// Smallest output capacity of a single block for which the interpreter's lock is always released,
/// in bytes. For less, releasing the lock takes longer than decoding, because another thread may
/// then keep it for 5 ms.
const RELEASE_LOCK_FROM: usize = 64 << 10;

/// The base class of `pylinerate.dict.Decoder`. Threads that share a decoder wait for each other,
/// without holding the interpreter's lock meanwhile.
#[pyclass(frozen, subclass)]
pub(crate) struct DictDecoder {
    store: Store,
    decoder: Mutex<Decoder>,
}

/// Results of a batch: an array with the length of each block's content (0 after an error), and a
/// dict of the errors by the index of the block.
type Done<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyDict>);

#[pymethods]
impl DictDecoder {
    #[new]
    fn new(store: &DictStore) -> Self {
        DictDecoder { store: store.store.clone(), decoder: Mutex::new(Decoder::new(&store.store)) }
    }

    /// Decodes one block, and returns its content. Several blocks are faster in a batch.
    ///
    /// Parameters
    /// ----------
    /// id : int
    ///     The ID of the block's dictionary in the store, or `NONE`.
    /// block : buffer
    ///     The block: exactly one zstd frame.
    /// max_size : int
    ///     Largest content in bytes. A block with more is an error of the kind "output too small".
    ///
    /// Raises
    /// ------
    /// UnknownId
    ///     If the store has no dictionary with this ID.
    /// Error
    ///     If the block is damaged or truncated, names another dictionary, or has more content than
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
        // If the frame header has the size of the content, a block that decodes fills the capacity.
        // Otherwise the content may be shorter, and is copied.
        if written == capacity { Ok(decoded) } else { copied(py, &decoded.as_bytes()[..written]) }
    }

    /// Decodes one block into the start of ``out``, a writeable buffer of bytes, and returns the
    /// number of bytes of its content. After an error the content of ``out`` is unspecified.
    ///
    /// Raises
    /// ------
    /// UnknownId, Error
    ///     The errors of `decode`. The limit is the size of ``out`` in place of ``max_size``.
    /// ValueError, TypeError
    ///     If ``out`` is not writeable, is not C-contiguous or overlaps ``block``; if it has other
    ///     elements than bytes.
    fn decode_into(&self, py: Python<'_>, id: u64, block: Input, mut out: Output) -> PyResult<usize> {
        let block = block.bytes();
        let out = out.bytes_mut([block])?;
        let capacity = capacity_for(block, out.len());
        self.one(py, id, block, out, capacity).map_err(|e| raise_for(py, &self.store, id, e))
    }

    /// Decodes each block into its slice of `out`: `starts` has the offset of each slice, and
    /// `sizes` its length in bytes. The slices must not overlap. `ids` has the ID of each block's
    /// dictionary. An error of one block does not affect the others.
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

    /// Counters since the creation of the decoder: blocks, blocks with kept tables, blocks with
    /// temporary tables, errors, prefetched cache lines.
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
    /// Locks the decoder. Call this method without the interpreter's lock: otherwise no Python
    /// thread could run while this one waits for the decoder.
    fn lock(&self) -> MutexGuard<'_, Decoder> {
        lock(&self.decoder)
    }

    /// Decodes a block, whose content has at most `capacity` bytes, into `out`. Keeps the
    /// interpreter's lock if the block is small and no other thread is using the decoder.
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

/// Borrows the ranges `slices` of a buffer as mutable slices, in the order given. It is an error if
/// two of them overlap; empty ones overlap nothing.
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
