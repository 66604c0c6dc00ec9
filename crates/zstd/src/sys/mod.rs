//! Constructors whose safety depends on memory of the caller.
#![allow(unsafe_code)]

mod trusted;
