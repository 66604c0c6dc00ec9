//! RocksDB's SST files: freshly written, stored, and damaged ones.

#[path = "../common/mod.rs"]
mod common;

mod damage;
mod fixtures;
mod forged;
mod many;
mod matrix;
mod model;
mod writer;
