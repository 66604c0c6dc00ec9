//! The `unsafe` code of this crate: buffers and `bytes` of Python, an output that threads share,
//! DLPack, device addresses. Outside of this folder only `scatter.rs` has `unsafe` blocks, which
//! call `SharedOutput::with`.
#![allow(unsafe_code)]

pub(crate) mod buffers;
pub(crate) mod bytes;
pub(crate) mod dlpack;
pub(crate) mod gpu;
pub(crate) mod shared;
