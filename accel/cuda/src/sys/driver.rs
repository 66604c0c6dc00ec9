//! The CUDA driver API, loaded at run time. Building needs no CUDA.
//!
//! Names, signatures and numbers are those of NVIDIA's driver API reference. Its header maps plain
//! names to the `_v2` entry points.

use std::ffi::{CStr, OsStr, OsString, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use libloading::Library;

use crate::{Error, Result};

/// `CUdevice`: the handle of a device, a number.
pub(crate) type RawDevice = c_int;
/// `CUcontext`.
pub(crate) type RawContext = *mut c_void;
/// `CUmodule`.
pub(crate) type RawModule = *mut c_void;
/// `CUfunction`.
pub(crate) type RawFunction = *mut c_void;
/// `CUstream`.
pub(crate) type RawStream = *mut c_void;
/// `CUevent`.
pub(crate) type RawEvent = *mut c_void;
/// `CUdeviceptr`.
pub(crate) type DevicePtr = u64;
/// `CUresult`.
type Status = c_int;

/// `CUDA_ERROR_OUT_OF_MEMORY`.
pub(crate) const OUT_OF_MEMORY: i32 = 2;
/// `CUDA_ERROR_NOT_FOUND`.
pub(crate) const NOT_FOUND: i32 = 500;
/// `CUDA_ERROR_NO_DEVICE`.
const NO_DEVICE: i32 = 100;

/// `CUDA_MEMCPY2D`: the description of a copy of rows. This crate copies rows only within device
/// memory.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Copy2D {
    pub(crate) src_x_bytes: usize,
    pub(crate) src_y: usize,
    pub(crate) src_kind: c_uint,
    pub(crate) src_host: *const c_void,
    pub(crate) src_device: DevicePtr,
    pub(crate) src_array: *mut c_void,
    pub(crate) src_pitch: usize,
    pub(crate) dst_x_bytes: usize,
    pub(crate) dst_y: usize,
    pub(crate) dst_kind: c_uint,
    pub(crate) dst_host: *mut c_void,
    pub(crate) dst_device: DevicePtr,
    pub(crate) dst_array: *mut c_void,
    pub(crate) dst_pitch: usize,
    pub(crate) width_bytes: usize,
    pub(crate) height: usize,
}

/// `CU_MEMORYTYPE_DEVICE`: the kind of source and target in a [`Copy2D`].
pub(crate) const DEVICE_MEMORY: c_uint = 2;

/// Defines [`Functions`]: one pointer per entry point, all looked up when the library is loaded.
macro_rules! functions {
    ($($field:ident = $symbol:literal ($($argument:ty),*);)*) => {
        /// Entry points of the driver library.
        pub(crate) struct Functions {
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) -> Status,)*
        }

        impl Functions {
            /// Looks up the entry points of `library`. Returns the name of a missing one as the
            /// error.
            fn find(library: &Library) -> std::result::Result<Functions, &'static str> {
                Ok(Functions {
                    $(
                        // SAFETY: the symbol is a function with this signature in the driver API
                        // reference.
                        $field: unsafe { library.get::<unsafe extern "C" fn($($argument),*) -> Status>($symbol.as_bytes()) }
                            .map(|symbol| *symbol)
                            .map_err(|_| $symbol)?,
                    )*
                })
            }
        }
    };
}

functions! {
    init = "cuInit" (c_uint);
    driver_version = "cuDriverGetVersion" (*mut c_int);
    error_name = "cuGetErrorName" (Status, *mut *const c_char);
    device_count = "cuDeviceGetCount" (*mut c_int);
    device = "cuDeviceGet" (*mut RawDevice, c_int);
    device_name = "cuDeviceGetName" (*mut c_char, c_int, RawDevice);
    device_attribute = "cuDeviceGetAttribute" (*mut c_int, c_int, RawDevice);
    retain_context = "cuDevicePrimaryCtxRetain" (*mut RawContext, RawDevice);
    release_context = "cuDevicePrimaryCtxRelease_v2" (RawDevice);
    push_context = "cuCtxPushCurrent_v2" (RawContext);
    pop_context = "cuCtxPopCurrent_v2" (*mut RawContext);
    load_module = "cuModuleLoadData" (*mut RawModule, *const c_void);
    unload_module = "cuModuleUnload" (RawModule);
    function = "cuModuleGetFunction" (*mut RawFunction, RawModule, *const c_char);
    launch = "cuLaunchKernel" (
        RawFunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, RawStream, *mut *mut c_void, *mut *mut c_void
    );
    allocate = "cuMemAlloc_v2" (*mut DevicePtr, usize);
    free = "cuMemFree_v2" (DevicePtr);
    allocate_pinned = "cuMemAllocHost_v2" (*mut *mut c_void, usize);
    free_pinned = "cuMemFreeHost" (*mut c_void);
    memory_info = "cuMemGetInfo_v2" (*mut usize, *mut usize);
    to_device = "cuMemcpyHtoDAsync_v2" (DevicePtr, *const c_void, usize, RawStream);
    to_host = "cuMemcpyDtoHAsync_v2" (*mut c_void, DevicePtr, usize, RawStream);
    on_device = "cuMemcpyDtoDAsync_v2" (DevicePtr, DevicePtr, usize, RawStream);
    copy_2d = "cuMemcpy2DAsync_v2" (*const Copy2D, RawStream);
    fill = "cuMemsetD8Async" (DevicePtr, u8, usize, RawStream);
    create_stream = "cuStreamCreate" (*mut RawStream, c_uint);
    destroy_stream = "cuStreamDestroy_v2" (RawStream);
    wait_stream = "cuStreamSynchronize" (RawStream);
    stream_waits = "cuStreamWaitEvent" (RawStream, RawEvent, c_uint);
    create_event = "cuEventCreate" (*mut RawEvent, c_uint);
    destroy_event = "cuEventDestroy_v2" (RawEvent);
    record_event = "cuEventRecord" (RawEvent, RawStream);
    wait_event = "cuEventSynchronize" (RawEvent);
    elapsed = "cuEventElapsedTime" (*mut f32, RawEvent, RawEvent);
}

/// A loaded and initialised driver library. It stays loaded until the process ends, since contexts
/// and streams of other libraries in the process depend on it too.
pub struct Driver {
    pub(crate) call: Functions,
    name: OsString,
    _library: Library,
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The name of the driver library if `LINERATE_CUDA_DRIVER` does not set one.
const LIBRARY: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

impl Driver {
    /// Returns the driver library of this process: the one that the environment variable
    /// `LINERATE_CUDA_DRIVER` names, or else NVIDIA's (`libcuda.so.1`, `nvcuda.dll`). The first
    /// call loads and initialises it; later calls return the same library, or the same error.
    ///
    /// # Errors
    /// [`Error::NoDriver`] if it cannot be loaded or lacks a function, [`Error::NoDevice`] if it
    /// finds no GPU, or [`Error::Driver`] if it reports another error.
    pub fn get() -> Result<&'static Driver> {
        static DRIVER: OnceLock<Result<&'static Driver>> = OnceLock::new();
        let load = || {
            let given = std::env::var_os("LINERATE_CUDA_DRIVER").filter(|name| !name.is_empty());
            Driver::load(given.as_deref().unwrap_or(OsStr::new(LIBRARY)))
        };
        DRIVER.get_or_init(load).clone()
    }

    /// Loads and initialises the library `name`: a path, or a file name for the system's search. On
    /// success it stays loaded.
    ///
    /// # Errors
    /// As for [`Driver::get`].
    pub fn load(name: &OsStr) -> Result<&'static Driver> {
        let no_driver =
            |reason: String| Error::NoDriver { library: name.to_string_lossy().into_owned(), reason };
        // SAFETY: the library is NVIDIA's driver, or one that the user names instead. Its
        // initialisers have no requirements.
        let library = unsafe { Library::new(name) }.map_err(|e| no_driver(e.to_string()))?;
        let call = Functions::find(&library)
            .map_err(|symbol| no_driver(format!("it has no function {symbol}: update the NVIDIA driver")))?;
        let driver = Driver { call, name: name.to_owned(), _library: library };
        // SAFETY: `cuInit` takes flags, which must be 0.
        driver.check("cuInit", unsafe { (driver.call.init)(0) })?;
        Ok(Box::leak(Box::new(driver)))
    }

    /// The name by which the library was loaded.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// Returns the version of the CUDA driver API: 1000 times the major version plus 10 times the
    /// minor one, such as 12040 for 12.4.
    ///
    /// # Errors
    /// [`Error::Driver`] if the driver reports one.
    pub fn version(&self) -> Result<i32> {
        let mut version = 0;
        // SAFETY: the pointer is to an int.
        self.check("cuDriverGetVersion", unsafe { (self.call.driver_version)(&raw mut version) })?;
        Ok(version)
    }

    /// Returns the number of devices.
    ///
    /// # Errors
    /// [`Error::Driver`] if the driver reports one.
    pub fn device_count(&self) -> Result<usize> {
        let mut count = 0;
        // SAFETY: the pointer is to an int.
        self.check("cuDeviceGetCount", unsafe { (self.call.device_count)(&raw mut count) })?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// Converts the `status` that the driver's function `call` returned to a result.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if the status says that there is no GPU, or [`Error::Driver`].
    pub(crate) fn check(&self, call: &'static str, status: Status) -> Result<()> {
        match status {
            0 => Ok(()),
            NO_DEVICE => Err(Error::NoDevice { wanted: 0, count: 0 }),
            status => Err(Error::Driver { call, status, name: self.error_name(status) }),
        }
    }

    /// Returns the name of an error, such as `CUDA_ERROR_OUT_OF_MEMORY`, or `unknown error`.
    fn error_name(&self, status: Status) -> String {
        let mut name = std::ptr::null();
        // SAFETY: the pointer is to a pointer; the driver sets it to a constant string or null.
        unsafe { (self.call.error_name)(status, &raw mut name) };
        if name.is_null() {
            return "unknown error".to_owned();
        }
        // SAFETY: not null: a constant string that ends with a zero.
        unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
    }
}
