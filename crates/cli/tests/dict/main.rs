//! `linerate dict` as a user meets it: the real program, real files.

mod blocks;
mod cluster;
mod data;
mod pages;
#[allow(dead_code)]
#[path = "../gzip/support.rs"]
mod support;
mod train;
