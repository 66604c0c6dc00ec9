//! Linerate's engines measured against their peers, within one shape of work: the same bytes, the
//! same chunks, one process, CPU time.
//!
//! The shape "bytes" is a chunk in, compressed bytes out, without reference to earlier chunks.
//! [`table::table`] lists who takes part, [`verify`] proves each stream with a decoder that is not
//! its encoder's, [`measure`] times them in interleaved rounds, [`record`] is what is kept.

pub mod contender;
pub mod corpus;
pub mod filter;
mod kernel;
pub mod measure;
mod ours;
mod peers;
pub mod table;
pub mod verify;

pub use kernel::os::{heap_in_use, pin};
