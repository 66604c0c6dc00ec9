//! Calls of the operating system and of C libraries: all `unsafe` code of this crate.
#![allow(unsafe_code)]

pub(crate) mod inflate;
#[cfg(feature = "isal")]
pub(crate) mod isal;
#[cfg(feature = "lz4")]
pub(crate) mod lz4;
pub(crate) mod lzo;
pub(crate) mod map;
pub(crate) mod os;
#[cfg(feature = "libslz")]
pub(crate) mod slz;
#[cfg(any(feature = "zlib", feature = "zlib-ng"))]
pub(crate) mod zlib;
pub(crate) mod zstd;
