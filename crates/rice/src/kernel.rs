//! The hot loops. [`spec`] says what they compute; the rest is about how fast.
#![allow(unsafe_code)]

#[cfg(feature = "alloc")]
pub(crate) mod adaptive;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod adaptive_avx2;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod adaptive_avx512;
#[cfg(feature = "alloc")]
pub(crate) mod correlate;
pub(crate) mod decode;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod eights;
pub(crate) mod encode;
pub(crate) mod isa;
#[cfg(feature = "alloc")]
pub(crate) mod linear;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod linear_x86;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod lockstep;
pub(crate) mod packer;
#[cfg(feature = "alloc")]
pub(crate) mod packing;
#[cfg(feature = "alloc")]
pub(crate) mod planning;
mod portable;
pub(crate) mod spec;
mod table;
mod turns;
#[cfg(feature = "alloc")]
pub(crate) mod unary;
mod undo;
pub(crate) mod words;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod x86;
