//! The base of all Linerate engines: the [`Error`] type, CPU [`Tier`] detection, cache line
//! prefetches ([`prefetch_line`]), work on several threads whose results keep their order
//! ([`parallel_map`], [`ordered`]), and [`lock`], which ignores poison.
//!
//! ```
//! use linerate_core::{Error, Kind};
//!
//! let error = Error::new(Kind::Corrupt, 81_920, "checksum mismatch");
//! assert_eq!(error.to_string(), "checksum mismatch (at byte 81920)");
//! assert_eq!(error.shifted(4096).offset, 86_016);
//! ```
//!
//! This crate has no dependencies and, without its default feature `std`, needs only `core`.

#![cfg_attr(not(feature = "std"), no_std)]

pub mod cpu;
mod error;
mod kernel;
#[cfg(feature = "std")]
mod lock;
#[cfg(feature = "std")]
mod ordered;
#[cfg(feature = "std")]
mod parallel;

pub use cpu::Tier;
#[cfg(feature = "std")]
pub use error::system_reason;
pub use error::{Error, Kind, Reason, Result};
pub use kernel::prefetch::{CACHE_LINE, prefetch_line};
#[cfg(feature = "std")]
pub use lock::lock;
#[cfg(feature = "std")]
pub use ordered::ordered;
#[cfg(feature = "std")]
pub use parallel::parallel_map;
