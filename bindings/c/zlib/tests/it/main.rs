//! The integration tests, linked into one program.
#![cfg(target_os = "linux")]

mod cpython;
mod differential;
mod programs;
mod servers;
