//! Exchanges arrays in device memory with other libraries, as DLPack capsules.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::sys::dlpack::{Array, Borrowed, contiguous_strides, export, import};

/// Makes a DLPack capsule of a C-contiguous array in device memory, which `owner` keeps alive.
/// `typestr` is NumPy's, such as `<i2`.
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

/// An array of another library, which is released with this object.
#[pyclass(module = "pylinerate._pylinerate", frozen)]
pub(crate) struct GpuBorrowed(Borrowed);

/// Takes the array of a DLPack capsule.
#[pyfunction]
pub(crate) fn gpu_from_dlpack(capsule: &Bound<'_, PyAny>) -> PyResult<GpuBorrowed> {
    import(capsule).map(GpuBorrowed)
}

#[pymethods]
impl GpuBorrowed {
    /// The device address.
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

    /// The type as in NumPy, such as `<i2`.
    #[getter]
    fn typestr(&self) -> String {
        let array = &self.0.array;
        format!("{}{}{}", if array.itemsize == 1 { '|' } else { '<' }, char::from(array.kind), array.itemsize)
    }
}
