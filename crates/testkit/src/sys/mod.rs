//! System calls of the test kit.
#![allow(unsafe_code)]

pub mod counting;
#[cfg(unix)]
pub mod guarded;
pub mod zlib_window;
