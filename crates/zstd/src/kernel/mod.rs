//! The hot loops, and all `unsafe` code of this crate.
#![allow(unsafe_code)]

mod backward;
pub(crate) mod build;
pub(crate) mod huffman;
mod isa;
pub(crate) mod sequences;
