//! Entropy coding: bit readers, FSE and Huffman tables (RFC 8878, section 4). Imports nothing else of the
//! crate but bit readers; everything else builds on it.

pub(crate) mod bits;
pub(crate) mod fse;
pub(crate) mod huffman;
pub(crate) mod tables;
