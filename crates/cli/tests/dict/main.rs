//! `linerate dict` as a user meets it: the real program, real files.

mod bench;
mod blocks;
mod cluster;
mod data;
mod pack;
mod pages;
#[cfg(feature = "remote")]
mod remote;
#[cfg(feature = "remote")]
#[allow(dead_code)]
#[path = "../nx/server.rs"]
mod server;
mod sst;
#[allow(dead_code)]
#[path = "../gzip/support.rs"]
mod support;
mod train;
