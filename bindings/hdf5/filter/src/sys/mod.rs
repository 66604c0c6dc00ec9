//! Foreign functions: C's types and allocator, calls from HDF5, and functions of HDF5.
#![allow(unsafe_code)]

pub(crate) mod class;
pub(crate) mod ffi;
pub(crate) mod library;
pub(crate) mod memory;
#[cfg_attr(not(unix), path = "object_absent.rs")]
mod object;
