//! Foreign functions, those of liblz4.

#![allow(unsafe_code)]

pub(crate) mod lz4;
