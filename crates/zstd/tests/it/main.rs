//! The integration tests, linked into one program. The files beside this folder are programs that
//! need a process of their own, each for the reason at its top.

#[cfg(all(feature = "tokio", feature = "futures-io"))]
mod asynchronous;
mod common;
mod conformance;
mod damage;
mod generated;
#[cfg(unix)]
mod guarded;
mod oracle;
mod pipeline;
mod prefix;
mod reader_writer;
mod seekable;
mod sizes;
mod stream;
mod vectors;
