//! `linerate gateway` as a user meets it: the real program, real files.

mod data;
#[cfg(feature = "bench")]
mod generate;
mod pages;
mod replay;
mod stats;
#[allow(dead_code)]
#[path = "../gzip/support.rs"]
mod support;
mod transcode;
