//! `linerate gateway` as a user meets it: the real program, real files.

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
mod sets;
mod stats;
mod transcode;
