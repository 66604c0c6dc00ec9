//! Memory mappings, and slots shared between threads: all `unsafe` code of this crate.
#![allow(unsafe_code)]

mod arena;
mod free_list;
mod mapping;
mod slot;
pub(crate) mod sync;

pub(crate) use arena::{Allocation, Arena};
pub(crate) use slot::{Digested, Eviction, NewContent, Pin, Reap, Slot};
