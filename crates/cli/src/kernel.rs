//! The home of what the compiler cannot check.
#![allow(unsafe_code)]

pub(crate) mod map;
