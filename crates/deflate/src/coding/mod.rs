//! Bit writer, Huffman codes, tokens and emission tables: the safe code that the kernels build on.

pub(crate) mod bits;
pub(crate) mod builtin;
#[cfg(feature = "alloc")]
pub(crate) mod costs;
pub(crate) mod frequencies;
pub(crate) mod huffman;
pub(crate) mod log2;
pub(crate) mod tables;
pub(crate) mod token;
