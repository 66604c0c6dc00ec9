//! System calls of the test kit.
#![allow(unsafe_code)]

pub mod counting;
#[cfg(unix)]
pub mod guarded;
#[cfg(feature = "zlib")]
pub mod zlib_window;
