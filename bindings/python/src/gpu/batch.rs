//! Batches of version 1 chunks and version 2 streams, queued on a CUDA stream, and their outcomes.

use linerate_cuda::{DecodeJob, EncodeJob, Input, PooledWorkspace, stream_bound};
use linerate_rice::Options;
use linerate_rice::v2::{ElementType, StreamOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::raise as raise_chunk;
use crate::hdf5::Filter;
use crate::params::Numbers;
use crate::pipeline::{Opened, Pipeline, Stage, aligned_buffer};
use crate::rice2::settings;
use crate::sys::buffers;
use crate::sys::gpu::{decode, decode_streams, encode, encode_streams, stream_of, upload};

use super::device::{GpuDevice, raise};

/// A batch of chunks or streams, whose decoding or encoding is queued on a CUDA stream.
#[pyclass(module = "pylinerate._pylinerate")]
pub(crate) struct GpuBatch {
    /// Memory with the outcomes. `None` after [`GpuBatch::wait`], and if nothing was queued.
    workspace: Option<PooledWorkspace>,
    /// Set if the jobs are chunks of an HDF5 dataset.
    dataset: Option<DatasetJobs>,
}

/// The jobs of a batch of chunks of an HDF5 dataset.
struct DatasetJobs {
    /// Number of samples that each job must decode to.
    samples: usize,
    /// For each job, the index of its chunk in the call that queued the batch. The host may have
    /// decoded other chunks of that call.
    indices: Vec<usize>,
}

#[pymethods]
impl GpuBatch {
    /// Waits for the batch. Returns the size of each result: samples decoded, or bytes encoded. A
    /// second call returns an empty list.
    ///
    /// If chunks are damaged, raises the error of the first one. Its attribute `index` is the
    /// index of the chunk in the call that queued the batch.
    fn wait(&mut self, py: Python<'_>) -> PyResult<Vec<usize>> {
        let Some(mut workspace) = self.workspace.take() else {
            return Ok(Vec::new());
        };
        let outcomes = py.detach(|| workspace.outcomes()).map_err(raise)?;
        let dataset = self.dataset.as_ref();
        let checked = |outcome: linerate_cuda::Outcome| match (outcome, dataset) {
            (Ok(n), Some(jobs)) if n != jobs.samples => {
                let text = "a chunk has another number of samples than the dataset's chunks";
                Err(linerate_core::Error::new(linerate_core::Kind::Corrupt, 0, text))
            }
            (outcome, _) => outcome,
        };
        let index = |job: usize| dataset.map_or(job, |jobs| jobs.indices[job]);
        let sizes = outcomes.into_iter().map(checked).enumerate();
        sizes.map(|(i, outcome)| outcome.map_err(|e| at_index(py, raise_chunk(py, e), index(i)))).collect()
    }
}

fn at_index(py: Python<'_>, error: PyErr, index: usize) -> PyErr {
    let set = error.value(py).setattr("index", index);
    set.err().unwrap_or(error)
}

/// The input of a job, a chunk to decode or samples to encode: a device address and a size in
/// bytes, or a buffer in host memory.
#[derive(FromPyObject)]
pub(crate) enum Place {
    Device(u64, usize),
    Host(buffers::Input),
}

impl Place {
    fn input(&self) -> Input<'_> {
        match self {
            Place::Device(address, bytes) => Input::Device { address: *address, bytes: *bytes },
            Place::Host(buffer) => Input::Host(buffer.bytes()),
        }
    }
}

/// The output of a job in device memory: its address, and its capacity in samples if the job
/// decodes, or in bytes if it encodes.
#[derive(FromPyObject)]
pub(crate) struct Target(u64, usize);

fn element_of(name: &str) -> PyResult<ElementType> {
    let element = ElementType::ALL.into_iter().find(|element| crate::rice2::numpy_name(*element) == name);
    element.ok_or_else(|| PyValueError::new_err(format!("samples of type {name}")))
}

fn decode_jobs<'a>(chunks: &'a [Place], outputs: &[Target]) -> Vec<DecodeJob<'a>> {
    let job = |(chunk, &Target(samples, capacity)): (&'a Place, &Target)| DecodeJob {
        chunk: chunk.input(),
        samples,
        capacity,
    };
    chunks.iter().zip(outputs).map(job).collect()
}

fn encode_jobs<'a>(samples: &'a [Place], outputs: &[Target]) -> Vec<EncodeJob<'a>> {
    let job = |(samples, &Target(chunk, capacity)): (&'a Place, &Target)| EncodeJob {
        samples: samples.input(),
        chunk,
        capacity,
    };
    samples.iter().zip(outputs).map(job).collect()
}

/// A chunk of an HDF5 dataset: the mask of filters that were skipped, its bytes as stored in the
/// file, the device address to which its samples are decoded.
#[derive(FromPyObject)]
pub(crate) struct Stored<'py>(u32, Bound<'py, PyBytes>, u64);

/// Queues the decoding of version 1 chunks on a stream. Chunk i is decoded to output i.
#[pyfunction]
pub(crate) fn gpu_decode(
    device: &GpuDevice,
    py: Python<'_>,
    params: Numbers,
    chunks: Vec<Place>,
    outputs: Vec<Target>,
    stream: usize,
) -> PyResult<GpuBatch> {
    let params = params.check().map_err(|e| raise_chunk(py, e))?;
    let jobs = decode_jobs(&chunks, &outputs);
    device
        .queue(py, stream, None, |stream, workspace| decode(&device.codec, &params, &jobs, stream, workspace))
}

/// Queues the decoding of the version 2 streams `chunks` on the CUDA stream `stream`. Item i of
/// `chunks` is decoded to output i. An item in device memory must have at least `min_segment`
/// samples per segment.
#[pyfunction]
pub(crate) fn gpu_decode2(
    device: &GpuDevice,
    py: Python<'_>,
    dtype: &str,
    min_segment: usize,
    chunks: Vec<Place>,
    outputs: Vec<Target>,
    stream: usize,
) -> PyResult<GpuBatch> {
    let element = element_of(dtype)?;
    let jobs = decode_jobs(&chunks, &outputs);
    device.queue(py, stream, None, |stream, workspace| {
        decode_streams(&device.codec, element, min_segment, &jobs, stream, workspace)
    })
}

/// Queues the encoding of arrays of samples as version 1 chunks on a stream. Array i is encoded to
/// output i.
#[pyfunction]
pub(crate) fn gpu_encode(
    device: &GpuDevice,
    py: Python<'_>,
    params: Numbers,
    samples: Vec<Place>,
    outputs: Vec<Target>,
    stream: usize,
) -> PyResult<GpuBatch> {
    let params = params.check().map_err(|e| raise_chunk(py, e))?;
    let jobs = encode_jobs(&samples, &outputs);
    device
        .queue(py, stream, None, |stream, workspace| encode(&device.codec, &params, &jobs, stream, workspace))
}

/// Queues the encoding of arrays of samples as version 2 streams on the CUDA stream `stream`. Array
/// i is encoded to output i. `segment`, `row` and `shape` are options of the encoder.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn gpu_encode2(
    device: &GpuDevice,
    py: Python<'_>,
    dtype: &str,
    segment: Option<u64>,
    row: Option<u64>,
    shape: Option<Vec<u64>>,
    samples: Vec<Place>,
    outputs: Vec<Target>,
    stream: usize,
) -> PyResult<GpuBatch> {
    let element = element_of(dtype)?;
    let options = settings(segment, row, shape, None).map_err(|e| raise_chunk(py, e))?;
    let jobs = encode_jobs(&samples, &outputs);
    device.queue(py, stream, None, |stream, workspace| {
        encode_streams(&device.codec, element, &options, &jobs, stream, workspace)
    })
}

/// Queues the decoding of chunks of an HDF5 dataset, each of `chunk_bytes` bytes when decoded. The
/// host undoes the filters that were applied after Delta-Rice. It decodes a chunk completely, and
/// copies it to the device, if Delta-Rice was not the first filter applied to the chunk, or if the
/// [`Format`] of the chunk differs from that of the first chunk that the device decodes.
///
/// An error that the host finds in a chunk has the index of the chunk as the attribute `index`. If
/// the device finds the error, [`GpuBatch::wait`] raises it.
#[pyfunction]
pub(crate) fn gpu_decode_stored(
    device: &GpuDevice,
    py: Python<'_>,
    filters: Vec<Filter>,
    chunk_bytes: usize,
    chunks: Vec<Stored<'_>>,
    stream: usize,
) -> PyResult<GpuBatch> {
    let stages = filters.iter().map(|Filter(id, values)| Stage::new(*id, values));
    let stages = stages.collect::<Result<Vec<_>, _>>().map_err(|e| raise_chunk(py, e))?;
    let pipeline = Pipeline::new(stages, chunk_bytes);
    let chunks: Vec<_> =
        chunks.iter().map(|Stored(mask, bytes, at)| (*mask, bytes.as_bytes(), *at)).collect();
    let opened = py.detach(|| {
        let open = |(i, chunk)| open_chunk(&pipeline, chunk).map_err(|e| (i, e));
        chunks.iter().enumerate().map(open).collect::<Result<Vec<_>, _>>()
    });
    let opened = opened.map_err(|(i, e)| at_index(py, raise_chunk(py, e), i))?;
    // The chunks of a dataset should all have the same parameters and sample type. A chunk that
    // differs from the first one is decoded on the host.
    let mut rice = None;
    let mut jobs = Vec::new();
    let mut indices = Vec::new();
    let mut undone = Vec::new();
    for (i, (chunk, &(_, _, at))) in opened.iter().zip(&chunks).enumerate() {
        match chunk.rice().map_err(|e| at_index(py, raise_chunk(py, e), i))? {
            Some((format, bytes)) if rice.is_none_or(|first| first == format) => {
                rice = Some(format);
                let capacity = chunk_bytes / format.sample_bytes();
                jobs.push(DecodeJob { chunk: Input::Host(bytes), samples: at, capacity });
                indices.push(i);
            }
            _ => undone.push((i, chunk, at)),
        }
    }
    for (i, chunk, at) in undone {
        let mut words = Vec::new();
        let named = |e| at_index(py, raise_chunk(py, e), i);
        let out = aligned_buffer(&mut words, chunk_bytes).map_err(named)?;
        py.detach(|| chunk.decode(0..chunk_bytes, out, Options::new())).map_err(named)?;
        py.detach(|| upload(&stream_of(device.codec.context(), stream), at, out)).map_err(raise)?;
    }
    let Some(format) = rice else {
        return Ok(GpuBatch { workspace: None, dataset: None });
    };
    let dataset = DatasetJobs { samples: chunk_bytes / format.sample_bytes(), indices };
    device.queue(py, stream, Some(dataset), |stream, workspace| match format {
        Format::V1(params) => decode(&device.codec, &params, &jobs, stream, workspace),
        Format::V2(element) => decode_streams(&device.codec, element, 1, &jobs, stream, workspace),
    })
}

/// Undoes all filters of a chunk except the one that was applied first.
fn open_chunk<'a>(
    pipeline: &'a Pipeline,
    &(mask, bytes, _): &(u32, &'a [u8], u64),
) -> linerate_core::Result<Opened<'a>> {
    pipeline.open(bytes, mask, Options::new())
}

/// The Delta-Rice format of a chunk. One call of the kernels decodes chunks of one format.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Format {
    /// A version 1 chunk with these parameters.
    V1(linerate_rice::Params),
    /// A version 2 stream of samples of this type.
    V2(ElementType),
}

impl Format {
    /// Bytes of a sample.
    fn sample_bytes(self) -> usize {
        match self {
            Format::V1(_) => 2,
            Format::V2(element) => element.bytes(),
        }
    }
}

impl GpuDevice {
    fn queue(
        &self,
        py: Python<'_>,
        stream: usize,
        dataset: Option<DatasetJobs>,
        work: impl Send
        + FnOnce(&linerate_cuda::Stream, &mut linerate_cuda::Workspace) -> linerate_cuda::Result<()>,
    ) -> PyResult<GpuBatch> {
        let queued = py.detach(|| {
            let mut workspace = self.codec.workspace()?;
            work(&stream_of(self.codec.context(), stream), &mut workspace)?;
            Ok(workspace)
        });
        Ok(GpuBatch { workspace: Some(queued.map_err(raise)?), dataset })
    }
}

/// Maximum size, in bytes, of the version 2 stream that the device encodes `samples` samples to,
/// with these options of the encoder.
#[pyfunction]
pub(crate) fn gpu_stream_bound(
    py: Python<'_>,
    dtype: &str,
    segment: Option<u64>,
    row: Option<u64>,
    shape: Option<Vec<u64>>,
    samples: usize,
) -> PyResult<usize> {
    let element = element_of(dtype)?;
    let options: StreamOptions = settings(segment, row, shape, None).map_err(|e| raise_chunk(py, e))?;
    Ok(stream_bound(element, &options, samples.saturating_mul(element.bytes())))
}
