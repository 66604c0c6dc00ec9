//! Exchanges arrays in device memory with other libraries, as DLPack capsules.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::sys::dlpack::{Array, Borrowed, contiguous_strides, export, import};

/// Makes a DLPack capsule of a C-contiguous array in device memory, which the Python object `owner`
/// keeps alive. `typestr` names the type of the elements as in NumPy, such as `<i2`. With
/// `versioned` the tensor has the structure of DLPack 1.0, else the older one.
#[pyfunction]
pub(crate) fn gpu_to_dlpack<'py>(
    py: Python<'py>,
    owner: Py<PyAny>,
    pointer: u64,
    device: i32,
    shape: Vec<i64>,
    typestr: &str,
    versioned: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let parsed = match typestr.as_bytes() {
        [b'<' | b'|', kind @ (b'i' | b'u' | b'f'), size @ b'1'..=b'8'] => Some((*kind, size - b'0')),
        _ => None,
    };
    let (kind, itemsize) =
        parsed.ok_or_else(|| PyValueError::new_err(format!("samples of type {typestr}")))?;
    let strides = contiguous_strides(&shape)
        .ok_or_else(|| PyValueError::new_err(format!("an array of the shape {shape:?}")))?;
    export(py, Array { pointer, device, shape, strides, kind, itemsize }, owner, versioned)
}

/// An array of another library in device memory, from a DLPack capsule. When this object is freed,
/// the library gets its array back.
#[pyclass(module = "pylinerate._pylinerate", frozen)]
pub(crate) struct GpuBorrowed(Borrowed);

/// Takes the array out of a DLPack capsule, which counts as consumed then. Raises `BufferError` if
/// the capsule has no array of integers or floats in the memory of a CUDA device.
#[pyfunction]
pub(crate) fn gpu_from_dlpack(capsule: &Bound<'_, PyAny>) -> PyResult<GpuBorrowed> {
    import(capsule).map(GpuBorrowed)
}

#[pymethods]
impl GpuBorrowed {
    /// The device address of the first element.
    #[getter]
    fn pointer(&self) -> u64 {
        self.0.array.pointer
    }

    /// The device's number.
    #[getter]
    fn device(&self) -> i32 {
        self.0.array.device
    }

    #[getter]
    fn shape(&self) -> Vec<i64> {
        self.0.array.shape.clone()
    }

    /// The strides in bytes.
    #[getter]
    fn strides(&self) -> Vec<i64> {
        let array = &self.0.array;
        array.strides.iter().map(|stride| stride * i64::from(array.itemsize)).collect()
    }

    /// The type of the elements as in NumPy, such as `<i2`.
    #[getter]
    fn typestr(&self) -> String {
        let array = &self.0.array;
        format!("{}{}{}", if array.itemsize == 1 { '|' } else { '<' }, char::from(array.kind), array.itemsize)
    }
}
