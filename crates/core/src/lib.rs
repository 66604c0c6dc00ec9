//! What every Linerate engine shares: one [`Error`] type and the CPU [`Tier`] detected once.
//!
//! This crate has no dependencies and, without its default feature `std`, needs only `core`.

#![cfg_attr(not(feature = "std"), no_std)]

pub mod cpu;
mod error;

pub use cpu::Tier;
pub use error::{Error, Kind, Result};
