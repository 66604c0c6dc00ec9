//! What the compiler cannot check: foreign functions and mapped files.

#![allow(unsafe_code)]

#[allow(dead_code, reason = "the compressor is the packer's")]
pub(crate) mod lz4;
mod map;

pub use map::MapSource;
