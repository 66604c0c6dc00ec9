//! What needs `unsafe`: memory with forbidden neighbours.
#![allow(unsafe_code)]

pub(crate) mod guarded;
