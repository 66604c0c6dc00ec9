//! All `unsafe` code: buffers and `bytes` of Python, an output that threads share, DLPack, device
//! addresses.
#![allow(unsafe_code)]

pub(crate) mod buffers;
pub(crate) mod bytes;
pub(crate) mod dlpack;
pub(crate) mod gpu;
pub(crate) mod shared;
