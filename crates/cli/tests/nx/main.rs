//! `linerate nx` as a user meets it: the real program, real files, real folders.

mod bench;
mod data;
mod edit;
mod extract;
mod forge;
mod killed;
mod list;
mod pack;
mod pages;
#[cfg(feature = "remote")]
mod remote;
#[allow(dead_code)]
#[path = "../gzip/support.rs"]
mod support;
mod tree;
