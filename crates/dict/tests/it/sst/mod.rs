//! RocksDB's SST files: freshly written, stored, and damaged ones.

mod damage;
mod fixtures;
mod forged;
mod many;
mod matrix;
mod model;
mod writer;
