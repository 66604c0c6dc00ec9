//! Functions of the system.
#![allow(unsafe_code)]

pub(crate) mod malloc;
