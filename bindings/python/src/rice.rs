//! Encodes and decodes chunks of filter 32025, version 1 of Delta-Rice. Samples are `i16`; Python
//! passes an array of `uint16` as a view of that type.

use std::num::NonZeroU32;

use linerate_rice::{Filter, Options, Params, Segments, segment_count, tune};
use numpy::{PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::raise;
use crate::params::Numbers;
use crate::sys::bytes::filled;

/// Maximum size in bytes of a chunk of `samples` samples.
#[pyfunction]
pub(crate) fn rice_bound(py: Python<'_>, params: Numbers, samples: usize) -> PyResult<usize> {
    params.check().map(|params| params.bound(samples)).map_err(|e| raise(py, e))
}

/// Exact size in bytes of the chunk that `rice_encode` would write.
#[pyfunction]
pub(crate) fn rice_len(
    py: Python<'_>,
    params: Numbers,
    samples: PyReadonlyArray1<'_, i16>,
    threads: usize,
) -> PyResult<u64> {
    let samples = samples.as_slice()?;
    let len =
        py.detach(|| linerate_rice::encoded_len(&params.check()?, samples, Options::new().threads(threads)));
    len.map_err(|e| raise(py, e))
}

/// The default number of samples per segment for an array of this shape. -1 means one segment of
/// all samples.
#[pyfunction]
pub(crate) fn rice_segment_for(shape: Vec<u64>) -> i64 {
    Params::segment_for(&shape).map_or(-1, |n| i64::from(n.get()))
}

/// Whether a chunk of `bytes` bytes is larger than its `samples` samples by more than 2 % and more
/// than 64 bytes. `pylinerate.rice.encode` refuses to return such a chunk.
#[pyfunction]
pub(crate) fn rice_expands(samples: usize, bytes: u64) -> bool {
    linerate_rice::expands(samples, bytes)
}

/// Finds the number of samples per segment of a chunk; -1 means that one segment has all samples.
/// Returns the first of `candidates` that divides `samples` samples into as many segments as the
/// chunk has. If none does, returns the first candidate, so that decoding reports the error.
#[pyfunction]
pub(crate) fn rice_fitting_segment(
    chunk: PyReadonlyArray1<'_, u8>,
    samples: usize,
    candidates: Vec<i64>,
) -> PyResult<i64> {
    let count = segment_count(chunk.as_slice()?).ok();
    let fits = |&&segment: &&i64| {
        let segment = usize::try_from(segment).unwrap_or(samples).max(1);
        Some(samples.div_ceil(segment)) == count
    };
    let fitting = candidates.iter().find(fits).or(candidates.first());
    Ok(fitting.copied().unwrap_or(-1))
}

/// Encodes samples as a chunk into the start of `out`. Returns the number of bytes written.
#[pyfunction]
pub(crate) fn rice_encode_into(
    py: Python<'_>,
    params: Numbers,
    samples: PyReadonlyArray1<'_, i16>,
    mut out: PyReadwriteArray1<'_, u8>,
    threads: usize,
) -> PyResult<usize> {
    let (samples, out) = (samples.as_slice()?, out.as_slice_mut()?);
    let n = py.detach(|| {
        linerate_rice::encode_into(&params.check()?, samples, out, Options::new().threads(threads))
    });
    n.map_err(|e| raise(py, e))
}

/// Encodes samples as a chunk in a new `bytes` object.
#[pyfunction]
pub(crate) fn rice_encode<'py>(
    py: Python<'py>,
    params: Numbers,
    samples: PyReadonlyArray1<'py, i16>,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let params = params.check().map_err(|e| raise(py, e))?;
    let samples = samples.as_slice()?;
    filled(py, params.bound(samples.len()), |out| {
        linerate_rice::encode_into(&params, samples, out, Options::new().threads(threads))
    })
}

/// The number of samples and the number of segments of a chunk. It is an error if the chunk is too
/// short for them.
#[pyfunction]
pub(crate) fn rice_samples(
    py: Python<'_>,
    params: Numbers,
    chunk: PyReadonlyArray1<'_, u8>,
) -> PyResult<(usize, usize)> {
    let chunk = chunk.as_slice()?;
    let counts = params.check().and_then(|params| {
        let segments = Segments::of(&params, chunk)?;
        Ok((segments.samples(), segments.segment_count()))
    });
    counts.map_err(|e| raise(py, e))
}

/// Decodes a chunk into the start of `out`. Returns the number of samples written.
#[pyfunction]
pub(crate) fn rice_decode(
    py: Python<'_>,
    params: Numbers,
    chunk: PyReadonlyArray1<'_, u8>,
    mut out: PyReadwriteArray1<'_, i16>,
    threads: usize,
) -> PyResult<usize> {
    let (chunk, out) = (chunk.as_slice()?, out.as_slice_mut()?);
    let n = py
        .detach(|| linerate_rice::decode_into(&params.check()?, chunk, out, Options::new().threads(threads)));
    n.map_err(|e| raise(py, e))
}

/// Decodes the segments with the numbers `start..stop` of a chunk into the start of `out`. Returns
/// the number of samples written.
#[pyfunction]
pub(crate) fn rice_decode_segments(
    py: Python<'_>,
    params: Numbers,
    chunk: PyReadonlyArray1<'_, u8>,
    start: usize,
    stop: usize,
    mut out: PyReadwriteArray1<'_, i16>,
    threads: usize,
) -> PyResult<usize> {
    let (chunk, out) = (chunk.as_slice()?, out.as_slice_mut()?);
    let n = py.detach(|| {
        let params = params.check()?;
        linerate_rice::decode_segments(&params, chunk, start..stop, out, Options::new().threads(threads))
    });
    n.map_err(|e| raise(py, e))
}

/// Finds the m that makes a chunk of the samples smallest. Searches for the filter too if `filter`
/// is `None`. Returns m and the coefficients of the filter. `segment` is the number of samples per
/// segment, -1 for the whole array.
#[pyfunction]
pub(crate) fn rice_best(
    py: Python<'_>,
    samples: PyReadonlyArray1<'_, i16>,
    segment: i64,
    filter: Option<Vec<i64>>,
) -> PyResult<(u32, Vec<i32>)> {
    let samples = samples.as_slice()?;
    let best = py.detach(|| {
        let given = Numbers::new(8, segment, filter.clone().unwrap_or_else(|| vec![1, -1])).check()?;
        let segment = given.segment();
        Ok(if filter.is_some() {
            best_m(samples, segment, given.filter())
        } else {
            Params::auto(samples, segment)
        })
    });
    best.map(|params| (params.m(), params.filter().taps().to_vec())).map_err(|e| raise(py, e))
}

fn best_m(samples: &[i16], segment: Option<NonZeroU32>, filter: &Filter) -> Params {
    let m = tune::best_m(samples, segment, filter);
    Params::new(m, segment).unwrap_or_default().with_filter(*filter)
}
