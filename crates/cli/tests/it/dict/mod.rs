//! `linerate dict` as a user meets it: the real program, real files.

mod blocks;
mod cluster;
mod data;
mod pack;
mod pages;
#[cfg(feature = "remote")]
mod remote;
mod sst;
mod train;
