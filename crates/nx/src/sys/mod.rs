//! What the compiler cannot check: foreign functions.

#![allow(unsafe_code)]

pub(crate) mod lz4;
