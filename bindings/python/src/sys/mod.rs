//! `unsafe` code: memory that threads share, buffers of Python objects, and foreign functions.
#![allow(unsafe_code)]

pub(crate) mod buffers;
pub(crate) mod bytes;
pub(crate) mod dlpack;
pub(crate) mod gpu;
pub(crate) mod shared;
