//! The hot loops of deflate and of JSON's brackets; all `unsafe` code of this crate.
#![allow(unsafe_code)]

mod inflate;
mod nesting;

pub(crate) use inflate::inflate;
pub(crate) use nesting::find_value_end;
