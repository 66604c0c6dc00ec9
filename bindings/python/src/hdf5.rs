//! Decodes many chunks of an HDF5 dataset, as stored in the file, into one array.

use numpy::PyReadwriteArray1;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::error::raise;
use crate::grid::{Axis, Grid};
use crate::pipeline::{Pipeline, Stage};
use crate::scatter::{ChunkError, Job, decode_all};

/// A filter of a dataset: its HDF5 number and its values (`cd_values`).
#[derive(FromPyObject)]
pub(crate) struct Filter(pub(crate) i32, pub(crate) Vec<u32>);

/// A selection along one axis: elements per chunk along this axis, first selected index, step,
/// number of selected indices.
#[derive(FromPyObject)]
pub(crate) struct Selected(usize, usize, usize, usize);

/// A stored chunk: the index of its first element along each axis of the dataset, the mask of
/// filters that were skipped, its stored bytes.
#[derive(FromPyObject)]
pub(crate) struct Stored<'py>(Vec<usize>, u32, Bound<'py, PyBytes>);

/// Decodes chunks, and writes the bytes of the selected elements to `out` in C order. Parts of
/// `out` whose chunks are not given stay unchanged.
///
/// An error of the chunks or the selection has the attribute `chunk`: the index of the first
/// element of the damaged chunk along each axis, or None if no single chunk is to blame. An error
/// of the filters has no such attribute.
#[pyfunction]
pub(crate) fn hdf5_decode(
    py: Python<'_>,
    filters: Vec<Filter>,
    itemsize: usize,
    axes: Vec<Selected>,
    chunks: Vec<Stored<'_>>,
    mut out: PyReadwriteArray1<'_, u8>,
    threads: usize,
) -> PyResult<()> {
    let axes = axes.iter().map(|&Selected(chunk, start, step, count)| Axis { chunk, start, step, count });
    let stages = filters.iter().map(|Filter(id, values)| Stage::new(*id, values));
    let jobs =
        chunks.iter().map(|Stored(offset, mask, bytes)| Job { offset, mask: *mask, bytes: bytes.as_bytes() });
    let (axes, jobs) = (axes.collect(), jobs.collect::<Vec<_>>());
    let out = out.as_slice_mut()?;
    let stages = stages.collect::<Result<Vec<_>, _>>().map_err(|e| raise(py, e))?;
    let decoded = py.detach(|| {
        let grid = Grid::new(axes, itemsize)?;
        decode_all(&Pipeline::new(stages, grid.chunk_bytes()), &grid, &jobs, out, threads)
    });
    decoded.map_err(|ChunkError { job, error }| {
        let error = raise(py, error);
        let chunk = job.map(|i| PyTuple::new(py, &chunks[i].0)).transpose();
        let set = chunk.and_then(|chunk| error.value(py).setattr("chunk", chunk));
        set.err().unwrap_or(error)
    })
}

/// Address of the static `H5Z_class2_t` that describes filter `id`, 32025 or 325, for HDF5's
/// `H5Zregister`. Another `id` raises `KeyError`.
#[pyfunction]
pub(crate) fn hdf5_class(id: i32) -> PyResult<usize> {
    let known = [&linerate_hdf5::DELTARICE, &linerate_hdf5::DELTARICE2];
    let class = known.into_iter().find(|class| class.id() == id);
    class.map(|class| class.as_ptr() as usize).ok_or_else(|| PyKeyError::new_err(id))
}
