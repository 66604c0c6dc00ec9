//! The class of a GPU with its codec, and the class of memory allocated there.

use std::sync::Arc;

use linerate_cuda::{Codec, Context, DeviceBuffer, Driver, Error};
use pyo3::exceptions::{PyMemoryError, PyNotImplementedError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::sys::buffers::Input;
use crate::sys::bytes::copied;
use crate::sys::gpu::{copy_out, copy_rows, fill, stream_of, upload};

use super::region::Region;

/// Converts an error of the CUDA driver or the device to a Python exception: `MemoryError` if the
/// device's memory runs out, `ValueError` for a bad argument, `NotImplementedError` if this build
/// has no kernel for the operation, or else `RuntimeError`.
pub(crate) fn raise(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::OutOfMemory { .. } => PyMemoryError::new_err(text),
        Error::BadArgument(_) => PyValueError::new_err(text),
        Error::NoKernel(_) => PyNotImplementedError::new_err(text),
        _ => PyRuntimeError::new_err(text),
    }
}

/// Number of CUDA devices. Raises `RuntimeError` if the driver cannot be loaded or finds none.
#[pyfunction]
pub(crate) fn gpu_device_count() -> PyResult<usize> {
    Driver::get().and_then(Driver::device_count).map_err(raise)
}

/// A CUDA device, with the codec that decodes and encodes on it. Methods that only queue work
/// return before the work is done. `stream` is the handle (`CUstream`) of the CUDA stream.
#[pyclass(module = "pylinerate._pylinerate", frozen)]
pub(crate) struct GpuDevice {
    pub(crate) codec: Arc<Codec>,
}

#[pymethods]
impl GpuDevice {
    #[new]
    fn new(py: Python<'_>, ordinal: usize) -> PyResult<GpuDevice> {
        let context = py.detach(|| Context::new(ordinal)).map_err(raise)?;
        Ok(GpuDevice { codec: Arc::new(Codec::new(&context)) })
    }

    /// The device's number.
    #[getter]
    fn ordinal(&self) -> usize {
        self.codec.context().ordinal()
    }

    /// The device's name.
    #[getter]
    fn name(&self) -> PyResult<String> {
        self.codec.context().device_name().map_err(raise)
    }

    /// Free bytes and total bytes of the device's memory.
    fn memory(&self) -> PyResult<(usize, usize)> {
        self.codec.context().memory().map_err(raise)
    }

    /// Allocates `bytes` bytes of device memory with unspecified content.
    fn allocate(&self, py: Python<'_>, bytes: usize) -> PyResult<GpuMemory> {
        let buffer = py.detach(|| DeviceBuffer::new(self.codec.context(), bytes)).map_err(raise)?;
        Ok(GpuMemory { buffer })
    }

    /// Copies `content` from host memory to the device address `to`, after the work queued on the
    /// stream, and waits for the copy.
    fn upload(&self, py: Python<'_>, to: u64, content: Input, stream: usize) -> PyResult<()> {
        let context = self.codec.context();
        let bytes = content.bytes();
        py.detach(|| upload(&stream_of(context, stream), to, bytes)).map_err(raise)
    }

    /// Waits for the work queued on the stream, and returns a copy of `bytes` bytes at the device
    /// address `at`.
    fn download<'py>(
        &self,
        py: Python<'py>,
        at: u64,
        bytes: usize,
        stream: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let context = self.codec.context();
        let content = py.detach(|| copy_out(&stream_of(context, stream), at, bytes)).map_err(raise)?;
        copied(py, &content)
    }

    /// Queues on the stream that `bytes` bytes at the device address `to` are set to zero.
    fn clear(&self, to: u64, bytes: usize, stream: usize) -> PyResult<()> {
        fill(&stream_of(self.codec.context(), stream), to, bytes).map_err(raise)
    }

    /// Queues on the stream the copy of a box of elements between two arrays in C order, with
    /// elements of `itemsize` bytes. The box has the shape `shape`. It begins at index `skip` of
    /// the array of shape `from_shape` at address `source`, and at index `position` of the array of
    /// shape `to_shape` at address `to`. Raises `ValueError` if it is not within both arrays.
    #[allow(clippy::too_many_arguments)]
    fn copy_region(
        &self,
        to: u64,
        to_shape: Vec<usize>,
        position: Vec<usize>,
        source: u64,
        from_shape: Vec<usize>,
        skip: Vec<usize>,
        shape: Vec<usize>,
        itemsize: usize,
        stream: usize,
    ) -> PyResult<()> {
        let region = Region::new(&to_shape, &position, &from_shape, &skip, &shape, itemsize)
            .ok_or_else(|| PyValueError::new_err("a box that is not within both arrays"))?;
        let stream = stream_of(self.codec.context(), stream);
        region.rows().try_for_each(|rows| copy_rows(&stream, to, source, &rows)).map_err(raise)
    }

    /// Makes later work on the stream `stream` wait for the work queued so far on the stream
    /// `other`.
    fn wait(&self, stream: usize, other: usize) -> PyResult<()> {
        let context = self.codec.context();
        if stream == other {
            return Ok(());
        }
        let after = || {
            let event = linerate_cuda::Event::new(context)?;
            event.record(&stream_of(context, other))?;
            stream_of(context, stream).wait(&event)
        };
        after().map_err(raise)
    }

    /// Waits until the work queued on the stream is done.
    fn synchronize(&self, py: Python<'_>, stream: usize) -> PyResult<()> {
        let context = self.codec.context();
        py.detach(|| stream_of(context, stream).synchronize()).map_err(raise)
    }

    /// Frees the codec's scratch memory, on the device and on the host, that no batch is using.
    fn release(&self) {
        self.codec.release_workspaces();
    }
}

/// Memory of a CUDA device. It is freed when this object is.
#[pyclass(module = "pylinerate._pylinerate", frozen)]
pub(crate) struct GpuMemory {
    buffer: DeviceBuffer,
}

#[pymethods]
impl GpuMemory {
    /// The device address; 0 if the size is 0.
    #[getter]
    fn pointer(&self) -> u64 {
        self.buffer.pointer()
    }

    /// Size in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.buffer.len()
    }

    /// The device's number.
    #[getter]
    fn device(&self) -> usize {
        self.buffer.context().ordinal()
    }
}
