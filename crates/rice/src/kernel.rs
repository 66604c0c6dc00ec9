//! The hot loops. [`spec`] says what they compute; the rest is about how fast.
#![allow(unsafe_code)]

pub(crate) mod decode;
pub(crate) mod encode;
mod isa;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod lockstep;
pub(crate) mod packer;
mod portable;
pub(crate) mod spec;
#[cfg(feature = "std")]
mod table;
#[cfg(feature = "std")]
mod turns;
pub(crate) mod words;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod x86;
