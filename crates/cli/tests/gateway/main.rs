//! `linerate gateway` as a user meets it: the real program, real files.

mod bench;
#[allow(dead_code)]
#[path = "../../../gateway/examples/client.rs"]
mod client;
mod data;
mod generate;
mod live;
mod pages;
mod record;
mod replay;
#[cfg(feature = "remote")]
mod secure;
#[cfg(unix)]
mod serve;
mod stats;
#[allow(dead_code)]
#[path = "../gzip/support.rs"]
mod support;
mod transcode;
