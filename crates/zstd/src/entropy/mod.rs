//! Entropy coding: bit readers, FSE and Huffman tables (RFC 8878, section 4). Imports no
//! other module of the crate.

pub(crate) mod bits;
pub(crate) mod fse;
pub(crate) mod huffman;
#[cfg(feature = "std")]
pub(crate) mod symbolic;
pub(crate) mod tables;
