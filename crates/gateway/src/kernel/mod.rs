//! The hot loop of deflate, and all `unsafe` code of this crate.
#![allow(unsafe_code)]

mod inflate;

pub(crate) use inflate::inflate;
