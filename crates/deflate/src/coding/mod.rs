//! Bit writing, Huffman codes and tokens: safe code that the kernels build on.

pub(crate) mod bits;
pub(crate) mod huffman;
pub(crate) mod token;
