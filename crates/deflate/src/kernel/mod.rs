//! The hot loops of the encoder and the code inlined into them: match finders and bit lookups.
//! `dispatch` compiles each loop, a generic body, once per CPU tier.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(feature = "alloc")]
pub(crate) mod binary_trees;
#[cfg(feature = "alloc")]
pub(crate) mod bytes;
pub(crate) mod chains;
#[cfg(feature = "alloc")]
pub(crate) mod cheapest;
pub(crate) mod dispatch;
pub(crate) mod emit;
pub(crate) mod fast;
mod fitted;
pub(crate) mod header;
pub(crate) mod history;
pub(crate) mod incompressible;
#[cfg(feature = "alloc")]
pub(crate) mod indexed;
pub(crate) mod isa;
pub(crate) mod lazy;
pub(crate) mod matcher;
pub(crate) mod parse;
#[cfg(feature = "alloc")]
pub(crate) mod quick;
pub(crate) mod rebased;
mod scalar;
pub(crate) mod search;
#[cfg(feature = "alloc")]
pub(crate) mod span;
pub(crate) mod split;
mod token_bits;
mod token_writer;
pub(crate) mod trees;
