//! Memory that threads share, and memory of other objects.
#![allow(unsafe_code)]

pub(crate) mod buffers;
pub(crate) mod bytes;
pub(crate) mod shared;
