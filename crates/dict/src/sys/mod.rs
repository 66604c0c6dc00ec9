//! Memory mappings, slots shared between threads, and sequences of libzstd: all `unsafe` code of
//! this crate.
#![allow(unsafe_code)]

mod arena;
mod free_list;
mod mapping;
#[cfg(feature = "train")]
mod sequences;
mod slot;
pub(crate) mod sync;

pub(crate) use arena::{Allocation, Arena};
#[cfg(feature = "train")]
pub(crate) use sequences::SequenceFinder;
pub(crate) use slot::{Digested, Eviction, NewContent, Pin, Reap, Slot};
