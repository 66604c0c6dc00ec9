//! The hot loops. The file with the plain name of an operation chooses the kernel. Files of kernels
//! end in `_scalar` (any CPU; the specification), `_interleaved`, `_avx2` or `_avx512`. All kernels
//! of an operation give the same result.
#![allow(unsafe_code)]

pub(crate) mod code;
pub(crate) mod decode;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod decode_avx2;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod decode_avx512;
mod decode_interleaved;
pub(crate) mod decode_scalar;
mod decode_table;
mod dispatch;
pub(crate) mod encode;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod encode_avx2;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod encode_avx512;
mod encode_scalar;
pub(crate) mod isa;
pub(crate) mod packer;
mod prefix_sum;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod transpose_avx512;

// The modules from here on are for version 2.
#[cfg(feature = "alloc")]
pub(crate) mod blocks;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod blocks_avx2;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod blocks_avx512;
#[cfg(feature = "alloc")]
pub(crate) mod blocks_scalar;
#[cfg(feature = "alloc")]
pub(crate) mod channels;
#[cfg(feature = "alloc")]
pub(crate) mod covariance;
#[cfg(feature = "alloc")]
pub(crate) mod lanes;
#[cfg(feature = "alloc")]
pub(crate) mod linear;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod linear_avx2;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod linear_avx512;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod linear_narrow_avx2;
#[cfg(feature = "alloc")]
pub(crate) mod linear_scalar;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod linear_simd;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod linear_wide_avx2;
#[cfg(feature = "alloc")]
pub(crate) mod packing;
#[cfg(feature = "alloc")]
pub(crate) mod planning;
#[cfg(feature = "alloc")]
pub(crate) mod quotients;
#[cfg(feature = "alloc")]
pub(crate) mod unary;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod unary_avx512;
#[cfg(feature = "alloc")]
mod unary_scalar;
