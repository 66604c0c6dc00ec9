//! Allocation of large values without passing them through the stack.
#![allow(unsafe_code)]

#[cfg(feature = "alloc")]
pub(crate) mod zeroed;
