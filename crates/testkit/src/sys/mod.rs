//! The unsafe code of the test kit: an allocator, mapped memory, and calls of zlib.
#![allow(unsafe_code)]

pub mod counting;
#[cfg(unix)]
pub mod guarded;
#[cfg(feature = "zlib")]
pub mod zlib_window;
