//! The integration tests, linked into one program.

#[cfg(feature = "train")]
mod block_file;
#[cfg(feature = "encode")]
mod blocks;
#[cfg(feature = "train")]
mod cluster;
mod common;
mod damage;
#[cfg(feature = "train")]
mod goldens;
mod guarded;
mod hashes;
#[cfg(feature = "encode")]
mod pack;
mod page;
#[cfg(feature = "encode")]
mod sources;
#[cfg(feature = "sst")]
mod sst;
mod tiers;
#[cfg(feature = "train")]
mod train;
