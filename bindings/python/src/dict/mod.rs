//! The native part of `pylinerate.dict`: small zstd blocks, each with one of many dictionaries.

mod block_file;
mod blocks;
mod decoder;
mod encoder;
mod pack;
mod pool;
mod sst;
mod store;
mod training;

pub(crate) use block_file::{DictBlockFile, DictBuilder, dict_block_multi_get};
pub(crate) use blocks::DictBlocks;
pub(crate) use decoder::DictDecoder;
pub(crate) use encoder::DictEncoder;
pub(crate) use pack::{DictEditor, DictLoaded, DictPack, dict_compact, dict_user};
pub(crate) use sst::{DictSst, dict_sst_multi_get};
pub(crate) use store::{DictStore, dict_content_hash};
pub(crate) use training::{dict_cluster, dict_savings, dict_search, dict_shrink_tables, dict_train};
