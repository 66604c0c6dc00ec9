//! Deflate (RFC 1951), read message by message.
//!
//! At the end of a flushed message the format demands nothing but the last 32 KiB of output. So that
//! is all a connection keeps: tables and output belong to the thread, and a message is decoded in one
//! go once all of it is there.

mod bits;
mod blocks;
mod codes;
mod history;
mod lengths;
#[cfg(test)]
mod oracle;
mod tables;

pub(crate) use bits::Bits;
pub(crate) use blocks::{Blocks, End, MAX_MATCH};
pub(crate) use codes::{
    DISTANCE_ROOT, SYMBOL_ROOT, bits, code_bits, is_end, is_literal, is_special, is_table, sum, value,
};
pub(crate) use history::History;
pub(crate) use tables::Tables;
