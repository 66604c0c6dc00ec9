//! Functions that Java calls, and those of the virtual machine that they call.
#![allow(unsafe_code)]

mod env;
mod exports;
