//! The hot loops, and all `unsafe` code of this crate.
#![allow(unsafe_code)]

pub(crate) mod barren;
pub(crate) mod bits;
pub(crate) mod builtin;
pub(crate) mod emit;
pub(crate) mod fast;
pub(crate) mod header;
pub(crate) mod huffman;
pub(crate) mod isa;
pub(crate) mod matcher;
pub(crate) mod parse;
pub(crate) mod search;
pub(crate) mod segment;
pub(crate) mod tables;
pub(crate) mod token;
pub(crate) mod trees;
#[cfg(feature = "alloc")]
pub(crate) mod zeroed;
