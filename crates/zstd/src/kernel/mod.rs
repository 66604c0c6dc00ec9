//! The hot loops: generic bodies, compiled per CPU tier. Callers ensure what each `# Safety`
//! section demands.
#![allow(unsafe_code)]

#[cfg(all(target_arch = "x86_64", feature = "std", not(feature = "small")))]
mod avx2;
mod backward;
pub(crate) mod build;
mod dispatch;
pub(crate) mod huffman;
mod isa;
mod scalar;
pub(crate) mod sequences;
#[cfg(feature = "std")]
pub(crate) mod split;
