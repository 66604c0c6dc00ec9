//! The hot loops that undo filters. Each is one generic body, compiled once per CPU tier; without a tier it is compiled for
//! the target's baseline, which on 64-bit ARM is NEON. The specification is in `filter`.
#![allow(unsafe_code)]

mod dispatch;
pub(crate) mod join;
#[cfg(target_arch = "x86_64")]
mod join_avx2;
pub(crate) mod modes;
#[cfg(target_arch = "x86_64")]
mod modes_avx2;
#[cfg(target_arch = "x86_64")]
mod modes_avx512;
pub(crate) mod unalign;
#[cfg(target_arch = "x86_64")]
mod unalign_avx2;
