//! The hot loop over literals and matches, which is all `unsafe` code of this crate.
#![allow(unsafe_code)]

mod symbols;

pub(crate) use symbols::decode;
