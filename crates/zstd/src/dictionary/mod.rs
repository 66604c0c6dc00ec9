//! Dictionaries: digested once into tables and content, then used by any number of frames.

pub(crate) mod digest;
pub(crate) mod expanded_huffman;
mod parse;
mod view;

pub use digest::{Digest, MAX_TABLES};
pub use expanded_huffman::ExpandedHuffman;
pub use view::Dictionary;
