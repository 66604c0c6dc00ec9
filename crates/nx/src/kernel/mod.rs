//! What the compiler cannot check: foreign functions and mapped files.

#![allow(unsafe_code)]

pub(crate) mod lz4;
mod map;

pub use map::MapSource;
