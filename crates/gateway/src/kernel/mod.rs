//! The hot loop that matches JSON's brackets.
#![allow(unsafe_code)]

mod nesting;

pub(crate) use nesting::find_value_end;
