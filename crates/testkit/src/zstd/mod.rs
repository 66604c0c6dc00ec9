//! Builds zstd frames and dictionaries field by field (RFC 8878), without code of `linerate-zstd`,
//! and wraps libzstd as encoder and oracle.

pub mod bits;
pub mod dictionary;
pub mod encoder;
pub mod frame;
pub mod fse;
pub mod huffman;
pub mod oracle;
pub mod random;
pub mod sequences;
pub mod vectors;
