//! Errors of the device, its driver and requests. Damage in chunks is reported per chunk as
//! [`linerate_core::Error`].

use std::fmt;

use crate::sys::OUT_OF_MEMORY;

/// A result whose error is [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// An error of the driver, the device, or the request. It concerns the whole call, which has no
/// outcomes then. The contents of its outputs are unspecified.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The driver library cannot be loaded, or lacks a function that this crate calls.
    NoDriver {
        /// The library's name or path.
        library: String,
        /// The reason that the system gives, or the missing function.
        reason: String,
    },
    /// There is no GPU, or none with the requested number.
    NoDevice {
        /// Number of the requested device, counted from 0; always 0 if the driver's error is that
        /// there is no GPU.
        wanted: usize,
        /// The number of devices.
        count: usize,
    },
    /// Device memory or pinned host memory cannot be allocated.
    OutOfMemory {
        /// Size of the request in bytes; `usize::MAX` if it exceeds the address space.
        bytes: usize,
        /// Whether pinned host memory was requested, not device memory.
        is_pinned: bool,
    },
    /// A call of the driver API failed.
    Driver {
        /// The driver's function, without a suffix such as `_v2`.
        call: &'static str,
        /// Return value of that function, a `CUresult`.
        status: i32,
        /// Name of that value, such as `CUDA_ERROR_INVALID_VALUE`.
        name: String,
    },
    /// The loaded module has no kernel of this name. This happens only with a test double of the
    /// driver that was built from other kernels than this crate.
    NoKernel(String),
    /// The request is invalid. The text says why.
    BadArgument(&'static str),
}

impl Error {
    /// Converts the error of an allocation of `bytes` bytes of device memory, or of pinned host
    /// memory if `is_pinned`: a lack of memory becomes [`Error::OutOfMemory`], and other errors stay
    /// as they are.
    pub(crate) fn of_allocation(self, bytes: usize, is_pinned: bool) -> Error {
        match self {
            Error::Driver { status: OUT_OF_MEMORY, .. } => Error::OutOfMemory { bytes, is_pinned },
            other => other,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoDriver { library, reason } => write!(
                f,
                "no CUDA driver: {library}: {reason}; install NVIDIA's driver, or name its library in LINERATE_CUDA_DRIVER"
            ),
            Error::NoDevice { count: 0, .. } => f.write_str(
                "no CUDA device: the driver finds no GPU; check nvidia-smi and CUDA_VISIBLE_DEVICES",
            ),
            Error::NoDevice { wanted, count } => {
                write!(f, "no CUDA device {wanted}: there are {count}, numbered from 0")
            }
            Error::OutOfMemory { bytes, is_pinned } => {
                let memory = if *is_pinned { "pinned host memory" } else { "device memory" };
                write!(f, "{memory} is full: {bytes} bytes were asked for; use smaller batches")
            }
            Error::Driver { call, status, name } => write!(f, "{call} failed: {name} ({status})"),
            Error::NoKernel(name) => {
                write!(f, "there is no kernel {name} in this build; use the CPU's codec (linerate-rice)")
            }
            Error::BadArgument(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Error {}
