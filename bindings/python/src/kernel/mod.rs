//! Memory that threads share.
#![allow(unsafe_code)]

pub(crate) mod shared;
