//! Memory shared between threads and with the system, and all `unsafe` code of this crate.
#![allow(unsafe_code)]

mod arena;
mod fetch;
mod mapping;
mod slot;

pub(crate) use arena::{Arena, Room};
pub(crate) use fetch::fetch;
pub(crate) use slot::{Digested, Evicted, Filling, Pin, Slot};
