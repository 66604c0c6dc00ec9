//! Blocks through many dictionaries: the classes that those of `linerate.dict` are made of.

mod blocks;
mod decoder;
mod encoder;
mod store;
mod training;

pub(crate) use blocks::DictBlocks;
pub(crate) use decoder::DictDecoder;
pub(crate) use encoder::DictEncoder;
pub(crate) use store::{DictStore, dict_content_hash};
pub(crate) use training::{dict_gain, dict_shrink_tables, dict_train};
