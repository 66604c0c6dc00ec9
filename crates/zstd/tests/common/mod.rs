//! What the tests share: frames made by hand, libzstd to compare with, and data.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]

pub mod bits;
pub mod check;
pub mod data;
pub mod dictionary;
pub mod encoder;
pub mod frame;
pub mod fse;
pub mod huffman;
pub mod oracle;
pub mod ours;
pub mod sequences;
pub mod vectors;
