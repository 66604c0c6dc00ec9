//! Shared by all Linerate engines: the [`Error`] type, CPU [`Tier`] detection, and
//! [`prefetch_line`].
//!
//! This crate has no dependencies and, without its default feature `std`, needs only `core`.

#![cfg_attr(not(feature = "std"), no_std)]

pub mod cpu;
mod error;
mod kernel;

pub use cpu::Tier;
pub use error::{Error, Kind, Reason, Result};
pub use kernel::prefetch::{CACHE_LINE, prefetch_line};
