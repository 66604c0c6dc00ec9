//! The hot loop of JSON's brackets; all `unsafe` code of this crate.
#![allow(unsafe_code)]

mod nesting;

pub(crate) use nesting::find_value_end;
