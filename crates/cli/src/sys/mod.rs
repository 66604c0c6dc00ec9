//! Code that runs before `main`.

#![allow(unsafe_code)]

pub(crate) mod closed;
