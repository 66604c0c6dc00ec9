//! `linerate dict` as a user meets it: the real program, real files.

#[cfg(feature = "bench")]
mod bench;
mod blocks;
mod cluster;
mod data;
mod pack;
mod pages;
mod sst;
#[allow(dead_code)]
#[path = "../gzip/support.rs"]
mod support;
mod train;
