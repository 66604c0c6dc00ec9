//! RocksDB's SST files: those that RocksDB writes now, those that are stored, and damaged ones.

#[path = "../common/mod.rs"]
mod common;

mod damage;
mod fixtures;
mod forged;
mod many;
mod matrix;
mod model;
mod writer;
