//! Deflate decoder (RFC 1951) for one message at a time.
//!
//! After a flushed message the format needs only the last 32 KiB of output. So that is all a connection
//! keeps; tables and output buffer belong to the thread, and a message is decoded in one pass once it is
//! complete.

pub(crate) mod bits;
mod blocks;
pub(crate) mod codes;
pub(crate) mod history;
mod lengths;
#[cfg(test)]
mod oracle;
pub(crate) mod tables;

pub(crate) use bits::Bits;
pub(crate) use blocks::{Blocks, MessageEnd};
pub(crate) use history::History;
pub(crate) use tables::Tables;
