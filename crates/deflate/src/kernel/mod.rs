//! The hot loops of the encoder, the tables they read, and the match finder. Loops are generic bodies,
//! compiled per CPU tier by `dispatch`.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx2;
pub(crate) mod builtin;
pub(crate) mod dispatch;
pub(crate) mod emit;
pub(crate) mod fast;
pub(crate) mod header;
pub(crate) mod incompressible;
pub(crate) mod isa;
pub(crate) mod matcher;
pub(crate) mod parse;
pub(crate) mod rebased;
mod scalar;
pub(crate) mod search;
pub(crate) mod tables;
pub(crate) mod trees;
