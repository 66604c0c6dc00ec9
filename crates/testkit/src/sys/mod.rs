//! System calls of the test kit.
#![allow(unsafe_code)]

pub mod guarded;
