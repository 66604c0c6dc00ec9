//! Makes and consumes DLPack capsules, by which libraries exchange arrays. The structures are those
//! of DLPack's C header, before version 1.0 and since.

use std::ffi::{CStr, c_void};

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

/// `DLDevice`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Device {
    kind: i32,
    id: i32,
}

/// `DLDataType`.
#[repr(C)]
#[derive(Clone, Copy)]
struct DataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

/// `DLTensor`.
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: Device,
    axes: i32,
    dtype: DataType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensor`.
#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
struct Versioned {
    major: u32,
    minor: u32,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: Tensor,
}

/// `kDLCUDA`, the kind of device for memory of a CUDA device.
const CUDA: i32 = 2;
/// Name of a capsule with a tensor without a version.
const PLAIN: &CStr = c"dltensor";
/// Name of a capsule with a tensor with a version.
const VERSIONED: &CStr = c"dltensor_versioned";
/// The name that a consumer gives a [`PLAIN`] capsule when it takes the tensor.
const USED_PLAIN: &CStr = c"used_dltensor";
/// The name that a consumer gives a [`VERSIONED`] capsule when it takes the tensor.
const USED_VERSIONED: &CStr = c"used_dltensor_versioned";

/// Objects that an exported tensor keeps alive: the Python object that owns its memory, its shape
/// and its strides.
struct Context {
    _owner: Py<PyAny>,
    shape: Vec<i64>,
    strides: Vec<i64>,
}

/// The description of an array in device memory.
pub(crate) struct Array {
    /// Device address of the first element.
    pub(crate) pointer: u64,
    /// Number of the CUDA device.
    pub(crate) device: i32,
    pub(crate) shape: Vec<i64>,
    /// Distance from one index to the next along each axis, in elements.
    pub(crate) strides: Vec<i64>,
    /// NumPy's letter for the kind of elements: i, u or f.
    pub(crate) kind: u8,
    /// Bytes of an element.
    pub(crate) itemsize: u8,
}

/// The `DLDataTypeCode` of the kind of elements for which NumPy has this letter: i, u or f.
fn code_of(kind: u8) -> u8 {
    match kind {
        b'i' => 0,
        b'u' => 1,
        _ => 2,
    }
}

/// Makes a capsule of `array`, whose memory the Python object `owner` keeps alive. With `versioned`
/// the tensor has the structure of DLPack 1.0.
pub(crate) fn export<'py>(
    py: Python<'py>,
    array: Array,
    owner: Py<PyAny>,
    versioned: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let dtype = DataType { code: code_of(array.kind), bits: 8 * array.itemsize, lanes: 1 };
    let mut context = Box::new(Context { _owner: owner, shape: array.shape, strides: array.strides });
    let tensor = Tensor {
        data: array.pointer as *mut c_void,
        device: Device { kind: CUDA, id: array.device },
        axes: context.shape.len() as i32,
        dtype,
        shape: context.shape.as_mut_ptr(),
        strides: context.strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let context = Box::into_raw(context).cast();
    let (object, name, destructor): (*mut c_void, _, ffi::PyCapsule_Destructor) = if versioned {
        let deleter: Option<unsafe extern "C" fn(*mut Versioned)> = Some(delete_versioned);
        let managed = Versioned { major: 1, minor: 0, context, deleter, flags: 0, tensor };
        (Box::into_raw(Box::new(managed)).cast(), VERSIONED, destroy_versioned)
    } else {
        let managed = Managed { tensor, context, deleter: Some(delete_plain) };
        (Box::into_raw(Box::new(managed)).cast(), PLAIN, destroy_plain)
    };
    // SAFETY: the pointer is not null, the name is static, and the destructor frees the structures
    // made above. The result is an owned reference, or null with the exception set, and then the
    // structures leak.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(object, name.as_ptr(), Some(destructor))) }
}

/// Frees a tensor that [`export`] made. Consumers may call it on any thread.
///
/// # Safety
/// `managed` is a tensor that [`export`] made without a version, and is not used any more.
unsafe extern "C" fn delete_plain(managed: *mut Managed) {
    // SAFETY: by the caller; both were boxed by `export`.
    unsafe {
        let managed = Box::from_raw(managed);
        delete_context(managed.context);
    }
}

/// Frees a tensor that [`export`] made with a version. Consumers may call it on any thread.
///
/// # Safety
/// `managed` is a tensor that [`export`] made with a version, and is not used any more.
unsafe extern "C" fn delete_versioned(managed: *mut Versioned) {
    // SAFETY: by the caller; both were boxed by `export`.
    unsafe {
        let managed = Box::from_raw(managed);
        delete_context(managed.context);
    }
}

/// Frees the context of a tensor with its reference to the owner of the memory. Leaks both if the
/// interpreter has ended.
///
/// # Safety
/// `context` is from `export`, and is not used any more.
unsafe fn delete_context(context: *mut c_void) {
    // SAFETY: the caller passes a context of `export`, which boxed it. The reference to the owner
    // is dropped only while this thread is attached to the interpreter.
    let mut context = Some(unsafe { Box::from_raw(context.cast::<Context>()) });
    if Python::try_attach(|_| drop(context.take())).is_none() {
        // The interpreter has ended, so there is no object to release: the context leaks.
        std::mem::forget(context);
    }
}

/// Destructor of a capsule that [`export`] made without a version. If nobody has consumed the
/// capsule, frees its tensor.
///
/// # Safety
/// Only Python calls this function, with such a capsule.
unsafe extern "C" fn destroy_plain(capsule: *mut ffi::PyObject) {
    // SAFETY: a consumer renames the capsule and then owns the tensor. So if the capsule still has
    // the name that `export` gave it, nobody else frees the tensor.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, PLAIN.as_ptr()) != 0 {
            delete_plain(ffi::PyCapsule_GetPointer(capsule, PLAIN.as_ptr()).cast());
        }
    }
}

/// Destructor of a capsule that [`export`] made with a version. If nobody has consumed the capsule,
/// frees its tensor.
///
/// # Safety
/// Only Python calls this function, with such a capsule.
unsafe extern "C" fn destroy_versioned(capsule: *mut ffi::PyObject) {
    // SAFETY: as in `destroy_plain`.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, VERSIONED.as_ptr()) != 0 {
            delete_versioned(ffi::PyCapsule_GetPointer(capsule, VERSIONED.as_ptr()).cast());
        }
    }
}

/// A tensor taken from the capsule of another library. Dropping it calls the library's deleter.
pub(crate) struct Borrowed {
    pub(crate) array: Array,
    managed: Owned,
}

enum Owned {
    Plain(*mut Managed),
    Versioned(*mut Versioned),
}

// SAFETY: DLPack allows to call the tensor's deleter on any thread.
unsafe impl Send for Borrowed {}
// SAFETY: a shared reference gives access to numbers only, which do not change.
unsafe impl Sync for Borrowed {}

impl Drop for Borrowed {
    fn drop(&mut self) {
        // SAFETY: `import` has taken the tensor from its capsule, so nobody else deletes it. The
        // deleter may be null.
        unsafe {
            match self.managed {
                Owned::Plain(managed) => {
                    if let Some(deleter) = (*managed).deleter {
                        deleter(managed);
                    }
                }
                Owned::Versioned(managed) => {
                    if let Some(deleter) = (*managed).deleter {
                        deleter(managed);
                    }
                }
            }
        }
    }
}

/// Strides, in elements, of an array in C order. `None` if they overflow.
pub(crate) fn contiguous_strides(shape: &[i64]) -> Option<Vec<i64>> {
    let mut strides = vec![1i64; shape.len()];
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i].checked_mul(shape[i].max(1))?;
    }
    Some(strides)
}

/// Takes the tensor out of a capsule. The capsule counts as consumed then.
///
/// # Errors
/// `BufferError` if this is no DLPack capsule or it was consumed already, if its version is
/// unknown, or if the tensor is not in the memory of a CUDA device, has elements other than
/// integers or floats of 8, 16, 32 or 64 bits, or has an impossible shape, strides or address. The
/// capsule is not consumed then.
pub(crate) fn import(capsule: &Bound<'_, PyAny>) -> PyResult<Borrowed> {
    let object = capsule.as_ptr();
    // SAFETY: by DLPack the capsule's name gives the type of its pointer. Renaming the capsule
    // makes this code the tensor's owner.
    unsafe {
        if ffi::PyCapsule_IsValid(object, PLAIN.as_ptr()) != 0 {
            let managed: *mut Managed = ffi::PyCapsule_GetPointer(object, PLAIN.as_ptr()).cast();
            let array = describe(&(*managed).tensor)?;
            ffi::PyCapsule_SetName(object, USED_PLAIN.as_ptr());
            return Ok(Borrowed { array, managed: Owned::Plain(managed) });
        }
        if ffi::PyCapsule_IsValid(object, VERSIONED.as_ptr()) != 0 {
            let managed: *mut Versioned = ffi::PyCapsule_GetPointer(object, VERSIONED.as_ptr()).cast();
            if (*managed).major != 1 {
                return Err(PyBufferError::new_err("a DLPack tensor of an unknown version"));
            }
            let array = describe(&(*managed).tensor)?;
            ffi::PyCapsule_SetName(object, USED_VERSIONED.as_ptr());
            return Ok(Borrowed { array, managed: Owned::Versioned(managed) });
        }
    }
    Err(PyBufferError::new_err("no DLPack capsule, or one that was consumed"))
}

/// Reads and checks the description of a tensor.
///
/// # Safety
/// The tensor is valid by DLPack's rules.
unsafe fn describe(tensor: &Tensor) -> PyResult<Array> {
    let dtype = tensor.dtype;
    let axes = usize::try_from(tensor.axes)
        .map_err(|_| PyBufferError::new_err("a DLPack tensor with a negative number of axes"))?;
    if tensor.device.kind != CUDA {
        return Err(PyBufferError::new_err("a DLPack tensor that is not in the memory of a CUDA device"));
    }
    if dtype.code > 2 || dtype.lanes != 1 || !matches!(dtype.bits, 8 | 16 | 32 | 64) {
        return Err(PyBufferError::new_err("a DLPack tensor of samples that are no integers or floats"));
    }
    let list = |start: *mut i64| match start.is_null() || axes == 0 {
        true => Vec::new(),
        // SAFETY: by the caller, a list has as many numbers as there are axes.
        false => unsafe { std::slice::from_raw_parts(start, axes) }.to_vec(),
    };
    let impossible = || PyBufferError::new_err("a DLPack tensor with an impossible shape");
    let shape = list(tensor.shape);
    if shape.len() != axes || shape.iter().any(|&n| n < 0) {
        return Err(impossible());
    }
    let bytes = i64::from(dtype.bits / 8);
    let mut strides = list(tensor.strides);
    if strides.is_empty() {
        strides = contiguous_strides(&shape).ok_or_else(impossible)?;
    }
    // Callers multiply strides by the size of an element, and sizes with each other. This check
    // shows that none of these products overflows.
    let is_possible = strides.iter().all(|stride| stride.checked_mul(bytes).is_some())
        && shape.iter().try_fold(bytes, |product, &n| product.checked_mul(n.max(1))).is_some();
    if !is_possible {
        return Err(impossible());
    }
    Ok(Array {
        pointer: (tensor.data as u64).checked_add(tensor.byte_offset).ok_or_else(impossible)?,
        device: tensor.device.id,
        shape,
        strides,
        kind: b"iuf"[usize::from(dtype.code)],
        itemsize: dtype.bits / 8,
    })
}
