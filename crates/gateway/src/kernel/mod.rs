//! The hot loop of deflate, the walk through JSON, and all `unsafe` code of this crate.
#![allow(unsafe_code)]

mod inflate;
mod nesting;

pub(crate) use inflate::inflate;
pub(crate) use nesting::nested;
