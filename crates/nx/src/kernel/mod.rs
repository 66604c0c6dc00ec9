//! The hot loops that invert filters. Each loop is one generic function that is compiled for each
//! CPU tier. Without a tier it is compiled for the target's baseline, which is NEON on 64-bit ARM.
//! BC3, BC5, BC6H and BC7 also have forms in AVX2 intrinsics, BC6H and BC7 in AVX-512, too. The
//! specification is in `filter`.
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
