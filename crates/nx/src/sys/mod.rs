//! Foreign functions: the only module with `unsafe`.

#![allow(unsafe_code)]

pub(crate) mod lz4;
