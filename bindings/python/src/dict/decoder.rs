//! Decoding of single blocks and batches.

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

/// Threads that share a decoder wait for each other, without holding the GIL.
#[pyclass(frozen)]
pub(crate) struct DictDecoder {
    store: Store,
    decoder: Mutex<Decoder>,
}

/// Lengths, and errors by index.
type Done<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyDict>);

#[pymethods]
impl DictDecoder {
    #[new]
    fn new(store: &DictStore) -> Self {
        DictDecoder { store: store.store.clone(), decoder: Mutex::new(Decoder::new(&store.store)) }
    }

    /// Decodes a block of at most `max_size` bytes.
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
                py.detach(|| self.one(id, block, out)).map_err(|e| raise_for(py, &self.store, id, e))?;
            Ok(())
        })?;
        // Only frames without a content size leave unused capacity.
        if written == capacity { Ok(decoded) } else { copied(py, &decoded.as_bytes()[..written]) }
    }

    /// Decodes a block into the start of `out`; returns the bytes written.
    fn decode_into(&self, py: Python<'_>, id: u64, block: Input, mut out: Output) -> PyResult<usize> {
        let block = block.bytes();
        let out = out.bytes_mut([block])?;
        let n = py.detach(|| self.one(id, block, out));
        n.map_err(|e| raise_for(py, &self.store, id, e))
    }

    /// Decodes all blocks into their slices of `out`.
    #[allow(clippy::too_many_arguments)]
    fn decode_batch<'py>(
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

    /// Blocks, blocks with kept tables, blocks with temporary tables, errors, prefetched lines.
    fn counters(&self, py: Python<'_>) -> (u64, u64, u64, u64, u64) {
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
    /// To be called without the GIL, because the thread that holds this lock may wait for it.
    fn lock(&self) -> MutexGuard<'_, Decoder> {
        lock(&self.decoder)
    }

    fn one(&self, id: u64, block: &[u8], out: &mut [u8]) -> Result<usize> {
        self.lock().decode(Id::from_raw(id), block, out)
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
