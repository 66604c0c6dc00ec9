//! Memory mappings, and slots shared between threads: all `unsafe` code of this crate.
#![allow(unsafe_code)]

mod arena;
mod mapping;
mod slot;
pub(crate) mod sync;

pub(crate) use arena::{Allocation, Arena};
pub(crate) use slot::{Digested, Eviction, NewContent, Pin, Slot};
